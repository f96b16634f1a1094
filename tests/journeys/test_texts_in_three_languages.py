"""A table in three languages, whose columns are called as they are in real tables."""

import json
import re

import pytest

from tests.cli.command import coview, run_process
from tests.journeys.words import LANGUAGES, STOP_WORDS, rows, write_table

pytestmark = pytest.mark.slow  # real processes
TEXT = [word for column in LANGUAGES for word in ("--text", column)]


@pytest.fixture(scope="module")
def journey(tmp_path_factory):
    """The table, the model, and what fitting it said."""
    folder = tmp_path_factory.mktemp("journey")
    write_table(folder / "news.csv", rows(60))
    said = coview(
        "fit", folder / "news.csv", *TEXT, "--id", "id", "-k", 3, "-o", folder / "m.coview"
    ).stderr
    return folder, said


def test_the_languages_are_found_and_said(journey):
    _, said = journey
    for column, language in {"title": "en", "text": "fr", "beschreibung": "de"}.items():
        names = {"en": "en|English", "fr": "fr|French", "de": "de|German"}[language]
        assert re.search(rf"\b{column}\b[^\n]*\b({names})\b", said), (column, said)


def test_topics_are_words_of_their_subjects_and_no_stop_words(journey):
    folder, _ = journey
    topics = json.loads(coview("topics", folder / "m.coview", "--terms", 12, "--json").stdout)
    shown = json.dumps(topics, ensure_ascii=False)
    words = set(re.findall(r"[^\W\d_]+", shown))
    for column, stop_words in STOP_WORDS.items():
        assert not words & stop_words, column
        content = {w for words in LANGUAGES[column].values() for w in words.split()}
        assert len(words & content) >= 12, column


def test_a_search_goes_from_one_language_to_another(journey):
    folder, _ = journey
    command = ("search", folder / "m.coview", "--view", "title", "--in", "beschreibung")
    hits = json.loads(coview(*command, "rocket to the moon", "--top", 5, "--json").stdout)
    assert all(int(hit["document"][1:]) % 3 == 2 for hit in hits)  # documents about space


def test_the_language_can_be_given(journey):
    folder, _ = journey
    said = coview(
        *("fit", folder / "news.csv", "--text", "beschreibung", "--language", "beschreibung=de"),
        *("-k", 3, "-o", folder / "german.coview"),
    ).stderr
    assert re.search(r"\bbeschreibung\b[^\n]*\b(de|German)\b", said), said
    shown = coview("topics", folder / "german.coview", "--terms", 12).stdout
    assert not STOP_WORDS["beschreibung"] & set(shown.split())


def test_texts_of_no_known_language_are_warned_about(journey):
    folder, _ = journey
    lojban = [{"id": f"d{i}", "text": f"mi klama le zarci i{i % 3} do ckule"} for i in range(60)]
    write_table(folder / "other.csv", lojban)
    ran = run_process(
        *("fit", folder / "other.csv", "--text", "text", "-k", 2, "-o", folder / "o.coview"),
    )
    assert re.search(r"language", ran.stderr), ran.stderr


def test_a_wrong_column_is_named_with_a_suggestion(journey):
    folder, _ = journey
    ran = run_process("fit", folder / "news.csv", "--text", "titles", "-o", folder / "x.coview")
    assert ran.returncode != 0
    assert "Traceback" not in ran.stderr
    assert "'title'" in ran.stderr
    assert not (folder / "x.coview").exists()
