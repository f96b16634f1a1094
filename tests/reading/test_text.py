"""Texts and tokens to counts: words, stop words, vocabularies, recipes."""

import json
import pickle
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import (
    ENGLISH_STOP_WORDS,
    CountVectorizer,
    HashingVectorizer,
    TfidfVectorizer,
)

from coview import Views
from coview.reading import counting
from coview.reading.counting import TermCounter, VocabularyLimits
from coview.reading.recipes import read_raw, recipe_class
from coview.reading.text import TextRecipe, TokensRecipe
from coview.reading.words import known_languages, language_of_view, split_words, stop_words
from coview.views.checks import DataWarning

# -- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's 2 o'clock, x_ray 42!", ["It", "clock", "ray", "42"]),
        ("größer und früher", ["größer", "und", "früher"]),
        ("हिन्दी में लिखो", ["हिन्दी", "में", "लिखो"]),
        ("العَرَبِيَّة لغة", ["العَرَبِيَّة", "لغة"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("東京都に住む人", ["東京", "京都", "都に", "に住", "住む", "む人"]),
        ("中 文字", ["中", "文字"]),
        ("a中b文字cd", ["中", "文字", "cd"]),
        ("葛\U000e0100城市", ["葛\U000e0100城", "城市"]),
        ("𝒜𝒷 😀 ok", ["𝒜𝒷", "ok"]),
        ("", []),
        ("\u0301\u0302 ! 😀", []),
    ],
)
def test_words_are_found_in_any_script(text, words):
    assert split_words(text) == words


def test_both_unicode_forms_of_a_text_give_the_same_words():
    for text in ("Ångström café naïve", "Tiếng Việt", "ガギグ ひらがな", "Ёлка й"):
        assert split_words(normalize("NFD", text)) == split_words(normalize("NFC", text))
        assert all(normalize("NFC", word) == word for word in split_words(normalize("NFD", text)))


def test_what_cannot_be_seen_parts_no_word():
    assert split_words("Donau\u00addampf­schiff") == ["Donaudampfschiff"]
    assert split_words("می\u200cخواهم") == ["میخواهم"]


def test_a_turkish_capital_is_the_same_word_in_lower_case():
    assert split_words("İstanbul".lower()) == ["istanbul"]


@given(st.text())
def test_words_hold_letters_digits_and_marks_only(text):
    for word in split_words(text):
        assert word[0].isalnum()
        assert not any(char.isspace() or char == "_" for char in word)
        assert split_words(word) == [word]


@given(st.text(st.characters(max_codepoint=0x24F)))
def test_words_of_latin_text_are_those_of_the_usual_pattern(text):
    usual = CountVectorizer(token_pattern=r"[^\W_]{2,}").build_tokenizer()
    assert split_words(text) == usual(normalize("NFC", text.replace("\u00ad", "")))


@pytest.mark.parametrize(
    "text", ["สวัสดีชาวโลก วันนี้อากาศดี", "ພາສາລາວ", "ភាសាខ្មែរ", "မြန်မာဘာသာ", "བོད་སྐད་"]
)
def test_scripts_that_part_no_words_are_refused_with_advice(text):
    with pytest.raises(ValueError, match=r"'th' is mostly in a script .* lists of tokens"):
        Views.from_texts({"th": [text, text + " a", None]})


def test_a_few_thai_words_are_accepted():
    views = Views.from_texts(["an english text about bangkok, กรุงเทพ", "another text"])
    assert "กรุงเทพ" in views.features["text"]


def test_a_vectorizer_reads_scripts_that_part_no_words():
    chars = CountVectorizer(analyzer="char", ngram_range=(2, 2))
    views = Views.from_texts({"th": ["สวัสดี", "สวัส"]}, vectorizer=chars)
    assert views["th"].shape == (2, 5)


# -- languages and stop words ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("view", "language"),
    [
        ("en", "en"),
        ("English", "en"),
        ("text_en", "en"),
        ("title-de", "de"),
        ("deutsch", "de"),
        ("german abstract", "de"),
        ("pt-BR", "pt"),
        ("en_US", "en"),
        ("svenska", "sv"),
        ("norsk bokmål", "no"),
        ("русский", "ru"),
        ("text", None),
        ("it_tickets", None),
        ("no_links", None),
        ("english and french", None),
        ("7", None),
    ],
)
def test_a_views_name_tells_its_language(view, language):
    assert language_of_view(view) == language


@pytest.mark.parametrize("language", known_languages())
def test_every_list_of_stop_words_is_in_the_form_that_texts_are_split_into(language):
    words = stop_words(language)
    assert 150 <= len(words) <= 360
    for word in words:
        assert word == word.lower()
        assert split_words(word) in ([word], []), word


