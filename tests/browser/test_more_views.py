"""Three views, pictures, topics that were hidden before, and a second layout."""

import numpy as np
import pytest

from coview import Views
from coview.explorer.container import Payload
from coview.explorer.explore import explorer_payload
from coview.explorer.page import ExplorerPage

from .conftest import fitted

expect = pytest.importorskip("playwright.sync_api", reason="make test-browser").expect

DOT = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA"
    "WjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    rng = np.random.default_rng(3)
    n, topics = 60, 4
    main = rng.integers(topics, size=n)
    present = rng.random((n, 3)) > 0.15
    present[:, 0] = True
    parts = {}
    for v, name in enumerate(["words", "tags", "photo"]):
        rates = np.kron(np.eye(topics), np.ones((1, 8))) * 3 + 0.2
        parts[name] = rng.poisson(rates[main]) * present[:, [v]]
    views = Views(
        parts,
        features={name: [f"{name} {i}" for i in range(32)] for name in parts},
        present=present,
    )
    payload = explorer_payload(fitted(views, topics), views, title="Three views")
    meta = {**payload.meta, "docs": {**payload.meta["docs"], "pictures": {"photo": [DOT] * n}}}
    meta["topics"] = [{**t, "hidden": k == 3} for k, t in enumerate(meta["topics"])]
    arrays = {**payload.arrays, "umap_xy": rng.normal(size=(n, 2)).astype(np.float32)}
    path = tmp_path_factory.mktemp("three") / "page.html"
    ExplorerPage(Payload(meta, arrays)).save(path)
    return path


def test_twins_and_pairs_of_three_views(show, three):
    opened = show(three, mode="twin", side="lists")
    page = opened.page
    expect(page.locator(".panel")).to_have_count(3)
    page.locator("label.select:has-text('Between') select").select_option("0,2")
    assert "between=0%2C2" in opened.hash()
    page.get_by_role("button", name="Arrows", exact=True).click()
    page.locator(".toolbar select").nth(0).select_option("2")
    page.get_by_text("From where photo puts").wait_for()
    # choosing the view that stands on the other side turns them around
    page.locator(".toolbar select").nth(1).select_option("2")
    page.get_by_text("to where photo does").wait_for()


def test_topics_hidden_before_stay_hidden_until_they_are_shown(show, three):
    page = show(three, panel="curate").page
    expect(page.locator("table.topics tbody tr")).to_have_count(3)
    page.get_by_text("is hidden").wait_for()
    page.get_by_role("button", name="Revert").click()
    expect(page.locator("table.topics tbody tr")).to_have_count(4)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("table.topics tbody tr")).to_have_count(3)


def test_pictures_are_shown(show, three):
    page = show(three, panel="document", doc="0").page
    expect(page.locator(".picture")).to_have_count(1)
    assert page.locator(".picture").evaluate("e => e.complete && e.naturalWidth") == 1


def test_a_view_that_a_page_cannot_read_says_so(show, three):
    page = show(three).page
    assert "A page cannot read words" in page.locator(".question").inner_text()


def test_a_second_layout(show, three):
    opened = show(three)
    before = opened.page.evaluate("document.querySelector('canvas.points').toDataURL()")
    opened.page.locator("label.select:has-text('Layout') select").select_option("umap")
    opened.page.wait_for_timeout(400)
    assert opened.page.evaluate("document.querySelector('canvas.points').toDataURL()") != before
    assert "layout=umap" in opened.hash()
