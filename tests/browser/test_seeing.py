"""The middle column: Map, Twin, Arrows and Matrix."""

import pytest

import coview

from .conftest import fitted

expect = pytest.importorskip("playwright.sync_api", reason="make test-browser").expect

PANEL = ".panel"


def middle(page, selector=PANEL, nth=0):
    box = page.locator(selector).nth(nth).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def pixels(page, which="points"):
    """Return what is drawn, to compare it with what is drawn later."""
    page.wait_for_timeout(120)
    return page.evaluate(
        "name => document.querySelector(`canvas.${name}`).toDataURL()",
        which,
    )


def changed(page, before, which="points"):
    """Wait until something else is drawn, and return it."""
    for _ in range(40):
        now = pixels(page, which)
        if now != before:
            return now
    pytest.fail("nothing else was drawn")


def points_of(page):
    """Return places on the screen where a document is drawn."""
    page.wait_for_timeout(150)
    return page.evaluate(
        """() => { const c = document.querySelector('canvas.points'), b = c.getBoundingClientRect();
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, found = [];
        for (let y = 6; y < c.height - 6; y += 3) for (let x = 6; x < c.width - 60; x += 3) {
          const at = 4 * (y * c.width + x);
          if ([0, 1, 2].reduce((sum, i) => sum + Math.abs(d[at + i] - d[i]), 0) > 120)
            found.push([b.x + x * b.width / c.width, b.y + y * b.height / c.height]);
        } return found; }"""
    )


def test_pointing_says_what_a_document_is_and_a_click_opens_it(show):
    opened = show()
    page = opened.page
    x, y = points_of(page)[0]
    page.mouse.move(x, y)
    title = page.locator(".tip strong").inner_text()
    page.mouse.click(x, y)
    assert page.locator(".read h2").inner_text()[:60] == title[:60]
    assert "doc=" in opened.hash()
    page.mouse.move(*middle(page, ".top"))
    expect(page.locator(".tip")).to_have_count(0)


def test_the_name_of_a_topic_opens_it(show):
    page = show().page
    page.locator("canvas.overlay").wait_for()
    # the largest topic's name is always drawn; look for a place that opens a topic
    before = page.locator(".read h2").inner_text()
    box = page.locator(PANEL).bounding_box()
    for at in range(20, int(box["height"]), 12):
        for left in range(40, int(box["width"]) - 60, 40):
            cursor = (box["x"] + left, box["y"] + at)
            page.mouse.click(*cursor)
            if page.locator(".read h2 .mark").count():
                assert page.locator(".read h2").inner_text() != before
                return
    pytest.fail("no name of a topic could be clicked")


def test_dragging_and_the_wheel_move_the_map(show):
    opened = show()
    page = opened.page
    x, y = middle(page)
    first = pixels(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 80, y + 40, steps=4)
    page.mouse.up()
    second = changed(page, first)
    page.mouse.wheel(0, -400)
    changed(page, second)
    assert "camera=" in opened.hash()
    assert "doc=" not in opened.hash()  # a drag is not a click
    page.get_by_role("button", name="Show all").click()
    page.mouse.move(0, 0)
    page.wait_for_timeout(200)
    assert pixels(page) == first


def test_buttons_and_keys_move_the_map(show):
    opened = show()
    page = opened.page
    page.get_by_role("button", name="Zoom in").click()
    assert opened.hash().endswith("1.5")
    page.get_by_role("button", name="Zoom out").click()
    page.focus(PANEL)
    for key in ("ArrowLeft", "ArrowUp", "+", "-", "ArrowRight", "ArrowDown"):
        before = pixels(page)
        page.keyboard.press(key)
        changed(page, before)
    page.keyboard.press("0")
    assert "camera" not in opened.hash()


def test_enter_opens_the_document_in_the_middle(show):
    page = show().page
    box = page.locator(PANEL).bounding_box()
    x, y = points_of(page)[0]
    mid_x, mid_y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(mid_x, mid_y, steps=6)
    page.mouse.up()
    page.focus(PANEL)
    page.keyboard.press("Enter")
    assert page.locator(".read [aria-pressed=true]").first.inner_text() == "Document"


def test_a_typed_query_is_placed_on_the_map(show):
    page = show().page
    before = pixels(page, "overlay")
    page.fill("#search", "rain and wind")
    changed(page, before, "overlay")


