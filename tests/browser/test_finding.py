"""The left column: asking one view, answers of another, filters, the table and the lists."""

import pytest

from coview import search

expect = pytest.importorskip("playwright.sync_api", reason="make test-browser").expect

ANSWERS = "ol[aria-label='Answers'] button"


def chosen(page, label):
    return page.locator(f"label.select:has-text('{label}') select").first


def rows_of(page):
    """Return the documents of the answers by their numbers, as the page orders them."""
    page.wait_for_selector(ANSWERS)
    return page.locator(ANSWERS).all_inner_texts()


def test_typed_words_are_answered_as_python_answers_them(show, news):
    page = show().page
    page.fill("#search", "rain and strong wind")
    found = rows_of(page)
    query = {"en": "rain and strong wind"}
    expected = search(
        news.model, query, in_view="de", training_views=news.views, explain=True, top=5
    )
    for text, hit in zip(found, expected, strict=False):
        assert news.rows[hit.position]["id"] in text
        assert abs(float(text.split()[-1].rstrip("%")) / 100 - hit.score) < 0.0051
    calls = [call for reason in expected[0].explanation for call in reason.calls]
    words, answers = calls[0][:2]
    assert words in found[0]
    assert all(answer in found[0] for answer in answers)
    first = news.rows[expected[0].position]
    assert first["de"][:30] in found[0]  # the text of the view that answered
    assert first["id"] in found[0]


def test_answers_show_the_text_of_the_view_that_answered(show, news):
    page = show(q="rain and strong wind", side="results").page
    rows = {row["id"]: row for row in news.rows}
    for view, name in ((1, "de"), (0, "en")):
        chosen(page, "answer by").select_option(str(view))
        page.get_by_text(f"best answers by {name}").wait_for()
        for answer in page.locator(ANSWERS).all()[:5]:
            row = rows[answer.locator("bdi").first.inner_text()]
            assert row[name].startswith(answer.locator("small").inner_text().rstrip("…"))


def test_the_list_has_the_documents_that_the_sentence_counts(show, news):
    page = show(side="lists", list="disagree").page
    said = page.locator(".sentences").inner_text()
    listed = page.locator(".find .total").inner_text().split()[0]
    assert f"those of the other {listed} disagree" in said


def test_the_asking_and_the_answering_view_can_be_changed(show):
    page = show(q="Regen", side="results").page
    said = page.locator(".warn").first.inner_text()  # English does not know the word
    assert said == "Left out: 'regen' is in no document of training."
    chosen(page, "Ask in").select_option("1")
    chosen(page, "answer by").select_option("0")
    assert rows_of(page)
    page.get_by_text("best answers by en").wait_for()
    chosen(page, "answer by").select_option("2")
    page.get_by_text("best answers by all views").wait_for()


def test_filters_by_label_topic_and_missing_view(show, news):
    opened = show(q="rain wind sun", side="results")
    page = opened.page
    page.click(".filters summary")
    chosen(page, "Label").select_option(label="sport")
    page.locator(ANSWERS).first.click()
    assert page.locator(".read .tag").first.inner_text() == "sport"
    chosen(page, "Label").select_option("")
    everything = len(rows_of(page))
    chosen(page, "Lacks").select_option("0")
    lacking = sum(not row["en"] for row in news.rows)
    assert 0 < len(rows_of(page)) == lacking < everything
    chosen(page, "Lacks").select_option("")
    chosen(page, "Topic").select_option(index=1)
    marks = page.locator(f"{ANSWERS} .mark").all_inner_texts()
    assert len(set(marks)) == 1
    assert "within=" in opened.hash()


def test_slash_goes_to_the_search_and_arrows_move_in_the_answers(show):
    page = show(side="lists").page
    page.keyboard.press("/")
    page.keyboard.type("rain")
    assert page.input_value("#search") == "rain"
    page.locator(ANSWERS).first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert page.locator(f"{ANSWERS} >> nth=1").get_attribute("aria-current") == "true"
    page.focus("#search")
    page.keyboard.press("Escape")
    assert page.input_value("#search") == ""


def test_words_that_are_not_known_are_named(show):
    page = show().page
    page.fill("#search", "rain xyzzyx")
    assert "xyzzyx" in page.locator(".warn").first.inner_text()
    page.fill("#search", "xyzzyx")
    page.get_by_text("No document answers this.").wait_for()
    page.fill("#search", "")
    page.get_by_text("Type a few words above").wait_for()


def test_the_topics_are_a_table_that_sorts_and_opens(show, news):
    page = show().page
    table = page.get_by_role("table").first
    assert len(table.get_by_role("row").all()) == 7
    sizes = [float(text.rstrip("%")) for text in table.locator("td.size").all_inner_texts()]
    assert sizes == sorted(sizes, reverse=True)
    page.get_by_role("button", name="Topic", exact=True).nth(0).click()
    names = table.locator("tbody th bdi").all_inner_texts()
    assert names == sorted(names, key=str.lower)
    table.locator("tbody button").nth(1).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".read h2 bdi")).to_have_text(names[2])


@pytest.mark.parametrize("name", ["disagree", "lacks", "unfit"])
def test_each_list_opens_its_documents(show, name, news):
    page = show().page
    page.get_by_role("button", name="Lists").click()
    chosen(page, "List").select_option(name)
    if name == "lacks":
        chosen(page, "View").select_option("1")
        lacking = sum(not row["de"] for row in news.rows)
        expect(page.locator(".find .total")).to_have_text(f"{lacking} documents")
    documents = page.locator("ol[aria-label='Documents of the list'] button")
    documents.first.wait_for()
    if name == "disagree":
        values = [float(t.rstrip("%")) for t in documents.locator(".value").all_inner_texts()]
        assert values == sorted(values, reverse=True)
        assert values[-1] >= 10
    documents.first.click()
    page.locator(".read h2").wait_for()


def test_a_long_list_shows_more(show):
    page = show(side="lists", list="unfit").page
    documents = page.locator("ol[aria-label='Documents of the list'] button")
    expect(documents).to_have_count(50)
    page.get_by_role("button", name="Show 50 more").click()
    expect(documents).to_have_count(100)


def test_search_with_a_document_instead_of_words(show):
    opened = show(panel="document", doc="3")
    page = opened.page
    page.get_by_role("button", name="Search with this document").click()
    assert len(rows_of(page)) > 5
    page.locator(".like").wait_for()
    assert "like=3" in opened.hash()
    page.get_by_role("button", name="Clear").click()
    page.get_by_text("Type a few words above").wait_for()
