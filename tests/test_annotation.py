"""What one view says about another: `predict_terms` against a plain sum, for every model."""

import json
from dataclasses import replace

import numpy as np
import pytest

from coview import DataWarning, Doc, LinkPLSA, TopicClassifier, Views, load
from coview.annotation import PredictedTerms
from coview.datasets import make_views
from tests.contracts.models import MODELS
from tests.retrieval.stories import TOPICS, sentences

TEXTS = {lang: sentences(np.random.default_rng(n), n) for n, lang in enumerate(("en", "de"))}
QUICK = {"init": "random", "max_iter": 30, "tol": 0.0, "random_state": 0}
FIRST = {entry.cls: entry for entry in reversed(MODELS)}.values()  # one entry of each model


@pytest.fixture(scope="module")
def stories():
    texts = {**TEXTS, "de": [None, *TEXTS["de"][1:]]}  # a document that lacks the German view
    return Views.from_texts(texts, ids=[f"d{i}" for i in range(len(texts["de"]))])


@pytest.fixture(scope="module")
def model(stories):
    return LinkPLSA(3, init=np.repeat([0, 1, 2], 8), random_state=0).fit(stories)


def naive(mixture, p_w_z, top, known=()):
    """Return columns and probabilities of the likeliest terms, by explicit loops."""
    p = [
        0
        if w in known
        else sum(float(mixture[z]) * float(p_w_z[z, w]) for z in range(len(mixture)))
        for w in range(p_w_z.shape[1])
    ]
    best = sorted((w for w in range(len(p)) if p[w] > 0), key=lambda w: (-np.float32(p[w]), w))
    return best[:top], [p[w] for w in best[:top]]


def same(found, columns, probabilities):
    assert found.columns.tolist() == columns
    np.testing.assert_allclose(found.probabilities, probabilities, rtol=1e-5)


@pytest.mark.parametrize("entry", FIRST, ids=str)
def test_every_model_predicts_by_its_mixtures_and_topics(entry):
    views = make_views(40, 3, [20, 15], doc_length=30, random_state=1)
    views = views.select(views.names[0]) if entry.one_view else views
    model = entry().fit(views)
    target = views.names[-1]
    given = views[:5].select(views.names[0])
    mixtures = model.transform(given)
    found = model.predict_terms(given, in_view=target, top=4, skip_known=False)
    for terms, mixture in zip(found, mixtures, strict=True):
        same(terms, *naive(mixture, model.components_[target], 4))


def test_a_classifier_predicts_by_its_classes(stories):
    labels = ["sport", *[None] * 7, "food", *[None] * 7, "space", *[None] * 7]
    classifier = TopicClassifier(LinkPLSA(**QUICK)).fit(stories, labels)
    found = classifier.predict_terms({"en": "moon rocket orbit"}, in_view="de", top=4)
    mixture = classifier.predict_proba({"en": ["moon rocket orbit"]})[0]
    same(found, *naive(mixture, classifier.estimator_.components_["de"], 4))
    assert set(found.terms) == set(TOPICS["space"][1])


def test_words_of_the_other_language_are_found(model):
    for en, de in TOPICS.values():
        assert set(model.predict_terms({"en": " ".join(en[:2])}, in_view="de", top=4).terms) == set(
            de
        )
        assert set(model.predict_terms({"de": " ".join(de[:2])}, in_view="en", top=4).terms) == set(
            en
        )


def test_rows_that_lack_a_view_get_its_words(model, stories):
    (found,) = model.predict_terms(stories[[0]], in_view="de", top=4)
    assert found.document == "d0"
    assert set(found.terms) == set(TOPICS["sport"][1])


def test_what_a_document_has_already_is_left_out_unless_wanted(model):
    query = {"en": "goal goal team"}
    found = model.predict_terms(query, in_view="en", top=2)
    kept = model.predict_terms(query, in_view="en", top=4, skip_known=False)
    assert set(found.terms) == {"ball", "match"}
    assert set(kept.terms) == set(TOPICS["sport"][0])
    probability = dict(kept)
    assert all(p == probability[term] for term, p in found)  # not made to sum to one


def test_the_view_itself_helps_to_find_the_mixture(model):
    alone = model.predict_terms({"en": "goal"}, in_view="de", top=8)
    both = model.predict_terms({"en": "goal", "de": "mond mond mond"}, in_view="de", top=8)
    assert "mond" not in both.terms
    assert dict(both).get("rakete", 0) > dict(alone).get("rakete", 0)