@pytest.mark.parametrize("way", ["label", "disagree", "missing"])
def test_other_colors_have_a_legend(show, way):
    page = show().page
    before = pixels(page)
    page.locator("label.select:has-text('Color') select").select_option(way)
    changed(page, before)
    legend = page.locator(".legend").inner_text()
    assert {"label": "weather", "disagree": "top tenth", "missing": "lacks en"}[way] in legend


def test_at_most_eight_colors_and_gray(show):
    for state in ({}, {"color": "label"}, {"panel": "document", "doc": "5"}, {"color": "disagree"}):
        dots = show(**state).page.locator(".legend .dot")
        colors = {dot.evaluate("e => getComputedStyle(e).backgroundColor") for dot in dots.all()}
        assert len(colors) == dots.count() <= 9


def test_a_chosen_topic_stands_out(show):
    page = show(topic="2").page
    expect(page.locator(".legend li")).to_have_count(2)
    assert "5 other topics" in page.locator(".legend").inner_text()


def test_twins_point_together_and_share_a_camera(show):
    opened = show(mode="twin")
    page = opened.page
    expect(page.locator(PANEL)).to_have_count(2)
    x, y = points_of(page)[0]
    page.mouse.move(x, y)
    expect(page.locator(".tip")).to_have_count(2)  # the same document, in both
    assert len(set(page.locator(".tip strong").all_inner_texts())) == 1
    page.mouse.move(0, 0)
    before = pixels(page)
    page.mouse.move(*middle(page, nth=1))
    page.mouse.wheel(0, -300)
    changed(page, before)  # the first one moved with the second


def test_arrows_show_disagreements_and_open_documents(show):
    page = show(mode="arrows", doc="0").page
    assert "more than chance" in page.locator(".see .note").inner_text()
    before = pixels(page, "overlay")
    page.locator("label.select:has-text('from') select").select_option("1")
    assert "From where de puts" in page.locator(".see .note").inner_text()
    changed(page, before, "overlay")


def test_the_end_of_an_arrow_opens_its_document(show):
    opened = show(mode="arrows")
    page = opened.page
    for x, y in points_of(page):
        page.mouse.move(x, y)
        if page.locator(".tip strong").count():
            break
    title = page.locator(".tip strong").inner_text()
    page.mouse.click(x, y)
    page.locator(".read h2").first.wait_for()
    assert title.rstrip("…") in page.locator(".read").inner_text()
    assert "panel=document" in opened.hash()


def test_a_cell_of_the_matrix_lists_its_documents(show):
    opened = show(mode="matrix")
    page = opened.page
    button = page.locator(".largest button").first
    n = int(button.locator(".n").inner_text())
    button.click()
    assert page.locator(".find .total").inner_text().startswith(f"{n} document")
    assert "cell=" in opened.hash()
    page.focus(".matrix .grid")
    page.keyboard.press("ArrowDown")  # the first cell
    said = page.locator(".said").inner_text()
    page.keyboard.press("Enter")
    assert page.locator(".find .total").inner_text() in said
    x, y = middle(page, ".matrix .grid")
    page.mouse.move(x, y)
    assert "→" in page.locator(".said").inner_text()
    page.mouse.click(x, y)
    assert page.locator(".find .total").inner_text() in page.locator(".said").inner_text()


def test_colors_and_the_list_follow_the_tree(show, news, tmp_path):
    model = fitted(news.views, 12)
    model.topic_tree_ = coview.topic_tree(model, news.views, levels=[3])
    tree = model.topic_tree_
    n = tree.levels[1]
    page = show(model.explore(news.views, tmp_path / "tree.html")).page
    legend = page.locator(".legend li")
    expect(legend).to_have_count(n)
    for z in range(n):  # as the command line numbers and names them
        assert legend.nth(z).inner_text().split("\n") == [str(z), tree.label(1, z)]
    heads = page.locator("table.topics tr.part")
    assert [text.split(" ")[0] for text in heads.all_inner_texts()] == [*map(str, range(n))]
    expect(page.locator("table.topics tbody tr:not(.part)")).to_have_count(12)
    page.get_by_role("button", name="Agree").click()  # another order has no parts
    expect(heads).to_have_count(0)
    page.locator("table.topics tbody button").first.click()
    assert "part of" in page.locator(".read .head").inner_text()