def test_all_languages_asked_for_have_a_list():
    asked = "en de fr es it pt nl sv da no fi pl cs ro hu ru tr"
    assert set(asked.split()) <= set(known_languages())


def test_english_stop_words_leave_out_no_subject():
    assert not {"fire", "bill", "system"} & stop_words("en")
    assert {"the", "and", "don"} <= stop_words("en")
    assert len(ENGLISH_STOP_WORDS - stop_words("en")) < 20


def test_stop_words_follow_the_names_of_the_views():
    texts = ["die Katze and the cat"]
    views = Views.from_texts({"en": texts, "de": texts, "x": texts})
    assert views.features["en"].tolist() == ["cat", "die", "katze"]
    assert views.features["de"].tolist() == ["and", "cat", "katze", "the"]
    assert len(views.features["x"]) == 5


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"languages": "german"}, ["and", "cat", "katze", "the"]),
        ({"languages": {"en": "de"}}, ["and", "cat", "katze", "the"]),
        ({"languages": None}, ["and", "cat", "die", "katze", "the"]),
        ({"stop_words": None}, ["and", "cat", "die", "katze", "the"]),
        ({"stop_words": ["Cat", "the-and"]}, ["die", "katze"]),
        ({"stop_words": {"en": ["katze"]}}, ["and", "cat", "die", "the"]),
    ],
)
def test_languages_and_stop_words_can_be_given(options, kept):
    views = Views.from_texts({"en": ["die Katze and the cat"]}, **options)
    assert views.features["en"].tolist() == kept


def test_a_language_without_a_list_is_warned_of():
    with pytest.warns(DataWarning, match="No list of stop words for the language 'tlh'"):
        Views.from_texts(["nuqneH"], languages="tlh")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"stop_words": "german"}, "use languages="),
        ({"languages": {"fr": "fr"}}, "`languages` names 'fr'; the views are 'en'"),
        ({"min_df": 0}, "min_df must be"),
        ({"min_df": 1.5}, "min_df must be"),
        ({"max_df": True}, "max_df must be"),
        ({"max_features": 0}, "max_features must be"),
        ({"ngram_range": (2, 1)}, "ngram_range must be"),
        ({"vectorizer": HashingVectorizer()}, "no terms to read"),
        ({"vectorizer": CountVectorizer(input="filename")}, "must be 'content'"),
        ({"vectorizer": CountVectorizer(), "min_df": 3}, "'min_df' would not be used"),
    ],
)
def test_options_without_a_meaning_are_refused(options, match):
    with pytest.raises(ValueError, match=match):
        Views.from_texts({"en": ["a cat"]}, **options)


def test_only_vectorizers_are_vectorizers():
    with pytest.raises(TypeError, match="must be a CountVectorizer or a TfidfVectorizer"):
        Views.from_texts({"en": ["a cat"]}, vectorizer=str.split)


# -- counting against scikit-learn ----------------------------------------------------------------

words_ = st.sampled_from(["a", "bb", "bb-cc", "dd", "Ee", "über", "e", "été", "10", "the"])
documents = st.lists(st.lists(words_, max_size=8).map(" ".join), min_size=1, max_size=12)
limits = st.fixed_dictionaries(
    {
        "min_df": st.sampled_from([1, 2, 0.2]),
        "max_df": st.sampled_from([1.0, 0.7, 4]),
        "max_features": st.sampled_from([None, 1, 3]),
        "binary": st.booleans(),
        "ngram_range": st.sampled_from([(1, 1), (1, 2), (2, 2)]),
        "stop_words": st.sampled_from([None, ["the", "bb"]]),
    }
)
tfidf_settings = st.fixed_dictionaries(
    {
        "norm": st.sampled_from(["l1", "l2", None]),
        "use_idf": st.booleans(),
        "smooth_idf": st.booleans(),
        "sublinear_tf": st.booleans(),
        "dtype": st.sampled_from([np.float32, np.float64]),
    }
)


def same_as_sklearn(vectorizer, texts):
    """Our counts against scikit-learn's, of texts some of which are missing."""
    present = [text for text in texts if text.strip()]
    try:
        # its fit_transform adds up the length of a row in another order than its transform
        expected = vectorizer.fit(present).transform(present)
    except ValueError:
        with pytest.raises(ValueError):
            Views.from_texts(texts, vectorizer=vectorizer)
        return
    views = Views.from_texts(texts, vectorizer=vectorizer)
    assert views.features["text"].tolist() == vectorizer.get_feature_names_out().tolist()
    mask = [bool(text.strip()) for text in texts]
    np.testing.assert_array_equal(views["text"].toarray()[mask], expected.toarray())
    assert views.present[:, 0].tolist() == mask
    again, _ = views.recipes["text"].counts(texts)
    np.testing.assert_array_equal(again.toarray(), views["text"].toarray())


