"""The whole page: one request, links, hostile names, phones, colors, accessibility, notebooks."""

import json
import re
from urllib.parse import urlencode

import numpy as np
import pytest

from coview import Views

from .conftest import NARROW, ROOT, fitted

expect = pytest.importorskip("playwright.sync_api", reason="make test-browser").expect

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
STATES = [
    {},
    {"topic": "1", "side": "lists"},
    {"panel": "document", "doc": "6", "q": "rain wind", "side": "results", "mode": "twin"},
    {"panel": "compare", "compare": "t0,t3", "mode": "arrows", "label": "1"},
    {"panel": "curate", "mode": "matrix", "side": "lists", "list": "lacks"},
]


def test_one_request_and_nothing_else(show, news):
    opened = show(q="rain", side="results", panel="document", doc="6")
    page = opened.page
    for mode in ("Twin", "Arrows", "Matrix", "Map"):
        page.get_by_role("button", name=mode, exact=True).click()
    page.wait_for_timeout(200)
    assert [url.split("#")[0] for url in opened.requests] == [news.path.as_uri()]


def test_the_policy_refuses_requests_and_other_scripts(show):
    opened = show()
    opened.page.evaluate("() => fetch('https://example.org/').catch(() => null)")
    opened.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.bad = 1';"
        " document.body.append(s); }"
    )
    assert opened.page.evaluate("window.bad") is None
    assert len(opened.messages) >= 2  # the browser tells about both
    assert all("Content Security Policy" in text or "CSP" in text for text in opened.messages)
    opened.messages.clear()


def test_a_link_leads_back_to_what_was_seen(show):
    state = {"mode": "twin", "panel": "document", "doc": "7", "q": "snow", "side": "results"}
    opened = show(**state)
    page = opened.page
    title = page.locator(".read h2").inner_text()
    link = page.evaluate("location.hash")
    again = show(**dict(part.split("=") for part in link[1:].split("&"))).page
    expect(again.locator(".read h2")).to_have_text(title)
    again.locator(".twins").wait_for()
    assert again.input_value("#search") == "snow"


def test_back_goes_to_what_was_opened_before(show):
    opened = show()
    page = opened.page
    page.locator("table.topics tbody button").first.click()
    first = page.locator(".read h2 bdi").inner_text()
    opened.hash()
    page.locator("table.topics tbody button").nth(2).click()
    opened.hash()
    page.go_back()
    expect(page.locator(".read h2 bdi")).to_have_text(first)


@pytest.mark.parametrize(
    "state", [{"topic": "999", "doc": "99999", "panel": "document"}, {"ask": "77"}]
)
def test_links_of_other_data_show_what_they_can(show, state):
    page = show(**state, curation=json.dumps({"merge": [[0, 999]], "hide": "x"})).page
    expect(page.locator("table.topics tbody tr")).to_have_count(6)


