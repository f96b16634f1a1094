"""What documents are called, and which of their texts is shown, in every command."""

import csv
import json
from pathlib import Path

import pytest

from tests.cli.command import failing, working

NEWS = Path(__file__).parents[2] / "examples" / "news.csv"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """The news with a title for every second document; `rows` by id."""
    path = tmp_path_factory.mktemp("titles") / "news.csv"
    with NEWS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        row["headline"] = f"Story {row['id']}" if number % 2 else ""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture(scope="module")
def rows(table):
    with table.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def model(table):
    path = table.with_name("news.coview")
    options = ["--text", "en", "--text", "de", "--id", "id", "--topics", "6"]
    few = ["--set", "init=random", "--set", "max_iter=20"]
    working("fit", table, *options, *few, "-q", "-o", path)
    return path


def expected(row):
    return row["headline"] or row["id"]


@pytest.mark.parametrize(("asked", "answers"), [("en", "de"), ("de", "en")])
def test_answers_show_the_view_that_was_searched(model, table, rows, asked, answers):
    words = {"en": "rain and wind at the coast", "de": "Regen und Wind an der Küste"}[asked]
    query = ["search", model, "--view", asked, "--in", answers, words, "--json"]
    found = json.loads(working(*query, "--show", table, "--id", "id", "--title", "headline"))
    assert len(found) == 10
    for hit in found:
        row = rows[hit["document"]]
        assert row[answers].startswith(hit["text"].removesuffix(" …"))
        assert hit["text"]
        assert (hit["title"] or hit["document"]) == expected(row)
    without = json.loads(working(*query, "--show", table, "--id", "id"))
    assert "title" not in without[0]


def test_answers_among_other_documents_show_their_texts(model, table, rows):
    query = ["search", model, "--view", "en", "--in", "de", "rain", "--json", "--among", table]
    named = json.loads(working(*query, "--id", "id"))
    assert all(rows[h["document"]]["de"].startswith(h["text"].removesuffix(" …")) for h in named)


def test_explained_answers_show_title_and_text(model, table):
    query = ["search", model, "--like", "weather-01", "--in", "de", "--explain", "--show", table]
    page = working(*query, "--id", "id", "--title", "headline")
    assert "Story weather-" in page


def test_titles_in_lists(model, table, rows):
    data = [model, table, "--id", "id", "--title", "headline"]
    predicted = json.loads(working("predict", *data, "--json"))
    assert all(row["title"] == rows[row["document"]]["headline"] for row in predicted)
    suggested = json.loads(working("suggest", *data, "--json"))
    assert all(row["title"] == rows[row["document"]]["headline"] for row in suggested)
    found = json.loads(working("report", *data, "--json"))
    entries = found["lists"]["no_topic_fits"]
    assert [e["title"] for e in entries] == [expected(rows[e["id"]]) for e in entries]
    assert any(entry["title"].startswith("Story ") for entry in entries)


def test_the_page_has_titles_and_a_title_of_its_own(model, table, rows):
    from tests.explorer.test_page import data_in  # the data of a page

    page = table.with_name("news.html")
    options = ["--id", "id", "--title", "headline", "--page-title", "My news", "-o", page]
    working("explore", model, "--data", table, *options)
    meta = data_in(page.read_text(encoding="utf-8")).meta
    assert meta["title"] == "My news"
    assert meta["docs"]["titles"] == [row["headline"] for row in rows.values()]
    assert meta["noticeable"] == 0.1


def test_the_service_has_titles_and_texts(model, table, rows):
    pytest.importorskip("starlette")
    from coview.cli.inputs import DataSource
    from coview.cli.serve import _served
    from coview.serving.work import Deadline

    served = _served(model, DataSource(table, id="id", title="headline"), None)
    served.prepare()
    for view in ("de", "en"):
        hits = served.search({"en": "rain and wind"}, None, view, 5, False, Deadline(60))
        for hit in hits:
            assert hit["title"] == expected(rows[hit["id"]])
            assert rows[hit["id"]][view].startswith(hit["text"].removesuffix(" …"))
    plain = _served(model, DataSource(), None)
    plain.prepare()
    hits = plain.search({"en": "rain"}, None, "de", 3, False, Deadline(60))
    assert [hit["title"] for hit in hits] == [hit["id"] for hit in hits]
    assert all(hit["text"] is None for hit in hits)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("report", "{model}", "{table}", "--title", "heading"), "no column 'heading'"),
        (("search", "{model}", "--like", "weather-01", "--title", "headline"), "--show or --among"),
        (("serve", "{model}", "--title", "headline"), "table of --data"),
    ],
)
def test_wrong_titles_are_refused(model, table, options, words):
    said = [part.format(model=model, table=table) for part in options]
    code = 1 if "heading" in said else 2
    assert words in failing(code, *said)


def test_only_tables_have_titles(model, table):
    folder = table.with_name("views")
    working("convert", table, "--text", "en", "--text", "de", "--id", "id", "-o", folder)
    said = failing(2, "report", model, folder, "--title", "headline")
    assert "--title is a column of a table" in said