@pytest.mark.parametrize(
    "one",
    [
        {"en": "moon rocket"},
        {"en": "moon rocket", "de": None},
        Doc("d20"),
        Doc("d20", view="en"),
        Doc(20),
        np.array([0.2, 0.3, 0.5]),
    ],
    ids=str,
)
def test_one_document_gives_one_answer(model, one):
    found = model.predict_terms(one, in_view="de")
    assert isinstance(found, PredictedTerms)
    assert found.view == "de"


@pytest.mark.parametrize(
    "several",
    [
        {"en": ["moon rocket", "salt onion"]},
        {"en": ["moon rocket", "salt onion"], "de": [None, "salz"]},
        np.array([[0.2, 0.3, 0.5], [1, 0, 0]]),
    ],
    ids=str,
)
def test_several_documents_give_a_list(model, several):
    found = model.predict_terms(several, in_view="de")
    assert [terms.document for terms in found] == [0, 1]


def test_rows_of_counts_and_views_give_the_same_as_texts(model, stories):
    counts = stories["en"][[5]].toarray()
    (by_view,) = model.predict_terms(stories[[5]].select("en"), in_view="de")
    assert model.predict_terms({"en": counts[0]}, in_view="de").to_rows() == [
        {**row, "document": 0} for row in by_view.to_rows()
    ]
    assert model.predict_terms({"en": TEXTS["en"][5]}, in_view="de").terms == by_view.terms
    assert model.predict_terms({"en": counts}, in_view="de")[0].terms == by_view.terms


def test_tokens_of_one_document_are_a_list():
    tags = [["a", "b"], ["a"], ["c"], ["c", "d"]]
    views = Views.from_texts({"tags": tags, "en": ["sun day", "sun", "rain", "rain fall"]})
    model = LinkPLSA(2, init=[0, 0, 1, 1], random_state=0).fit(views)
    assert set(model.predict_terms({"tags": ["c", "d"]}, in_view="en").terms) == {"rain", "fall"}
    assert len(model.predict_terms({"tags": [["a"], ["c"]]}, in_view="en")) == 2


def test_answers_do_not_depend_on_the_other_documents(model, stories, monkeypatch):
    together = model.predict_terms(stories.select("en"), in_view="de")
    monkeypatch.setattr("coview.annotation.BLOCK_CELLS", 1)
    alone = [model.predict_terms(stories[[i]].select("en"), in_view="de")[0] for i in range(24)]
    assert together == alone


def test_equal_terms_come_in_the_order_of_their_columns():
    views = Views({"a": [[1, 1, 1, 1]] * 3, "b": [[1, 0], [0, 1], [1, 1]]})
    model = LinkPLSA(1, random_state=0).fit(views)
    found = model.predict_terms({"b": [1, 0]}, in_view="a", top=3)
    assert found.terms == ["0", "1", "2"]  # numbers: the view has no names
    assert found.columns.tolist() == [0, 1, 2]


def test_a_saved_model_predicts_the_same(model, tmp_path):
    model.save(tmp_path / "m.coview")
    again = load(tmp_path / "m.coview")
    query = {"en": "onion"}
    assert again.predict_terms(query, in_view="de") == model.predict_terms(query, in_view="de")


def test_the_answer_is_plain_data(model):
    found = model.predict_terms({"en": "moon"}, in_view="de", top=3)
    frame = found.to_frame()
    assert list(frame.columns) == ["document", "rank", "term", "probability"]
    assert frame["rank"].tolist() == [1, 2, 3]
    json.dumps(found.to_rows())
    assert found[:2].terms == found.terms[:2]
    assert found[0] == (found.terms[0], found.probabilities[0])
    many = model.predict_terms({"en": ["moon", "salt"]}, in_view="de", top=3, as_frame=True)
    assert many["document"].tolist() == [0, 0, 0, 1, 1, 1]
    assert "PredictedTerms in 'de': 3" in repr(found)
    assert str(found[:0]) == "no terms"


def test_what_is_not_trusted_is_the_share_of_a_term_in_all_documents(model, stories):
    given = stories[[5]].select("en")
    (plain,) = model.predict_terms(given, in_view="de", top=12, trust=1.0)
    (half,) = model.predict_terms(given, in_view="de", top=12, trust=0.25)
    shares = dict(zip(model.feature_names_["de"], model.term_counts_["de"] / 138, strict=True))
    assert model.term_counts_["de"].sum() == 138
    for term, probability in half:
        expected = 0.25 * dict(plain).get(term, 0) + 0.75 * shares[term]
        assert probability == pytest.approx(expected, rel=1e-5)