@given(documents, limits)
@settings(max_examples=80, deadline=None)
def test_counts_are_those_of_countvectorizer(texts, parameters):
    same_as_sklearn(CountVectorizer(**parameters), texts)


@given(documents, limits, tfidf_settings)
@settings(max_examples=60, deadline=None)
def test_weights_are_those_of_tfidfvectorizer(texts, parameters, weights):
    same_as_sklearn(TfidfVectorizer(**parameters, **weights), texts)


@given(documents, st.integers(1, 20))
@settings(max_examples=50, deadline=None)
def test_counts_do_not_depend_on_the_size_of_the_buffer(texts, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "BUFFER", size)
        same_as_sklearn(CountVectorizer(max_features=4), texts)


def test_ties_of_many_terms_are_broken_as_scikit_learn_does():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, 400, 30)) for _ in range(60)]
    same_as_sklearn(CountVectorizer(max_features=100), texts)
    same_as_sklearn(TfidfVectorizer(max_features=100), texts)


@pytest.mark.parametrize(
    "vocabulary", [["cat", "dog", "emu"], {"dog": 0, "cat": 1}, {"dog", "cat"}]
)
def test_a_given_vocabulary_is_kept(vocabulary):
    same_as_sklearn(CountVectorizer(vocabulary=vocabulary), ["dog cat dog", "gnu", " "])


def test_a_given_vocabulary_must_number_its_terms():
    with pytest.raises(ValueError, match="'text' must number its terms"):
        Views.from_texts(["cat"], vectorizer=CountVectorizer(vocabulary={"cat": 1}))
    with pytest.raises(ValueError, match="the vocabulary of view 'text' must be unique"):
        Views.from_texts(["cat"], vectorizer=CountVectorizer(vocabulary=["cat", "cat"]))


def test_counts_too_large_for_a_byte_are_kept():
    views = Views.from_texts(["cat " * 300 + "dog", "cat " * 70_000], languages=None)
    assert views["text"].toarray().tolist() == [[300, 1], [70_000, 0]]
    assert Views.from_texts(["cat dog"])["text"].dtype == np.float32


def test_a_counted_matrix_is_taken_over_by_views_without_a_copy():
    counter = TermCounter(str.split)
    counter.add("a b a")
    matrix = counter.finish("text", VocabularyLimits()).matrix
    kept = Views(counting.expand_rows(matrix, np.array([True, False])))["X"]
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
    assert np.shares_memory(kept.indices, matrix.indices)
    assert np.shares_memory(kept.data, matrix.data)


def test_a_buffer_that_is_just_full_is_counted_once(monkeypatch):
    monkeypatch.setattr(counting, "BUFFER", 2)
    counter = TermCounter(str.split)
    counter.add("a b")
    assert counter.finish("text", VocabularyLimits()).matrix.toarray().tolist() == [[1, 1]]


# -- what is kept by default ----------------------------------------------------------------------


def test_small_corpora_keep_words_that_occur_once():
    assert "cat" in Views.from_texts(["cat", *["dog"] * 48]).features["text"]
    many = Views.from_texts(["cat", *["dog"] * 9, *["emu"] * 40], languages=None)
    assert "cat" not in many.features["text"]


def test_words_in_more_than_half_of_the_documents_are_left_out_of_ten_documents_on():
    texts = ["cat one", "cat", "cat", "cat", "cat", "emu", "emu", "emu", "gnu"]
    assert "cat" in Views.from_texts(texts).features["text"]
    assert "cat" not in Views.from_texts([*texts, "cat"]).features["text"]


def test_shares_are_of_the_documents_that_have_the_view():
    texts = ["cat emu"] * 6 + ["gnu"] * 6
    assert Views.from_texts(texts).features["text"].tolist() == ["cat", "emu", "gnu"]
    views = Views.from_texts([*texts[:7], *[None] * 20, *["dog"] * 4])
    assert "cat" not in views.features["text"]


def test_when_nothing_is_left_the_message_says_why():
    with pytest.raises(ValueError) as caught:
        Views.from_texts({"en": ["a cat", "a dog", "a dog"]}, min_df=3)
    message = str(caught.value)
    assert "view 'en'" in message
    assert "3 documents with 2 different terms, 2 of them in fewer than min_df=3" in message
    assert "Lower min_df or raise max_df" in message


