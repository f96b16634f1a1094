"""What a page holds: the numbers of the report, rounded; and what it does with odd models."""

import numpy as np
import pytest

import coview
from coview import LinkPLSA, Views
from coview.datasets import make_views
from coview.explorer.arrays import rounded, sparse_mixtures, topics_of_terms
from coview.explorer.budget import Budget
from coview.explorer.container import Payload, compress, pack, unpack
from coview.explorer.explore import explorer_payload


def dense_mixtures(payload, name):
    indptr, topics = payload.arrays[f"{name}.indptr"], payload.arrays[f"{name}.topics"]
    found = np.zeros((len(indptr) - 1, payload.meta["n_topics"]))
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr.astype(int)))
    found[rows, topics] = (payload.arrays[f"{name}.values"] / 65535) ** 2
    return found


def quick(model, views):
    return model(3, init="random", max_iter=5, tol=0, random_state=0).fit(views)


@pytest.fixture(scope="module")
def small_views():
    return make_views(40, 3, {"text": 30, "image": 20}, random_state=0)


@pytest.fixture(scope="module")
def small_model(small_views):
    return LinkPLSA(3, init="random", max_iter=5, tol=0, random_state=0).fit(small_views)


def test_a_container_holds_what_was_packed():
    rng = np.random.default_rng(0)
    arrays = {
        "a.indptr": np.array([0, 3, 2, 2**32 - 1], np.uint32),
        "b.indices": rng.integers(0, 65536, 101).astype(np.uint16),
        "c": rng.normal(size=(3, 5)).astype(np.float32),
        "d": np.array([], np.uint8),
        "e": np.array([-5, 7], np.int32),
    }
    meta = {"title": "</script> \ud800 é\u2028", "list": [1, None]}
    data = pack(Payload(meta, arrays))
    found = unpack(data)
    assert found.meta == meta
    for name, array in arrays.items():
        assert found.arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(found.arrays[name], array)
    assert compress(data) == compress(data)
    with pytest.raises(ValueError, match="float64"):
        pack(Payload({}, {"x": np.zeros(2)}))


def test_mixtures_and_topics_are_those_of_the_report(news_model, news, news_payload):
    report = coview.report(news_model, news)
    np.testing.assert_allclose(dense_mixtures(news_payload, "theta"), report.mixtures, atol=1e-3)
    alone = np.nan_to_num(report.view_mixtures["de"])
    np.testing.assert_allclose(dense_mixtures(news_payload, "theta.1"), alone, atol=1e-3)
    scale = news_payload.arrays["phi.0.scale"]
    topics = scale * (news_payload.arrays["phi.0.values"] / 65535.0) ** 2
    np.testing.assert_allclose(topics, news_model.components_["en"], atol=1e-6)
    assert news_payload.arrays["present"].tolist() == news.present.tolist()
    lacks = np.flatnonzero(~news.present[:, 1])
    assert len(lacks)
    assert np.isnan(news_payload.arrays["disagreement.beyond"][lacks]).all()


def test_small_probabilities_keep_their_digits():
    topics = np.array([[0.05, 1e-6, 0.0], [0.01, 3e-5, 1e-12]])
    found = topics_of_terms("phi", topics, np.array([0.02, 1e-5, 1e-5]))
    values = found["phi.scale"] * (found["phi.values"] / 65535) ** 2
    assert values[0, 1] == pytest.approx(1e-6, rel=1e-3)
    assert values[1, 2] == 0  # says nothing of a topic
    found = sparse_mixtures("theta", np.array([[0.9899, 1e-2, 1e-4]]), 1e-3)
    assert found["theta.topics"].tolist() == [0, 1]


def test_rounded_numbers_are_close_and_not_known_ones_stay():
    values = np.array([0.1, -3.7e-5, 0.0, np.nan, np.inf, 1e30])
    np.testing.assert_allclose(rounded(values)[[0, 1, 2, 5]], values[[0, 1, 2, 5]], rtol=2e-4)
    assert np.isnan(rounded(values)[3])
    assert np.isinf(rounded(values)[4])


def test_labels_texts_and_what_topics_are_called(news_payload, news):
    docs = news_payload.meta["docs"]
    assert docs["label_names"][docs["labels"][0]] == news.named_labels[0] == "weather"
    assert docs["snippets"]["en"][0].startswith("The heat reaches its peak")
    row = int(np.flatnonzero(~news.present[:, 1])[0])
    assert docs["snippets"]["de"][row] is None
    assert news_payload.meta["views"][0]["kind"] == "text"
    assert news_payload.meta["views"][0]["lang"] == "en"
    assert news_payload.meta["search"]["complete"]


def room_for(counts, evidence):
    """Return a budget for counts beside the tables and directions of the evidence."""
    tables = sum(table.nnz for table in evidence.tables.values())
    return counts + tables + sum(terms.directions.size for terms in evidence.views.values())


def test_words_and_texts_are_left_out_of_a_small_page(news_model, news, news_payload, news_texts):
    budget = Budget(counts=room_for(1000, news_payload.evidence), characters=12_000)
    payload = explorer_payload(news_model, news, texts=news_texts, budget=budget)
    kept = np.diff(payload.arrays["counts.0.indptr"])
    assert kept.max() == 4
    assert sum(payload.arrays[f"counts.{v}.indptr"][-1] for v in (0, 1)) <= 1000
    assert max(len(t) for t in payload.meta["docs"]["snippets"]["en"] if t) <= 50
    assert "4 most telling terms" in payload.meta["notes"][0]
    assert not payload.meta["search"]["complete"]
    none = explorer_payload(news_model, news, texts=news_texts, budget=Budget(characters=100))
    assert none.meta["docs"]["snippets"] == {}
    assert none.meta["notes"] == ["The texts are left out, to keep the page small."]


