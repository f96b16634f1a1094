"""The evidence of a search: its table, its parts, its weights, and its scores."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview import Doc, LinkPLSA, SearchIndex, Views, search
from coview.datasets import make_views
from coview.retrieval import learning, translation
from coview.retrieval.evidence import KINDS, Comparison, SearchEvidence
from coview.retrieval.learning import learn_evidence
from coview.retrieval.translation import cut_long, learn_table, with_topics
from tests.retrieval import naive_evidence as naive


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    return [sp.csr_array(rng.poisson(0.6, (40, n)).astype(np.float32)) for n in (12, 9)]


@pytest.fixture(scope="module")
def bilingual():
    """Documents of two languages: each word has one translation, and a name that both share."""
    rng = np.random.default_rng(0)
    n_words, n_docs = 60, 300
    meanings = [np.sort(rng.choice(n_words, 8, replace=False)) for _ in range(n_docs)]
    english = [" ".join(f"w{m:02d}e" for m in row) + f" name{row[0]}" for row in meanings]
    german = [" ".join(f"w{m:02d}d" for m in row) + f" name{row[0]}" for row in meanings]
    ids = [f"d{i}" for i in range(n_docs)]
    return Views.from_texts({"en": english, "de": german}, ids=ids, max_df=1.0, min_df=1)


def without(views, present):
    """The same documents, which lack some views."""
    matrices = {
        name: sp.csr_array(views[name].toarray() * present[:, [v]])
        for v, name in enumerate(views.names)
    }
    return Views(matrices, present=present, features=views.features, ids=views.ids)


@pytest.fixture(scope="module")
def bilingual_model(bilingual):
    return LinkPLSA(4, init="random", random_state=0, max_iter=20, tol=0).fit(bilingual)


# -- the table ------------------------------------------------------------------------------------


def test_the_table_is_that_of_naive_em(counts, monkeypatch):
    monkeypatch.setattr(translation, "FEWEST_DOCS", 1)
    asked, answered = counts
    found, likelihoods = learn_table(asked, answered, 1)
    expected = naive.table(
        *(m.toarray().tolist() for m in counts), translation.ITERATIONS, translation.NULL
    )
    # tables are kept with few bits, which the page has as well
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-2, atol=1e-5)
    assert np.all(np.diff(likelihoods) > 0)  # EM never makes the data less likely


def test_threads_change_no_bit_of_the_table(counts):
    one, three = (learn_table(*counts, n)[0] for n in (1, 3))
    assert (one != three).nnz == 0


def test_words_call_for_their_translations(bilingual, bilingual_model):
    evidence = learn_evidence(bilingual_model, bilingual_model.as_counts(bilingual))
    names = {v: list(bilingual_model.feature_names_[v]) for v in ("en", "de")}
    right = 0
    for m in range(60):
        row = evidence.tables["en", "de"][[names["en"].index(f"w{m:02d}e")]].toarray()[0]
        right += names["de"][row.argmax()] == f"w{m:02d}d"
    assert right >= 57


def test_rare_terms_call_for_what_their_topics_do(bilingual, bilingual_model):
    model = bilingual_model
    rows = model.as_counts(bilingual[:30])
    table = learn_table(rows["en"], rows["de"])[0]
    rare = np.flatnonzero((np.diff(table.indptr) == 0) & (model.term_counts_["en"] > 0))
    assert len(rare)
    full = with_topics(table, model, "en", "de")
    w = int(rare[0])
    p_z_w = model.components_["en"][:, w] * model.doc_topic_.mean(axis=0)
    p = (p_z_w / p_z_w.sum()) @ model.components_["de"]
    found = full[[w]].toarray()[0]
    assert np.count_nonzero(found) <= translation.KEPT
    np.testing.assert_allclose(found[found > 0], p[found > 0], rtol=1e-2)
    assert found.argmax() == p.argmax()


def test_long_documents_keep_their_rarest_terms():
    rng = np.random.default_rng(0)
    rows = sp.csr_array((rng.random((5, 600)) < 0.7).astype(np.float32))
    cut = cut_long(rows)
    assert np.diff(cut.indptr).max() == translation.LONGEST
    assert ((rows.toarray() > 0) >= (cut.toarray() > 0)).all()
    short = rows[:, :50]
    assert cut_long(short) is short


# -- the parts ------------------------------------------------------------------------------------


def test_parts_are_those_of_explicit_loops(bilingual, bilingual_model):
    model = bilingual_model
    counts = model.as_counts(bilingual)
    evidence = learn_evidence(model, counts)
    pair = evidence.pairs["en", "de"]
    every = SearchEvidence(
        evidence.views,
        evidence.tables,
        evidence.term_docs,
        {("en", "de"): learning.replace(pair, weights=np.array([1.0, 1.0, 1.0, 0.0]))},
    )
    comparison = Comparison(model, every)
    searched = comparison.searched("de", counts["de"][:6])
    asked = comparison.asked("en", counts["en"][[2]])[0]
    parts = comparison.parts(asked, "de", searched)
    query = counts["en"][[2]].toarray()[0].tolist()
    p = evidence.views["en"].shares.tolist()
    back = evidence.tables["de", "en"].toarray().tolist()
    same = np.zeros((len(back), len(query)))
    same[pair.names[1], pair.names[0]] = 1.0
    p_w_z = {v: model.components_[v].astype(float) for v in ("en", "de")}
    p_w = {v: (model.term_counts_[v] / model.term_counts_[v].sum()).tolist() for v in p_w_z}
    mine = naive.about_topics(query, (p_w_z["en"]).tolist(), p_w["en"])
    for d in range(6):
        document = counts["de"][[d]].toarray()[0].tolist()
        expected = [
            naive.called(query, document, p, same.tolist()),
            naive.called(query, document, p, back),
            np.dot(mine, naive.about_topics(document, p_w_z["de"].tolist(), p_w["de"])),
        ]
        np.testing.assert_allclose(parts[:3, d], expected, rtol=1e-4, atol=1e-6)


def test_scores_are_probabilities_of_all_documents(bilingual, bilingual_model):
    index = SearchIndex(bilingual_model, in_view="de", training_views=bilingual)
    found = index.query({"en": "w03e w11e"}, top=len(index))
    assert found.scores.sum() == pytest.approx(1.0)
    assert np.all(np.diff(found.scores) <= 0)


def test_documents_that_lack_a_view_take_no_part(bilingual, bilingual_model):
    present = np.ones((len(bilingual), 2), bool)
    present[::3, 1] = False
    gaps = without(bilingual, present)
    model = LinkPLSA(4, init="random", random_state=0, max_iter=20, tol=0).fit(gaps)
    evidence = learn_evidence(model, model.as_counts(gaps))
    both = np.flatnonzero(present.all(axis=1))
    table = learn_table(*(model.as_counts(gaps)[v][both] for v in ("en", "de")))[0]
    learned = np.diff(table.indptr) > 0
    assert (evidence.tables["en", "de"][learned] != table[learned]).nnz == 0
    index = SearchIndex(model, in_view="de", training_views=gaps)
    answers = index.query({"en": gaps[3:4]["en"]}, top=300)
    assert set(answers.positions) == set(both)


# -- what counts how much -------------------------------------------------------------------------


def test_translation_finds_the_other_view_of_documents_that_were_not_trained_on(bilingual):
    train, test = bilingual[:200], bilingual[200:]
    model = LinkPLSA(4, init="random", random_state=0, max_iter=20, tol=0).fit(train)
    unnamed = {v: model.as_counts(test)[v] for v in test.names}
    index = SearchIndex(model, in_view="de", views=test, training_views=train)
    positions, _ = index.query_many({"en": unnamed["en"]}, top=1)
    assert np.mean(positions[:, 0] == np.arange(100)) > 0.95


def test_unrelated_views_leave_the_say_to_nothing_that_is_not_there():
    # two views of documents whose terms have nothing to do with each other
    rng = np.random.default_rng(1)
    views = Views({v: rng.poisson(0.3, (300, 40)) for v in ("a", "b")})
    model = LinkPLSA(3, init="random", random_state=0, max_iter=10, tol=0).fit(views)
    pair = learn_evidence(model, model.as_counts(views)).pairs["a", "b"]
    assert pair.held_back == 60
    assert pair.ten < 0.5  # ten of sixty by chance, and topics have seen those that are held back
    scores = SearchIndex(model, in_view="b", training_views=views).query(Doc(0), top=5).scores
    assert scores[0] < 0.2


def test_scores_of_held_back_pairs_are_the_shares_that_are_right():
    views = make_views(1200, 8, [150, 120], doc_length=25, random_state=3)
    train, test = views[:700], views[700:]
    model = LinkPLSA(8, random_state=0, max_iter=40, tol=0).fit(train)
    index = SearchIndex(model, in_view="view_1", views=test, training_views=train)
    positions, scores = index.query_many(test.select("view_0"), top=10)
    right = positions == np.arange(500)[:, None]
    assert 0.65 < scores.sum() / right.sum() < 1.3
    sure = scores > np.quantile(scores, 0.9)
    assert right[sure].mean() > 2 * right[~sure].mean()


def test_weights_do_not_depend_on_threads(bilingual, bilingual_model):
    counts = bilingual_model.as_counts(bilingual)
    one, three = (learn_evidence(bilingual_model, counts, n_jobs=n) for n in (1, 3))
    for key, pair in one.pairs.items():
        np.testing.assert_array_equal(pair.weights, three.pairs[key].weights)
        np.testing.assert_array_equal(pair.mapping, three.pairs[key].mapping)


def test_few_documents_have_the_usual_weights(stories, model):
    evidence = learn_evidence(model, model.as_counts(stories))
    pair = evidence.pairs["en", "de"]
    assert pair.held_back == 0
    np.testing.assert_array_equal(pair.weights, learning.USUAL)


# -- as a user sees it ----------------------------------------------------------------------------


def test_reasons_name_the_words_and_what_they_call_for(bilingual, bilingual_model):
    kept = LinkPLSA(4, init="random", random_state=0, max_iter=20, tol=0).fit(bilingual)
    kept.keep_search(bilingual, titles=[f"title {i}" for i in range(len(bilingual))])
    query = {"en": "w03e w11e name3"}
    hit = search(kept, query, in_view="de", top=1, explain=True)[0]
    kinds = {reason.kind: reason for reason in hit.explanation}
    assert set(kinds) <= set(KINDS)
    called = {word: answers for word, answers, _ in kinds["translation"].calls}
    assert called["w03e"][0] == "w03d"
    assert "w03e → w03d" in str(kinds["translation"])
    assert hit.title == f"title {hit.position}"
    assert sum(reason.share for reason in hit.explanation) == pytest.approx(1.0)


def test_a_model_that_keeps_its_search_needs_no_documents(bilingual, tmp_path):
    import coview

    model = LinkPLSA(4, init="random", random_state=0, max_iter=20, tol=0).fit(bilingual)
    with_views = search(model, {"en": "w03e w11e"}, in_view="de", training_views=bilingual)
    by_topics = search(model, {"en": "w03e w11e"}, in_view="de")
    kept = search(model.keep_search(bilingual), {"en": "w03e w11e"}, in_view="de")
    assert kept.ids == with_views.ids != by_topics.ids
    np.testing.assert_array_equal(kept.scores, with_views.scores)
    model.save(tmp_path / "m.coview")
    again = coview.load(tmp_path / "m.coview")
    assert search(again, {"en": "w03e w11e"}, in_view="de") == kept
    assert again.translate("w03e", "en", "de")[0].term == "w03d"


def test_a_document_of_the_collection_asks_with_all_its_views(bilingual, bilingual_model):
    index = SearchIndex(bilingual_model, in_view="de", training_views=bilingual)
    found = index.query(Doc("d7"), top=3)
    assert "d7" not in found.ids
    itself = index.query(Doc("d7", include_itself=True), top=1)
    assert itself.ids == ["d7"]
    assert index.query(Doc("d7", view="en", include_itself=True), top=1).ids == ["d7"]


def test_all_views_together_find_documents_that_lack_the_query_view(bilingual):
    present = np.ones((len(bilingual), 2), bool)
    present[:100, 0] = False  # no English
    gaps = without(bilingual, present)
    model = LinkPLSA(4, init="random", random_state=0, max_iter=20, tol=0).fit(gaps)
    asked = {"en": bilingual[7:8]["en"]}
    found = SearchIndex(model, training_views=gaps).query(asked, top=3)
    assert "d7" in found.ids


def test_translations_say_what_is_wrong(bilingual, bilingual_model, stories):
    with pytest.raises(ValueError, match="keeps no translations"):
        bilingual_model.translate("w03e", "en", "de")
    model = LinkPLSA(4, init="random", random_state=0, max_iter=5, tol=0).fit(bilingual)
    model.keep_search(bilingual)
    with pytest.raises(ValueError, match=r"knows no term 'w99e'.*Similar"):
        model.translate("w99e", "en", "de")
    with pytest.raises(ValueError, match="another view than its own"):
        model.translate("w03e", "en", "en")
    with pytest.raises(ValueError, match="must be the documents that the model was fitted to"):
        model.keep_search(bilingual[:50])


@pytest.mark.parametrize("n_docs", [1, 2, 3])
def test_very_few_documents_are_searched_too(n_docs):
    views = Views({"a": np.eye(n_docs, 4) + 1, "b": np.eye(n_docs, 3) + 1})
    model = LinkPLSA(1, init="random", random_state=0, max_iter=3, tol=0).fit(views)
    model.keep_search(views)
    assert len(search(model, {"a": [1, 0, 0, 2]}, in_view="b")) == n_docs