def test_a_view_of_stop_words_is_an_error_that_says_so():
    with pytest.raises(ValueError, match="No words were found in the 2 documents of view 'en'"):
        Views.from_texts({"en": ["and the", "of"]})


def test_a_view_without_any_text_is_an_error():
    with pytest.raises(ValueError, match="View 'de' is missing in all of 2 documents"):
        Views.from_texts({"en": ["cat", "dog"], "de": [None, " "]})


# -- missing and empty ----------------------------------------------------------------------------


def test_missing_texts_are_absent_and_texts_without_words_are_empty():
    cells = ["cat", None, float("nan"), pd.NA, " \n", "the", "cat"]
    views = Views.from_texts({"en": cells})
    assert views.present[:, 0].tolist() == [True, False, False, False, False, True, True]
    assert views["en"].toarray().ravel().tolist() == [1, 0, 0, 0, 0, 0, 1]


def test_columns_may_be_generators_series_and_arrays():
    texts = ["cat", "dog"]
    views = Views.from_texts(
        {"a": iter(texts), "b": pd.Series(texts), "c": np.array(texts)},
        ids=["x", "y"],
        labels=[0, 1],
        label_names=["c", "d"],
    )
    assert (views["a"] != views["b"]).nnz == (views["a"] != views["c"]).nnz == 0
    assert views.ids.tolist() == ["x", "y"]
    assert views.label_names == ["c", "d"]


def test_views_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="View 'a' has 2 documents but view 'b' has 1"):
        Views.from_texts({"a": ["cat", "dog"], "b": ["cat"]})


@pytest.mark.parametrize("texts", ["cat", 7, {"en": "cat"}, {"en": 7}, {"en": {"x": "cat"}}])
def test_one_text_is_no_column_of_texts(texts):
    with pytest.raises(TypeError):
        Views.from_texts(texts)


def test_cells_that_are_no_texts_are_refused_with_their_row():
    with pytest.raises(TypeError, match=r"View 'en', row 1.*Expected a text, found int"):
        Views.from_texts({"en": ["cat", 3]})
    with pytest.raises(ValueError, match="no documents"):
        Views.from_texts({"en": []})


def test_lists_of_tokens_are_counted_as_they_are():
    views = Views.from_texts({"en": [None, ["The", "New York", "The"], [], ("The", 7)]})
    assert views.features["en"].tolist() == ["7", "New York", "The"]
    assert views["en"].toarray().tolist() == [[0, 0, 0], [0, 1, 2], [0, 0, 0], [1, 0, 1]]
    assert views.present[:, 0].tolist() == [False, True, True, True]
    with pytest.raises(TypeError, match=r"row 1.*A token must be a text, found float"):
        Views.from_texts({"en": [["a"], [1.5]]})


# -- vectorizers and recipes ----------------------------------------------------------------------

TEXTS = ["the cat and the dog", "a dog", None, "İstanbul café 東京都"]


def round_trip(recipe):
    """Through JSON and arrays, as a model file keeps it."""
    recipe_settings, arrays = recipe.as_data()
    written = json.loads(json.dumps(recipe_settings))
    return recipe_class(recipe.kind).from_data(written, arrays, recipe.terms)


@pytest.mark.parametrize(
    "vectorizer",
    [
        None,
        CountVectorizer(),
        CountVectorizer(analyzer="char_wb", ngram_range=(2, 3), binary=True),
        CountVectorizer(vocabulary=["dog", "cat"], dtype=np.int32),
        CountVectorizer(stop_words="english", strip_accents="unicode"),
        CountVectorizer(tokenizer=split_words, token_pattern=None, min_df=np.int64(1)),
        TfidfVectorizer(stop_words=["the", "and"], sublinear_tf=True),
        TfidfVectorizer(use_idf=False, norm="l1", dtype=np.float32),
    ],
)
def test_a_recipe_written_as_data_counts_the_same(vectorizer):
    recipe = Views.from_texts({"en": TEXTS}, vectorizer=vectorizer).recipes["en"]
    again = round_trip(recipe)
    new = [*TEXTS, "dogs and cats, and a dog", "", "unknown"]
    for a, b in zip(recipe.counts(new), again.counts(new), strict=True):
        assert a.dtype == b.dtype
        assert (a != b).sum() == 0
    assert again.as_data()[0] == recipe.as_data()[0]


def test_a_recipe_of_tokens_written_as_data_counts_the_same():
    recipe = Views.from_texts({"tags": [["x", "y"], ["x"]]}).recipes["tags"]
    assert isinstance(recipe, TokensRecipe)
    counts, present = round_trip(recipe).counts([["y", "y", "z"], None, "x y", '["x"]'])
    assert counts.toarray().tolist() == [[0, 2], [0, 0], [1, 1], [1, 0]]
    assert present.tolist() == [True, False, True, True]