def test_the_trust_is_that_of_the_most_reliable_view(model, stories, monkeypatch):
    monkeypatch.setattr(model, "view_reliability_", {"en": 0.8, "de": 0.4})
    rows = stories[[5]]
    for given, trust in ((rows, 1.0), (rows.select("en"), 1.0), (rows.select("de"), 0.5)):
        expected = model.predict_terms(given, in_view="en", trust=trust)
        assert model.predict_terms(given, in_view="en", trust="auto") == expected


@pytest.mark.parametrize("trust", [-0.1, 1.5, "much", float("nan")])
def test_a_bad_trust_is_refused(model, trust):
    with pytest.raises(ValueError, match="trust"):
        model.predict_terms({"en": "moon"}, in_view="de", trust=trust)


# -- bad input -------------------------------------------------------------------------------------


def test_unknown_views_are_named(model):
    with pytest.raises(ValueError, match="'fr'"):
        model.predict_terms({"en": "moon"}, in_view="fr")
    with pytest.raises(ValueError, match="in which view"):
        model.predict_terms({"en": "moon"}, in_view=None)
    with pytest.raises(ValueError, match="fr"):
        model.predict_terms({"fr": "lune"}, in_view="de")


def test_a_query_without_a_known_word_is_refused_with_it(model):
    with pytest.raises(ValueError, match="zebra"):
        model.predict_terms({"en": "zebra"}, in_view="de")


def test_rows_without_a_known_word_get_no_terms_and_a_warning(model):
    with pytest.warns(DataWarning, match="1 document of 2"):
        found = model.predict_terms({"en": ["zebra", "moon"]}, in_view="de")
    assert [len(terms) > 0 for terms in found] == [False, True]


@pytest.mark.parametrize("bad", [{"top": 0}, {"top": 2.5}])
def test_bad_numbers_of_terms_are_refused(model, bad):
    with pytest.raises((ValueError, TypeError), match="top"):
        model.predict_terms({"en": "moon"}, in_view="de", **bad)


def test_unknown_documents_are_named(model):
    with pytest.raises(ValueError, match="'d99' among the training documents"):
        model.predict_terms(Doc("d99"), in_view="de")
    with pytest.raises(ValueError, match="no view 'de'"):
        model.predict_terms(Doc("d0", view="de"), in_view="en")


def test_a_view_without_counts_in_training_has_nothing_to_say():
    views = Views(
        {"a": [[1, 2], [2, 1], [0, 3]], "b": np.zeros((3, 2))}, present=np.ones((3, 2), bool)
    )
    with pytest.warns(DataWarning):
        model = LinkPLSA(2, **QUICK).fit(views)
    with pytest.raises(ValueError, match="'b'"):
        model.predict_terms({"a": [1, 0]}, in_view="b")


def test_half_is_what_the_terms_call_for_where_the_model_keeps_it(stories):
    model = LinkPLSA(3, init=np.repeat([0, 1, 2], 8), random_state=0).fit(stories)
    given = {"en": stories["en"][[3]]}
    topics = model.transform(given)[0] @ model.components_["de"]
    model.keep_search(stories)
    table = model.search_.tables["en", "de"].toarray()
    shares = np.log1p(stories["en"][[3]].toarray()[0])
    called = shares @ table
    expected = 0.5 * topics + 0.5 * called / called.sum()
    found = model.predict_terms(given, in_view="de", top=1000, trust=1.0)[0]
    np.testing.assert_allclose(found.probabilities, expected[found.columns], rtol=1e-4)
    assert found.probabilities.sum() == pytest.approx(1, abs=1e-4)
    # the same for a known document; a mixture has no terms
    known = model.predict_terms(Doc("d3", view="en"), in_view="de", top=1000)
    mixture = model.predict_terms(model.transform(given)[0], in_view="de", top=1000)
    words = dict(zip(mixture.columns, mixture.probabilities, strict=True))
    np.testing.assert_allclose(list(words.values()), topics[list(words)], rtol=1e-4)
    assert set(known.columns) >= set(np.flatnonzero(called))
    pair = model.search_.pairs["de", "en"]
    weights = pair.weights * [1, 0, 1, 1]  # translations that find nothing are not asked
    model.search_.pairs["de", "en"] = replace(pair, weights=weights)
    again = model.predict_terms(given, in_view="de", top=1000, trust=1.0)[0]
    np.testing.assert_allclose(again.probabilities, topics[again.columns], rtol=1e-4)
