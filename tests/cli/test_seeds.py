"""Seed words on the command line, and the names of topics they make."""

import json

import pytest

import coview
from coview.cli.options import UsageError
from coview.cli.seeds import read_seeds
from tests.cli.command import failing, working

NEWS = ("examples/news.csv", "--text", "en", "--text", "de", "--id", "id")
SEEDS = {"sport": {"en": ["team", "coach"]}, "weather": {"de": {"regen": 2.0}}}


@pytest.fixture(scope="module")
def seeded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seeds")
    (folder / "seeds.json").write_text(json.dumps(SEEDS))
    model = folder / "news.coview"
    given = ("--seeds", folder / "seeds.json", "--seed-words", "5:en=concert")
    working("fit", *NEWS, "-k", 6, *given, "-o", model)
    return model


def test_seeds_name_the_topics(seeded):
    assert coview.load(seeded).topic_names_ == ["sport", "weather", None, None, None, None]
    found = {t["topic"]: t for t in json.loads(working("topics", seeded, "--json"))}
    assert found[0]["name"] == "sport"
    assert "coach" in found[0]["terms"]["en"]
    assert "rain" in found[1]["terms"]["en"]
    assert "concert" in found[5]["terms"]["en"]


def test_the_table_of_topics_has_a_column_of_names(seeded):
    shown = working("topics", seeded)
    assert " name " in shown
    assert " sport " in shown
    assert " class " not in shown


def test_files_and_options_are_read_alike(tmp_path):
    toml = tmp_path / "seeds.toml"
    toml.write_text('[sport]\nen = ["goal", "coach"]\n[3.de]\ntor = 2.0\n')
    assert read_seeds(toml, ["sport:de=tor, trainer", "a:b:en=x"]) == {
        "sport": {"en": ["goal", "coach"], "de": ["tor", "trainer"]},
        3: {"de": {"tor": 2.0}},
        "a:b": {"en": ["x"]},
    }
    assert read_seeds(None, ["sport=goal"]) == {"sport": ["goal"]}
    assert read_seeds(None, []) is None


@pytest.mark.parametrize("given", ["sport", "=goal", "sport:=goal", ":en=goal", "sport:en=, "])
def test_bad_words_are_explained(given):
    with pytest.raises(UsageError, match="TOPIC:VIEW=WORDS"):
        read_seeds(None, [given])


def test_words_given_twice_are_refused():
    for words in (["a:en=x", "a:en=y"], ["a=x", "a=y"], ["a=x", "a:en=y"], ["a:en=x", "a=y"]):
        with pytest.raises(UsageError, match="given twice"):
            read_seeds(None, words)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("seeds.txt", "", ".json or .toml"),
        ("seeds.json", "{", "cannot be read as JSON"),
        ("seeds.toml", "= 3", "cannot be read as TOML"),
        ("seeds.json", "[1]", "words by topic and view"),
    ],
)
def test_bad_files_are_explained(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=message):
        read_seeds(tmp_path / name, [])
    with pytest.raises(UsageError, match="There is no file"):
        read_seeds(tmp_path / "none.json", [])


def test_an_unknown_word_ends_the_command_with_its_reason(tmp_path):
    given = ("--seed-words", "sport:en=goaal", "-o", tmp_path / "m.coview")
    assert "has no term 'goaal'" in failing(1, "fit", *NEWS, *given)


def test_predicted_topics_have_their_names(seeded, tmp_path):
    working("predict", seeded, "examples/news.csv", "--id", "id", "-o", tmp_path / "p.csv")
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert lines[0] == "document,topic,probability,name"
    assert any(",0," in line and line.endswith(",sport") for line in lines)


def test_documents_to_label_are_suggested(seeded, tmp_path):
    from csv import DictReader, DictWriter
    from pathlib import Path

    with Path("examples/news.csv").open(encoding="utf-8", newline="") as file:
        rows = list(DictReader(file))
    labeled = {row["id"] for row in rows[:40]}
    for row in rows[40:]:
        row["topic"] = ""
    with (tmp_path / "some.csv").open("w", encoding="utf-8", newline="") as file:
        writer = DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    given = (seeded, tmp_path / "some.csv", "--id", "id")
    found = json.loads(working("suggest", *given, "--label", "topic", "--top", 999, "--json"))
    assert found
    assert not labeled & {each["document"] for each in found}
    assert labeled & {
        each["document"] for each in json.loads(working("suggest", *given, "--top", 999, "--json"))
    }
    assert len(json.loads(working("suggest", *given, "--top", 3, "--json"))) == 3
    assert all(0 <= each["score"] <= 1 for each in found)