def test_recipes_are_shown_in_one_line():
    recipes = Views.from_texts({"en": ["a cat"], "tags": [["x", "y"]]}).recipes
    assert repr(recipes["en"]) == "<TextRecipe: 1 term of 'en' by CountVectorizer>"
    assert repr(recipes["tags"]) == "<TokensRecipe: 2 terms of 'tags'>"


def test_raw_texts_are_read_by_the_column_they_came_from():
    views = Views.from_texts({"en": TEXTS, "de": ["Katze"] * 4})
    parts = read_raw(views.recipes, {"en": ["dog dog", None]})
    assert list(parts["data"]) == ["en"]
    assert parts["data"]["en"].sum() == 2
    assert parts["present"]["en"].tolist() == [True, False]


def test_new_texts_may_all_be_missing():
    for vectorizer in (None, TfidfVectorizer()):
        recipe = Views.from_texts(TEXTS, vectorizer=vectorizer).recipes["text"]
        counts, present = recipe.counts([None, ""])
        assert counts.shape == (2, len(recipe.terms))
        assert counts.nnz == present.sum() == 0


def test_new_cells_that_are_no_texts_are_refused_with_their_row():
    recipe = Views.from_texts({"en": TEXTS}).recipes["en"]
    with pytest.raises(TypeError, match="In 'en', row 1"):
        recipe.counts(["cat", b"dog"])


def test_the_users_vectorizer_is_left_as_it_is():
    mine = CountVectorizer(min_df=2)
    Views.from_texts({"en": ["cat", "cat"]}, vectorizer=mine)
    assert not hasattr(mine, "vocabulary_")
    assert mine.min_df == 2


def test_each_view_may_have_a_vectorizer_of_its_own():
    views = Views.from_texts(
        {"en": TEXTS, "raw": TEXTS}, vectorizer={"raw": TfidfVectorizer()}, min_df=2
    )
    assert views.features["en"].tolist() == ["dog"]
    assert len(views.features["raw"]) > 5


@pytest.mark.parametrize("part", ["tokenizer", "preprocessor", "analyzer"])
def test_functions_of_a_user_cannot_be_saved_and_the_error_says_what_to_do(part):
    function = str.split if part != "preprocessor" else str.lower
    vectorizer = CountVectorizer(**{part: function, "token_pattern": None})
    if part == "preprocessor":
        vectorizer.set_params(token_pattern=r"\w+")
    recipe = Views.from_texts(["a cat"], vectorizer=vectorizer).recipes["text"]
    with pytest.raises(ValueError, match=f"{part} is a function .* lists of tokens"):
        recipe.as_data()


def test_classes_of_a_user_cannot_be_saved():
    class Mine(CountVectorizer):
        pass

    recipe = Views.from_texts(["a cat"], vectorizer=Mine()).recipes["text"]
    with pytest.raises(ValueError, match="class 'Mine' cannot be saved"):
        recipe.as_data()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"vectorizer": "os.system"}, "no vectorizer 'os.system'"),
        ({"parameters": {"tokenizer": "eval"}}, "no tokenizer 'eval'"),
        ({"parameters": {"secret": 1}}, "has no 'secret'"),
        ({"parameters": {"input": "filename"}}, "must be 'content'"),
        ({"dtype": "object"}, "cannot be object"),
        ({"parameters": {"strip_accents": "-0.5"}}, "strip_accents"),
        ({"parameters": {"analyzer": "letters"}}, "letters"),
    ],
)
def test_data_cannot_name_code_or_files(change, match):
    recipe = Views.from_texts(["a cat"]).recipes["text"]
    data, arrays = recipe.as_data()
    with pytest.raises(ValueError, match=match):
        TextRecipe.from_data(data | change, arrays, recipe.terms)


def test_weights_of_another_width_are_refused():
    recipe = Views.from_texts(["a cat", "a dog"], vectorizer=TfidfVectorizer()).recipes["text"]
    data, _ = recipe.as_data()
    for arrays in ({}, {"idf": np.ones(3)}):
        with pytest.raises(ValueError, match="Expected 2 inverse document frequencies"):
            TextRecipe.from_data(data, arrays, recipe.terms)


def test_views_with_recipes_can_be_pickled():
    views = Views.from_texts({"en": TEXTS}, vectorizer=TfidfVectorizer())
    again = pickle.loads(pickle.dumps(views))
    assert again.equals(views)
    assert again.recipes["en"].counts(["cat"])[0].nnz == 1
