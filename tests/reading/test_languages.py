"""The language of a column is found from its words, for its stop words."""

import json
from pathlib import Path

import pytest

from coview import DataWarning, LinkPLSA, Views, load
from coview.reading import languages
from coview.reading.words import known_languages, stop_words
from tests.cli.command import failing, inside, working

# two sentences in each language that has a list of stop words
SENTENCES = dict(
    line.split(" ", 1)
    for line in Path(__file__).with_name("sentences.txt").read_text("utf-8").splitlines()
)
KEYWORDS = "rocket orbit planet moon launch star goal match team player league score"


def texts_in(language, n=4):
    return [SENTENCES[language]] * n


def read(texts, view="description", **options):
    return Views.from_texts({view: texts}, **{"max_df": 1.0, **options})


def test_every_language_has_sentences():
    assert SENTENCES.keys() == set(known_languages())


@pytest.mark.parametrize("language", known_languages())
def test_the_language_is_found_without_a_name(language):
    views = read(texts_in(language))
    assert views.recipes["description"].language == language
    assert f"all documents, stop words: {language}\n" in repr(views)
    assert not stop_words(language) & set(views.features["description"])


@pytest.mark.parametrize("language", known_languages())
def test_half_of_a_sentence_will_do(language):
    """Fifty words of two halves: other shares of stop words than in the whole."""
    words, alike = SENTENCES[language].split(), ("da", "no")
    for half in (words[: len(words) // 2], words[len(words) // 2 :]):
        found = read([" ".join(half)] * 6).recipes["description"].language
        assert found == language or (found in alike and language in alike)


def test_titles_and_captions_are_enough():
    titles = (
        ["Deep learning for text classification", "A survey of topic models"]
        + ["Bayesian inference in high dimensions", "Efficient search with hashing"]
        + ["Towards robust clustering of documents", "Graphs and their neighbors"]
    )
    assert read(titles * 3, "title").recipes["title"].language == "en"
    captions = ["a dog runs on the grass", "two men with red hats", "a bowl of fruit on a table"]
    assert read(captions * 6, "caption").recipes["caption"].language == "en"


def test_the_language_is_in_the_recipe_and_new_documents_are_read_by_it(tmp_path):
    model = LinkPLSA(2, random_state=0).fit(read(texts_in("de", 12)))
    model.save(tmp_path / "model.coview")
    read(texts_in("de")).save(tmp_path / "views")
    for recipes in (
        load(tmp_path / "model.coview").recipes_,
        Views.load(tmp_path / "views").recipes,
    ):
        recipe = recipes["description"]
        assert (recipe.language, recipe.stop_words) == ("de", "de")
        counts, _ = recipe.counts(["der die das Brücke"])
        assert counts.sum() == 1


def test_a_recipe_of_an_early_file_has_no_language():
    recipe = read(texts_in("de")).recipes["description"]
    settings, arrays = recipe.as_data()
    settings.pop("language")
    early = type(recipe).from_data(settings, arrays, recipe.terms)
    assert (early.language, early.stop_words) == (None, "own")
    with pytest.raises(ValueError, match="no language 'tlh'"):
        type(recipe).from_data({**settings, "language": "tlh"}, arrays, recipe.terms)


def test_where_no_list_fits_there_is_a_warning():
    with pytest.warns(
        DataWarning, match=r"No list .* fits view 'tags' .*languages=\{'tags': 'en'\}"
    ):
        views = read([KEYWORDS] * 6, "tags")
    assert "stop words: none" in repr(views)
    klingon = ["nuqneH tlhIngan Hol Dajatlhʼaʼ qaStaH nuq Heghlu'meH QaQ jajvam"] * 8
    with pytest.warns(DataWarning, match="fits view 'text'"):
        read(klingon, "text")


def test_few_words_tell_nothing_and_are_not_complained_about():
    views = read(["the cat and the dog"])
    assert views.recipes["description"].language is None
    assert "the" in views.features["description"]


@pytest.mark.parametrize(
    ("options", "language", "whose"),
    [
        ({"languages": "fr"}, "fr", "fr"),
        ({"languages": {"description": "german"}}, "de", "de"),
        ({"languages": None}, None, "none"),
        ({"languages": {"description": None}}, None, "none"),
        ({"stop_words": None}, None, "none"),
        ({"stop_words": ["comité"]}, None, "own"),
    ],
)
def test_the_user_decides(options, language, whose):
    recipe = read(texts_in("es"), **options).recipes["description"]
    assert (recipe.language, recipe.stop_words) == (language, whose)


def test_a_dict_may_leave_views_to_be_found():
    texts = {"a": texts_in("es"), "b": texts_in("es")}
    views = Views.from_texts(texts, languages={"a": "fr"}, max_df=1.0)
    assert [views.recipes[name].language for name in "ab"] == ["fr", "es"]


def test_the_name_decides_between_languages_that_are_alike():
    for name in ("da", "no"):
        assert read(texts_in("no"), f"text_{name}").recipes[f"text_{name}"].language == name


def test_words_that_contradict_the_name_are_believed_with_a_warning():
    with pytest.warns(
        DataWarning, match=r"called like the language 'it', but its words are of 'en'"
    ):
        assert read(texts_in("en"), "it").recipes["it"].language == "en"


def test_a_name_is_believed_where_words_tell_nothing():
    assert read([KEYWORDS] * 6, "text_en").recipes["text_en"].language == "en"


def test_texts_wait_only_until_there_are_enough(monkeypatch):
    whole = read(texts_in("de", 30))
    monkeypatch.setattr(languages, "SAMPLE_WORDS", 100)
    monkeypatch.setattr("coview.reading.text.SAMPLE_WORDS", 100)
    assert read([None, *texts_in("de", 30)])[list(range(1, 31))].equals(
        Views(whole, present=whole.present)
    )


def test_a_later_change_of_language_is_warned_of(monkeypatch):
    monkeypatch.setattr("coview.reading.text.SAMPLE_WORDS", 100)
    with pytest.warns(DataWarning, match=r"several languages: .* 'en', but \d+ % .* of 'de'"):
        read([*texts_in("en", 10), *texts_in("de", 20)])


def test_runs_of_words_are_counted_without_stop_words():
    views = read(texts_in("en"), ngram_range=(2, 2))
    assert "committee said" in views.features["description"]


# -- the command line -----------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    rows = [f'"{SENTENCES["en"]}","{SENTENCES["de"]}","{KEYWORDS}"' for _ in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(["title,beschreibung,tags", *rows]), "utf-8")
    return tmp_path / "t.csv"


def test_a_table_says_what_was_found(table):
    out = table.with_name("views")
    command = ("convert", table, "--text", "title", "--text", "beschreibung", "--max-df", 1)
    said = inside(*command, "-o", out)[2]
    assert "stop words: en" in said
    assert "stop words: de" in said
    said = inside(*command, "--text", "tags", "--language", "title=none", "-o", out, "--overwrite")[
        2
    ]
    assert "Say its language, such as --language tags=en, or --language tags=none" in said
    assert Views.load(out).recipes["title"].stop_words == "none"
    said = inside(*command, "--language", "beschreibung=fr", "-o", out, "--overwrite")[2]
    assert "stop words: fr" in said
    assert "'nowhere'" in failing(1, *command, "--language", "nowhere=de", "-o", out, "--overwrite")


def test_a_model_says_what_was_found(table):
    model = table.with_name("m.coview")
    fit = ("fit", table, "--text", "beschreibung", "--max-df", 1, "--model", "plsa", "-k", 2)
    summary = json.loads(working(*fit, "-o", model, "--json"))
    assert summary["languages"] == {"beschreibung": "de"}
    assert "stop words: de" in working("info", model)


def test_captions_have_a_language_too(tmp_path):
    cv2 = pytest.importorskip("cv2")
    import numpy as np

    pictures = np.random.default_rng(0).integers(0, 255, (12, 20, 20, 3)).astype(np.uint8)
    for i, picture in enumerate(pictures):
        cv2.imwrite(str(tmp_path / f"{i}.png"), picture)
        (tmp_path / f"{i}.txt").write_text(SENTENCES["de"], "utf-8")
    options = {"max_df": 1.0}
    views = Views.from_images(tmp_path, n_words=0, caption_options=options)
    assert views.recipes["caption"].language == "de"
    views = Views.from_images(
        tmp_path, n_words=0, caption_options={**options, "languages": {"caption": "fr"}}
    )
    assert views.recipes["caption"].language == "fr"