def test_small_shares_are_left_out_of_a_small_page(news_model, news):
    payload = explorer_payload(news_model, news, budget=Budget(shares=420))
    found = dense_mixtures(payload, "theta")
    np.testing.assert_allclose(found, news_model.doc_topic_, atol=0.03)
    assert (found.sum(axis=1) > 0.5).all()  # the largest share of a document stays
    assert set(payload.arrays["theta.values"] % 32) == {0, 31}  # every 32nd level, and the last
    assert payload.meta["notes"][0].startswith("Shares of topics below")
    assert payload.meta["search"]["complete"]  # no score depends on them


def test_the_terms_that_stay_weigh_most(news_model, news, news_payload):
    budget = Budget(counts=room_for(500, news_payload.evidence))
    payload = explorer_payload(news_model, news, budget=budget)
    counts = news_model.as_counts(news)["en"]
    weights = payload.evidence.views["en"].weighted(counts)[[0]].toarray()[0]
    kept = payload.arrays["counts.0.indices"][: payload.arrays["counts.0.indptr"][1]]
    assert len(kept) == 2
    assert sorted(weights[kept]) == sorted(np.sort(weights)[-2:])


# -- odd models and views ------------------------------------------------------------------------


def test_views_without_names_have_numbers(small_model, small_views):
    unnamed = Views(dict(small_views.matrices))
    model = quick(LinkPLSA, unnamed)
    payload = explorer_payload(model, unnamed)
    view = payload.meta["views"][0]
    assert view["terms"][:2] == ["0", "1"]
    assert not view["named"]
    assert view["recipe"] is None
    assert "numbers" in view["no_recipe"]
    assert payload.meta["docs"]["ids"] is None


def test_a_document_without_any_view_has_no_place(small_model, small_views):
    matrices = {n: m.toarray() for n, m in small_views.matrices.items()}
    for matrix in matrices.values():
        matrix[7] = 0
    views = Views(matrices, features=small_views.features)
    payload = explorer_payload(small_model, views)
    assert dense_mixtures(payload, "theta")[7].sum() == 0
    assert payload.arrays["present"][7].tolist() == [0, 0]
    assert dense_mixtures(payload, "theta").sum() == pytest.approx(39, abs=0.01)


def test_documents_with_one_of_the_views(small_model, small_views):
    payload = explorer_payload(small_model, small_views.select("image"))
    assert "counts.0.indptr" not in payload.arrays
    assert payload.meta["search"]["answer"] == [1]
    assert payload.meta["views"][0]["coverage"] == 0.0


def test_views_of_another_model_are_refused(small_model, news):
    with pytest.raises(ValueError, match="view"):
        explorer_payload(small_model, news)
    report = coview.report(small_model, make_views(40, 3, {"text": 30, "image": 20}))
    other = make_views(20, 3, {"text": 30, "image": 20})
    with pytest.raises(ValueError, match="report is of 40 documents"):
        explorer_payload(small_model, other, report=report)


def test_texts_that_fit_no_document_are_refused(small_model, small_views, news_model, news):
    with pytest.raises(ValueError, match="texts are of 'other'"):
        explorer_payload(small_model, small_views, texts={"other": [""] * 40})
    with pytest.raises(ValueError, match="3 texts of view 'text' for 40 documents"):
        explorer_payload(small_model, small_views, texts={"text": ["a", "b", None]})
    with pytest.raises(ValueError, match="2 titles for 40 documents"):
        explorer_payload(small_model, small_views, titles=["a", "b"])
    with pytest.raises(TypeError, match="texts must be a dict"):
        explorer_payload(small_model, small_views, texts=["a"])


@pytest.mark.filterwarnings("ignore:.*topics:coview.views.checks.DataWarning")
def test_one_topic_and_many(small_views, page_answers):
    for n_topics in (1, 60):
        model = LinkPLSA(n_topics, init="random", max_iter=2, tol=0, ensemble=0.0, random_state=0)
        payload = explorer_payload(model.fit(small_views), small_views)
        assert payload.arrays["topic_xy"].shape == (n_topics, 2)
        assert np.isfinite(payload.arrays["topic_xy"]).all()
        (found,) = page_answers(payload, [{"ask": 0, "query": {"row": 0}, "answer": 1}])
        assert 0 <= found["scores"][0] <= 1


def test_measurements_are_asked_with_documents():
    rng = np.random.default_rng(0)
    views = Views({"numbers": rng.normal(size=(30, 4)), "words": rng.poisson(1, (30, 9))})
    payload = explorer_payload(quick(LinkPLSA, views), views)
    assert payload.meta["views"][0]["kind"] == "numbers"
    assert payload.meta["views"][0]["recipe"] is None
    assert payload.arrays["counts.0.values"].dtype == np.float32


def test_a_page_searches_with_what_the_model_keeps(small_views):
    model = quick(LinkPLSA, small_views)
    learned = explorer_payload(model, small_views)
    kept = explorer_payload(model.keep_search(small_views), small_views[:20])
    assert kept.evidence is model.search_
    for name in ("damped_share.0", "table.0.1.values", "names.0.1.indices"):
        np.testing.assert_array_equal(kept.arrays[name], learned.arrays[name])
    assert (
        kept.meta["search"]["weights"]["0.1"]
        == model.search_.pairs["text", "image"].weights.tolist()
    )
    assert "directions.0" not in kept.arrays  # too few documents to learn what a map is worth
