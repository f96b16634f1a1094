"""The exact search against loops over all pairs."""

import numpy as np
import pytest

from coview.kernels.search import keep_best, prepare_rows, search_one
from coview.metrics import similarity
from coview.retrieval import exact
from coview.retrieval.similarity import METRICS, contributions, prepare_queries
from tests.retrieval import naive


def mixtures(rng, n, topics, dtype=np.float32):
    """Mixtures with zeros, which real ones have."""
    rows = rng.dirichlet(np.full(topics, 0.3), n)
    rows[rows < 0.01] = 0
    return (rows / rows.sum(axis=1, keepdims=True)).astype(dtype)


def centers_of(queries, gallery):
    return queries.mean(axis=0), gallery.mean(axis=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_queries", [1, 5])
@pytest.mark.parametrize("metric", METRICS)
def test_answers_are_those_of_loops_over_all_pairs(rng, metric, n_queries, dtype):
    queries, gallery = mixtures(rng, n_queries, 9), mixtures(rng, 60, 9, dtype)
    own, center = centers_of(mixtures(rng, 30, 9), gallery)
    prepared = prepare_queries(metric, queries, own, center)
    scores, rows = exact.nearest(gallery, np.arange(60), prepared, 7)
    for i, query in enumerate(queries.astype(float)):
        expected, values = naive.best(
            metric, query, gallery.astype(float), 7, query_center=own, center=center
        )
        assert rows[i].tolist() == expected
        np.testing.assert_allclose(scores[i], values, rtol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_similarity_of_the_metrics_is_that_of_loops(rng, metric):
    queries, gallery = mixtures(rng, 3, 6, float), mixtures(rng, 5, 6, float)
    own, center = centers_of(queries, gallery)
    expected = [
        [naive.score(metric, q, g, query_center=own, center=center) for g in gallery]
        for q in queries
    ]
    np.testing.assert_allclose(similarity(queries, gallery, metric=metric), expected, atol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n_queries", [1, 4])
def test_equal_scores_come_in_the_order_of_the_documents(rng, metric, n_queries):
    few = mixtures(rng, 3, 8)
    gallery = np.tile(few, (20, 1))  # each mixture twenty times
    zeros = np.zeros(8)
    prepared = prepare_queries(
        metric, np.tile(few[:1], (n_queries, 1)), zeros, zeros.astype(np.float32)
    )
    _, rows = exact.nearest(gallery, np.arange(60), prepared, 20)
    for found in rows:
        assert found.tolist() == list(range(0, 60, 3))


@pytest.mark.parametrize("metric", METRICS)
def test_blocks_batches_and_threads_change_no_bit(rng, metric, monkeypatch):
    queries, gallery = mixtures(rng, 11, 30), mixtures(rng, 500, 30)
    gallery[100:200] = gallery[:100]  # ties across blocks
    prepared = prepare_queries(metric, queries, *centers_of(queries, gallery))
    once = exact.nearest(gallery, np.arange(500), prepared, 12)
    monkeypatch.setattr(exact, "TASK", 37)
    monkeypatch.setattr(exact, "BLOCK", 8)
    monkeypatch.setattr(exact, "BATCH", 4)
    for n_jobs in (1, 3):
        again = exact.nearest(gallery, np.arange(500), prepared, 12, n_jobs)
        for a, b in zip(once, again, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("metric", METRICS)
def test_one_query_has_the_bits_of_the_same_query_among_many(rng, metric):
    queries, gallery = mixtures(rng, 6, 20), mixtures(rng, 300, 20)
    prepared = prepare_queries(metric, queries, *centers_of(queries, gallery))
    scores, rows = exact.nearest(gallery, np.arange(300), prepared, 9)
    for i in range(6):
        one = exact.nearest(gallery, np.arange(300), prepared[i : i + 1], 9)
        np.testing.assert_array_equal(one[0][0], scores[i])
        np.testing.assert_array_equal(one[1][0], rows[i])


@pytest.mark.parametrize("n_queries", [1, 4])
def test_rows_that_are_left_out_are_never_found(rng, n_queries):
    queries, gallery = mixtures(rng, n_queries, 5), mixtures(rng, 40, 5)
    rows = np.arange(1, 40, 3)
    prepared = prepare_queries("hellinger", queries, np.zeros(5), np.zeros(5, np.float32))
    _, found = exact.nearest(gallery, rows, prepared, 5)
    for query, answer in zip(queries, found, strict=True):
        assert answer.tolist() == naive.best("hellinger", query, gallery, 5, rows)[0]


def test_more_answers_than_documents_are_all_of_them(rng):
    gallery = mixtures(rng, 6, 4)
    prepared = prepare_queries("cosine", gallery[:1], np.zeros(4), np.zeros(4, np.float32))
    scores, rows = exact.nearest(gallery, np.arange(6), prepared, 100)
    assert sorted(rows[0].tolist()) == list(range(6))
    assert np.isfinite(scores).all()


def test_a_mixture_at_the_center_correlates_with_nothing(rng):
    gallery = np.array([[0.25, 0.75], [0.5, 0.5]], np.float32)
    center = gallery[0]
    prepared = prepare_queries("correlation", gallery[1:], center.astype(float), center)
    scores, rows = exact.nearest(gallery, np.arange(2), prepared, 2)
    assert scores[0, rows[0] == 0] == 0


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_rough_score_is_never_too_low_by_more_than_its_bound(rng, metric, dtype):
    queries, gallery = mixtures(rng, 8, 200), mixtures(rng, 100, 200, dtype)
    prepared = prepare_queries(metric, queries, *centers_of(queries, gallery))
    vectors = np.empty((100, 200), np.float32)
    prepare_rows(prepared.form, gallery, np.arange(100), prepared.center, vectors)
    rough = prepared.rough.astype(np.float32) @ vectors.T
    scores, rows = exact.nearest(gallery, np.arange(100), prepared, 100)
    exact_scores = np.empty_like(scores)
    np.put_along_axis(exact_scores, rows, scores, axis=1)
    assert (rough >= exact_scores - prepared.rough_error).all()
    if metric != "jensen-shannon":  # there it is a bound, not an approximation
        assert (rough <= exact_scores + prepared.rough_error).all()


@pytest.mark.parametrize("metric", METRICS)
def test_contributions_of_the_topics_sum_to_the_score(rng, metric):
    query, gallery = mixtures(rng, 1, 12), mixtures(rng, 5, 12)
    prepared = prepare_queries(metric, query, *centers_of(mixtures(rng, 9, 12), gallery))
    scores, rows = exact.nearest(gallery, np.arange(5), prepared, 5)
    for score, row in zip(scores[0], rows[0], strict=True):
        assert contributions(prepared, gallery[row]).sum() == pytest.approx(score, abs=1e-12)


def test_kernels_do_the_same_without_the_compiler(rng):
    queries, gallery = mixtures(rng, 2, 5), mixtures(rng, 30, 5)
    rows, center = np.arange(30), gallery.mean(axis=0)
    for metric in METRICS:
        prepared = prepare_queries(metric, queries, center.astype(float), center)
        expected = exact.nearest(gallery, rows, prepared, 4)
        heaps = exact.empty_heaps(2, 4)
        vectors = np.empty((30, 5), np.float32)
        prepare_rows.py_func(prepared.form, gallery, rows, prepared.center, vectors)
        rough = prepared.rough.astype(np.float32) @ vectors.T
        arguments = gallery, rows, prepared.exact, prepared.center, prepared.rough_error
        keep_best.py_func(prepared.form, rough, *arguments, *heaps)
        best = exact.merge(heaps, exact.empty_heaps(2, 0), 4)
        np.testing.assert_array_equal(best[1], expected[1])
        alone = exact.empty_heaps(1, 4)
        search_one.py_func(
            prepared.form,
            gallery,
            rows,
            prepared.exact[0],
            prepared.rough[0].astype(np.float32),
            prepared.center,
            prepared.rough_error,
            alone[0][0],
            alone[1][0],
        )
        one = exact.merge(alone, exact.empty_heaps(1, 0), 4)
        np.testing.assert_array_equal(one[1][0], expected[1][0])