HOSTILE = [
    "<script>window.bad=1</script>",
    "</script><img src=x onerror=window.bad=1>",
    "\"'><svg onload=window.bad=1>",
    "مرحبا بالعالم",
    "\u202egnp.exe",
    "🧑🏽‍🚀🦄",
    "x" * 1_000_000,
    "{{constructor.constructor('window.bad=1')()}}",
    "<!--",
    "&amp;lt;b&gt;",
    "__proto__",
    "line\nbreak\ttab\x00nul",
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A page where everything that has a name has a hostile one."""
    n, m = 24, len(HOSTILE)
    rng = np.random.default_rng(0)
    names = [f"<b>{i}</b>{HOSTILE[i % m]}" for i in range(n)]
    views = Views(
        {name: rng.poisson(1.5, (n, m)) + np.eye(n, m, dtype=int) for name in HOSTILE[1:3]},
        features=dict.fromkeys(HOSTILE[1:3], HOSTILE),
        ids=names,
    ).with_labels([HOSTILE[i % 6] for i in range(n)])
    model = fitted(views, 3)
    path = tmp_path_factory.mktemp("hostile") / "page.html"
    texts = {name: [HOSTILE[(i + 1) % m] for i in range(n)] for name in HOSTILE[1:3]}
    model.explore(views, path, texts=texts, titles=names, title=HOSTILE[1])
    return path


@pytest.mark.parametrize("state", [*STATES, {"panel": "document", "doc": "6", "mode": "matrix"}])
def test_hostile_names_stay_text(show, hostile, state):
    page = show(hostile, **state).page
    page.wait_for_timeout(150)
    assert page.evaluate("window.bad") is None
    expect(page.locator("img, svg, #coview script")).to_have_count(0)
    expect(page.locator(".brand")).to_have_text("coview")
    assert "</script>" in page.locator(".top h1").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_megabyte_of_a_word_is_clipped(show, hostile):
    page = show(hostile, panel="document", doc="6").page
    assert len(page.locator("body").inner_text()) < 60_000
    assert "🦄" in page.locator("body").inner_text()


def summary(rule):
    """Return what axe says about a rule that is broken."""
    nodes = rule["nodes"]
    return rule["id"], [node["html"][:150] for node in nodes][:4], nodes[0]["failureSummary"]


@pytest.mark.parametrize(
    ("scheme", "viewport"), [("light", None), ("dark", NARROW)], ids=["light, wide", "dark, narrow"]
)
def test_axe_finds_nothing_serious(show, scheme, viewport):
    options = {"viewport": viewport} if viewport else {}
    page = show(color_scheme=scheme, bypass_csp=True, **options).page
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for state in STATES:
        for tab in ("find", "see", "read") if viewport else ("see",):
            page.evaluate("hash => { location.hash = hash; }", urlencode({**state, "tab": tab}))
            page.wait_for_timeout(100)
            found = page.evaluate("axe.run()")["violations"]
            assert not [summary(rule) for rule in found], (state, tab)


def test_a_phone_shows_one_column_at_a_time(show, narrow):
    page = show(viewport=narrow, has_touch=True).page
    columns = {"Find": ".find", "See": ".see", "Read": ".read"}
    for name in columns:
        page.locator(".phone").get_by_role("button", name=name).click()
        visible = {key: page.locator(css).is_visible() for key, css in columns.items()}
        assert visible == {key: key == name for key in columns}
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(".phone").get_by_role("button", name="Find").click()
    page.locator("table.topics tbody button").first.click()
    page.locator(".terms").first.wait_for()  # what was chosen is shown


def test_dark_mode_follows_the_system_and_can_be_chosen(show):
    page = show(color_scheme="dark").page
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(18, 22, 28)"
    page.get_by_role("button", name=re.compile("colors")).click()
    assert page.evaluate(ground) == "rgb(251, 251, 250)"


def test_focus_is_seen_wherever_it_goes(show):
    page = show(topic="1").page
    for _ in range(40):
        page.keyboard.press("Tab")
        seen = page.evaluate(
            "() => { const s = getComputedStyle(document.activeElement);"
            " return document.activeElement === document.body || s.outlineStyle !== 'none'; }"
        )
        assert seen, page.evaluate("document.activeElement.outerHTML.slice(0, 200)")


def test_reduced_motion_is_respected(show):
    page = show(topic="1", reduced_motion="reduce").page
    moving = page.evaluate(
        "[...document.querySelectorAll('*')].filter(e => { const s = getComputedStyle(e);"
        " return s.animationName !== 'none' || parseFloat(s.transitionDuration) > 0; }).length"
    )
    assert moving == 0


def test_explanations_can_be_put_away(show):
    page = show().page
    assert page.locator(".note").count() > 1
    page.get_by_role("button", name="Explain").click()
    expect(page.locator(".note")).to_have_count(0)


def test_it_runs_in_the_frame_of_a_notebook(show, news, tmp_path):
    page_html = news.model.explore(news.views, texts=news.texts)._repr_html_()
    path = tmp_path / "notebook.html"
    path.write_text(
        f"<!doctype html><html data-ready><body>{page_html}</body></html>", encoding="utf-8"
    )
    page = show(path).page
    frame = page.frame_locator("iframe")
    frame.locator("table.topics tbody button").first.click()
    frame.locator(".terms").first.wait_for()
    page.wait_for_timeout(400)  # links cannot be kept there, and that is no fault


def test_one_view_and_one_topic_show_what_they_can(show, tmp_path):
    rng = np.random.default_rng(1)
    views = Views({"words": rng.poisson(1.0, (12, 9)) + np.eye(12, 9, dtype=int)})
    path = tmp_path / "one.html"
    fitted(views, 1).explore(views, path)
    page = show(path).page
    expect(page.locator("table.topics tbody tr")).to_have_count(1)
    assert page.locator(".modes button").all_inner_texts() == ["Map"]
    page.get_by_role("button", name="Lists").click()
    page.locator("ol[aria-label='Documents of the list'] button").first.click()
    page.locator(".mixtures").wait_for()


def test_damaged_data_are_told(browser, news, tmp_path):
    path = tmp_path / "broken.html"
    text = news.path.read_text(encoding="utf-8")
    start = text.index('id="coview-data">') + 400
    path.write_text(text[:start] + "AAAA" * 50 + text[start + 200 :], encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector(".broken")
    assert "cannot be read" in page.locator(".broken").inner_text()
    page.close()
