"""`coview search`, `translate` and what `coview fit` keeps for them in the model's file."""

import csv
import json
import pickle
import random
import re

import numpy as np
import pytest

from coview import SearchIndex, TopicClassifier, load
from coview.cli import sharded
from tests.cli.command import failing, inside, working

SUBJECTS = {
    "sport": (
        "goal team match coach ball player league striker",
        "tor mannschaft spiel trainer ball spieler liga stürmer",
    ),
    "space": (
        "moon star orbit rocket planet launch galaxy probe",
        "mond stern umlaufbahn rakete planet start galaxie sonde",
    ),
    "food": (
        "salt garlic onion recipe oven sauce butter bread",
        "salz knoblauch zwiebel rezept ofen soße butter brot",
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table of stories in two languages, and models fitted to it."""
    folder = tmp_path_factory.mktemp("stories")
    draw = random.Random(0)
    with (folder / "news.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "title", "en", "de", "subject"])
        for number in range(120):
            subject = draw.choice(list(SUBJECTS))
            english, german = (words.split() for words in SUBJECTS[subject])
            at = [draw.randrange(8) for _ in range(6)]
            texts = [" ".join(words[i] for i in at) for words in (english, german)]
            table.writerow([f"d{number}", f"Story {number}", *texts, subject])
    fit(folder, "news", "--title", "title")
    fit(folder, "plain", "--no-search")
    return folder


def fit(folder, name, *more):
    data = (folder / "news.csv", "--text", "en", "--text", "de", "--id", "id")
    model = ("--model", "link", "--topics", 3, "-o", folder / f"{name}.coview")
    return inside("fit", *data, *model, *more)


# -- what a fit keeps ------------------------------------------------------------------------------


def test_fit_keeps_what_a_search_needs(folder):
    kept = load(folder / "news.coview").search_
    assert kept.titles[7] == "Story 7"
    assert kept.counts["en"].shape[0] == 120
    assert ("en", "de") in kept.tables
    assert not hasattr(load(folder / "plain.coview"), "search_")
    for name, known in (("news", True), ("plain", False)):
        said = json.loads(working("info", folder / f"{name}.coview", "--json"))
        assert said["search"] is known


def test_the_same_bytes_for_any_number_of_threads(folder, tmp_path):
    for jobs in (1, 3):
        fit(folder, tmp_path / str(jobs), "--jobs", jobs)
    assert (tmp_path / "1.coview").read_bytes() == (tmp_path / "3.coview").read_bytes()


def test_too_large_a_search_is_left_out_and_said(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(sharded, "SEARCH_BYTES", 5_000)  # less than the counts
    code, _, said = fit(folder, tmp_path / "large")
    assert code == 0
    assert "left out of the file" in said
    assert not hasattr(load(tmp_path / "large.coview"), "search_")
    monkeypatch.setattr(sharded, "SEARCH_BYTES", 15_000)  # less than counts and tables
    assert "left out of the file" in fit(folder, tmp_path / "large")[2]
    assert not hasattr(load(tmp_path / "large.coview"), "search_")


def test_a_sharded_folder_keeps_it_where_memory_allows(folder, tmp_path, monkeypatch):
    shards = tmp_path / "news.shards"
    table = (folder / "news.csv", "--text", "en", "--text", "de", "--id", "id")
    working("convert", *table, "--shards", shards)
    model = ("--model", "link", "--topics", 3, "-o", tmp_path / "m.coview")
    working("fit", shards, *model)
    assert load(tmp_path / "m.coview").search_.counts["en"].shape[0] == 120
    monkeypatch.setattr(sharded, "SEARCH_SHARE", 10**6)  # a kilobyte of a gigabyte
    assert "left out of the file" in inside("fit", shards, *model)[2]
    assert not hasattr(load(tmp_path / "m.coview"), "search_")


def test_an_update_drops_it_and_says_so(folder, tmp_path):
    news = (folder / "news.csv", "--id", "id")
    code, _, said = inside("update", folder / "news.coview", *news, "-o", tmp_path / "m.coview")
    assert code == 0
    assert "is gone" in said
    assert not hasattr(load(tmp_path / "m.coview"), "search_")
    said = inside("update", folder / "plain.coview", *news, "-o", tmp_path / "m.coview")[2]
    assert "is gone" not in said


def test_other_models_of_the_same_documents_keep_it(folder):
    model = load(folder / "news.coview")
    curation = {"coview_curation": 1, "model": model.fingerprint(), "merge": [[0, 1]]}
    merged = model.with_topics(curation)
    assert merged.search_ is model.search_
    again = pickle.loads(pickle.dumps(model)).search_
    np.testing.assert_array_equal(
        again.tables["en", "de"].data, model.search_.tables["en", "de"].data
    )
    model.fit(model.search_.counts)
    assert not hasattr(model, "search_")


def test_a_classifier_keeps_it_in_its_model(folder, tmp_path):
    fit_to = ("--text", "en", "--text", "de", "--label", "subject", "--classify", "--id", "id")
    path = tmp_path / "classes.coview"
    working("fit", folder / "news.csv", *fit_to, "--model", "link", "-o", path)
    found = load(path)
    assert isinstance(found, TopicClassifier)
    assert found.estimator_.search_.counts["de"].shape[0] == 120
    assert found.translate("goal", "en", "de", top=1)[0].term == "tor"


# -- searches --------------------------------------------------------------------------------------


def searched(folder, *args, model="news"):
    return json.loads(working("search", folder / f"{model}.coview", *args, "--json"))


def test_a_model_is_searched_without_any_other_file(folder):
    found = searched(folder, "goal team", "--view", "en", "--in", "de", "--explain")
    index = SearchIndex(load(folder / "news.coview"), in_view="de")
    expected = index.query({"en": "goal team"})
    assert [hit["document"] for hit in found] == expected.ids
    assert [hit["score"] for hit in found] == expected.scores.tolist()
    assert found[0]["title"] == f"Story {found[0]['document'][1:]}"
    calls = next(r["calls"] for r in found[0]["explanation"] if r["kind"] == "translation")
    assert {call[0] for call in calls} <= {"goal", "team"}
    assert "tor" in calls[0][1] + calls[1][1]


def test_without_its_documents_a_model_says_that_it_ranks_by_topics(folder):
    query = ("search", folder / "plain.coview", "goal", "--view", "en", "--in", "de")
    said = inside(*query)[2]
    assert "by topics alone" in said
    assert "--show" in said
    assert "by topics alone" not in inside(*query, "--metric", "cosine")[2]
    assert "does not keep" in failing(1, *query, "--metric", "evidence")
    table = ("--show", folder / "news.csv", "--id", "id")
    code, out, said = inside(*query, *table, "--json")
    assert (code, "by topics alone" in said) == (0, False)
    own = searched(folder, "goal", "--view", "en", "--in", "de")
    shown = json.loads(out)
    assert [hit["document"] for hit in shown] == [hit["document"] for hit in own]
    assert all("text" in hit for hit in shown)


def test_many_queries(folder, tmp_path):
    asks = tmp_path / "asks.csv"
    long = "goal " * 200_000  # 1 MB
    asks.write_text(f"q,question\na,goal and team\nb,zebra\nc,\nd,{long}\n")
    hits = tmp_path / "hits.csv"
    args = ("search", folder / "news.coview", "--queries", asks, "--in", "de", "--top", 3)
    code, _, said = inside(*args, "--text", "en=question", "--id", "q", "-o", hits)
    assert code == 0
    assert "2 of 4 queries ('b', 'c')" in said
    with hits.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["query", "rank", "document", "title", "score"]
    assert [row["query"] for row in rows] == ["a"] * 3 + ["d"] * 3
    alone = searched(folder, "goal and team", "--view", "en", "--in", "de", "--top", 3)
    assert [row["document"] for row in rows[:3]] == [hit["document"] for hit in alone]
    assert [float(row["score"]) for row in rows[:3]] == [hit["score"] for hit in alone]
    assert rows[0]["title"] == alone[0]["title"]
    same = inside(*args, "--text", "question", "--view", "en", "--json")[1]
    assert [row["document"] for row in json.loads(same)[:3]] == [
        row["document"] for row in rows[:3]
    ]


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["goal", "--queries", "asks.csv"], 2, "either a query"),
        (["--queries", "{news}", "--text", "en", "--explain"], 2, "--queries goes without"),
        (["--queries", "{news}", "--text", "question", "--view", "en"], 1, "question"),
        (["--queries", "{news}", "--text", "en", "--view", "fr"], 2, "--view fr"),
        (["--queries", "{none}", "--text", "en=en"], 1, "There are no queries"),
        (["goal", "--text", "en"], 2, "--text is a column"),
        (["", "--view", "en"], 1, "Nothing of the query is known"),
        (["Mannschaft", "--view", "en"], 1, "mannschaft"),
        (["goal", "--view", "en", "--metric", "topics+words"], 2, "evidence"),
    ],
)
def test_searches_that_cannot_be_made(folder, args, code, says):
    (folder / "none.csv").write_text("id,en\n")
    there = {"news": folder / "news.csv", "none": folder / "none.csv"}
    given = [arg.format(**there) for arg in args]
    assert says in failing(code, "search", folder / "news.coview", *given)


def test_two_documents_are_enough(tmp_path):
    table = tmp_path / "two.csv"
    table.write_text("id,en,de\na,moon rocket,mond rakete\nb,goal team,tor mannschaft\n")
    views = ("--text", "en", "--text", "de", "--id", "id", "--max-df", 1.0)
    working("fit", table, *views, "--model", "link", "--topics", 2, "-o", tmp_path / "m.coview")
    query = ("rocket", "--view", "en", "--in", "de")
    assert (
        json.loads(working("search", tmp_path / "m.coview", *query, "--json"))[0]["document"] == "a"
    )


# -- how good it is --------------------------------------------------------------------------------


def test_a_search_is_judged_by_documents_held_back(folder):
    kept, table = load(folder / "news.coview").search_, (folder / "news.csv", "--id", "id")
    shown = json.loads(
        working("evaluate", folder / "news.coview", folder / "news.csv", "--search", "--json")
    )["search"]
    assert [(one["query"], one["answer"]) for one in shown] == [("en", "de"), ("de", "en")]
    for one in shown:
        pair = kept.pairs[one["query"], one["answer"]]
        assert (one["documents"], one["first"]) == (pair.held_back, pair.first)
        assert sum(one["counts"].values()) == pytest.approx(1)
    rows = working("evaluate", folder / "news.coview", folder / "news.csv", "--search")
    assert "found among ten" in rows
    report = " ".join(working("report", folder / "news.coview", *table).split())
    assert re.search(r"'en' finds 'de' by [^.]*words that call for each other", report), report


# -- the dictionary --------------------------------------------------------------------------------


def test_translations_are_those_of_the_model(folder):
    model = folder / "news.coview"
    found = json.loads(
        working("translate", model, "goal", "--from", "en", "--to", "de", "--top", 3, "--json")
    )
    assert found[0]["translation"] == "tor"
    assert found == [
        {name: row[name] for name in found[0]}
        for row in load(model).translate("goal", "en", "de", top=3).to_rows()
    ]
    assert found == json.loads(
        working("translate", model, "goal", "--from", "en", "--top", 3, "--json")
    )


def test_the_whole_dictionary(folder, tmp_path):
    written = tmp_path / "dictionary.csv"
    working("translate", folder / "news.coview", "--all", "--top", 1, "-o", written)
    with written.open(encoding="utf-8") as file:
        rows = {(row["from"], row["term"]): row for row in csv.DictReader(file)}
    assert len(rows) == 48
    assert rows["de", "stürmer"]["translation"] == "striker"
    right = sum(
        rows["en", a]["translation"] == b
        for english, german in SUBJECTS.values()
        for a, b in zip(english.split(), german.split(), strict=True)
    )
    assert right >= 22


@pytest.mark.parametrize(
    ("model", "args", "code", "says"),
    [
        ("news", [], 2, "either a term"),
        ("news", ["goal", "--all"], 2, "either a term"),
        ("news", ["goal"], 2, "--from en | de"),
        ("news", ["goal", "--from", "fr"], 2, "--from fr"),
        ("news", ["goal", "--from", "en", "--to", "en"], 1, "another view than its own"),
        ("news", ["tem", "--from", "en"], 1, "Similar terms are 'team'"),
        ("plain", ["goal", "--from", "en"], 1, "keeps no translations"),
        ("one", ["--all"], 1, "another view than its own"),
    ],
)
def test_words_that_cannot_be_translated(folder, model, args, code, says):
    if model == "one":
        one = ("--text", "en", "--model", "plsa", "--topics", 2)
        working("fit", folder / "news.csv", *one, "-o", folder / "one.coview")
    assert says in failing(code, "translate", folder / f"{model}.coview", *args)
