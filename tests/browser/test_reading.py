"""The right column: Topic, Document, Compare and Curate."""

import json

import pytest

expect = pytest.importorskip("playwright.sync_api", reason="make test-browser").expect

WORDS = ".terms ol .word"


def buttons(page, name):
    return page.locator(".read").get_by_role("button", name=name)


def test_a_topic_shows_every_view_side_by_side(show, news):
    page = show(topic="1").page
    assert page.locator(".terms h3").all_inner_texts() == ["en", "de"]
    boxes = [terms.bounding_box() for terms in page.locator(".terms").all()]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] < boxes[1]["x"]
    page.locator(".labels").wait_for()
    documents = page.locator("ol[aria-label='Documents of the topic'] button")
    shares = [float(t.rstrip("%")) for t in documents.locator(".value").all_inner_texts()]
    assert shares == sorted(shares, reverse=True)
    documents.first.click()
    page.locator(".mixtures").wait_for()


def test_a_word_shows_what_it_calls_for(show, news):
    page = show(topic="1").page
    word = page.locator(".terms ol .word button").first
    term = word.inner_text()
    table = news.model.keep_search(news.views).translate(term, "en", "de", top=3)
    assert all(found.term in word.get_attribute("title") for found in table)
    word.press("Enter")  # without a mouse
    assert word.get_attribute("aria-expanded") == "true"
    assert table[0].term in page.locator(".terms .calls").inner_text()


def test_topics_have_the_numbers_of_the_library(show, news):
    page = show(topic="0").page
    expect(page.locator(".read .head p")).to_contain_text("Topic 0 ·")
    assert page.locator(".read h2 .mark").inner_text() == "0"
    marks = page.locator("table.topics .mark").all_inner_texts()
    assert sorted(map(int, marks)) == list(range(6))
    docs = page.locator("ol[aria-label='Documents of the topic'] button bdi").all_inner_texts()
    ids = [str(news.views.ids[d]) for d in (news.model.labels_ == 0).nonzero()[0]]
    assert docs[0] in ids


def test_next_and_previous_topic(show):
    page = show(topic="1").page
    name = page.locator(".read h2 bdi").inner_text()
    page.get_by_role("button", name="Next topic").click()
    expect(page.locator(".read h2 bdi")).not_to_have_text(name)
    page.get_by_role("button", name="Previous topic").click()
    expect(page.locator(".read h2 bdi")).to_have_text(name)


def test_a_document_shows_its_mixtures_words_and_neighbors(show, news):
    row = next(i for i, r in enumerate(news.rows) if r["en"] and r["de"])
    page = show(panel="document", doc=row).page
    assert page.locator(".line .word").all_inner_texts() == ["all views", "en", "de"]
    expect(page.locator(".hatched")).to_have_count(0)
    text = page.locator(".text").first.evaluate(
        "e => { const c = e.cloneNode(true); c.querySelectorAll('sub').forEach(s => s.remove());"
        " return c.textContent; }"
    )
    assert text == news.rows[row]["en"]
    assert page.locator(".tint").count() > 5
    assert page.locator(".tint sub").first.inner_text().isdigit()  # never color alone
    near = page.locator("ol[aria-label='Neighbors by en'] button")
    expect(near).to_have_count(5)
    near.first.click()
    assert page.locator("ol[aria-label='Neighbors by de']").count() <= 1
    page.locator(".strip button").first.click()
    expect(page.locator(".terms")).to_have_count(2)


def test_a_missing_view_is_hatched_and_predicted(show, news):
    row = next(i for i, r in enumerate(news.rows) if not r["en"])
    page = show(panel="document", doc=row).page
    expect(page.locator(".strip.hatched")).to_have_text("not there")
    guesses = page.locator(".predicted .guess").all_inner_texts()
    assert len(guesses) == 14
    vocabulary = set(news.model.feature_names_["en"])
    assert all(guess.split()[0] in vocabulary for guess in guesses)
    mixture = news.model.fold_in(news.views[[row]]).doc_topic[0]
    expected = news.model.feature_names_["en"][(mixture @ news.model.components_["en"]).argmax()]
    assert guesses[0].split()[0] == expected


def test_two_topics_are_compared(show):
    opened = show(topic="0")
    page = opened.page
    buttons(page, "Compare").last.click()
    page.locator("label.select:has-text('Second') select").select_option("3")
    expect(page.locator(".versus .topic")).to_have_count(2)
    expect(page.locator(".butterfly")).to_have_count(2)
    assert "compare=t0%2Ct3" in opened.hash()
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".butterfly")).to_have_count(0)


def test_two_documents_are_compared(show):
    page = show(panel="document", doc="1").page
    buttons(page, "Compare").last.click()
    page.get_by_text("Open another document").wait_for()
    buttons(page, "Document").click()
    page.locator("ol[aria-label='Neighbors by en'] button").first.click()
    page.get_by_role("button", name="Compare with the chosen one").click()
    expect(page.locator(".mixtures")).to_have_count(2)
    assert page.get_by_text("alike").count() > 0


def curation(page):
    return json.loads(page.input_value("#curation"))


def test_curation_is_shown_everywhere_and_can_be_undone(show, news):
    opened = show(panel="curate", topic="2")
    page = opened.page
    page.fill(".field input", "Kitchen <b>")
    page.keyboard.press("Enter")
    page.locator("table.topics bdi").get_by_text("Kitchen <b>").wait_for()
    page.locator("label.select:has-text('Merge with') select").select_option("4")
    page.get_by_role("button", name="Merge", exact=True).click()
    expect(page.locator("table.topics tbody tr")).to_have_count(5)
    page.locator(".read label.select:has-text('Topic') select").first.select_option("0")
    page.get_by_role("button", name="Hide this topic").click()
    expect(page.locator("table.topics tbody tr")).to_have_count(4)
    said = curation(page)
    assert said["names"] == {"2": "Kitchen <b>"}
    assert (said["merge"], said["hide"]) == ([[2, 4]], [0])
    assert said["coview_curation"] == 1
    assert "curation=" in opened.hash()
    page.reload()
    page.wait_for_selector("table.topics")
    expect(page.locator("table.topics tbody tr")).to_have_count(4)
    page.get_by_role("button", name="Revert").last.click()
    expect(page.locator("table.topics tbody tr")).to_have_count(5)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("table.topics tbody tr")).to_have_count(4)
    page.get_by_role("button", name="Start again").click()
    expect(page.locator("table.topics tbody tr")).to_have_count(6)


def test_curation_comes_as_a_file_and_goes_back(show, news, tmp_path):
    page = show(panel="curate", accept_downloads=True).page
    page.fill(".field input", "Money")
    page.keyboard.press("Enter")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    path = tmp_path / "curation.json"
    download.value.save_as(path)
    assert download.value.suggested_filename == "curation.json"
    assert json.loads(path.read_text()) == curation(page)
    page.get_by_role("button", name="Start again").click()
    page.set_input_files(".read input[type=file]", path)
    page.get_by_text("Read.").wait_for()
    assert "Money" in curation(page)["names"].values()
    path.write_text(json.dumps({"coview_curation": 1, "model": "another", "names": {}}))
    page.set_input_files(".read input[type=file]", path)
    page.get_by_text("belongs to another model").wait_for()


def test_curation_is_copied(show):
    page = show(panel="curate", permissions=["clipboard-read", "clipboard-write"]).page
    page.get_by_role("button", name="Copy").click()
    page.get_by_text("Copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.input_value("#curation")


def test_names_that_collide_are_told(show):
    page = show(panel="curate").page
    names = page.locator("table.topics bdi").all_inner_texts()
    page.fill(".field input", names[1])
    page.keyboard.press("Enter")
    page.get_by_text("will want different names").wait_for()
