"""The approximate index against the exact search."""

import numpy as np
import pytest

from coview.retrieval import approximate, exact
from coview.retrieval.similarity import METRICS, prepare_queries


def clustered(rng, n, topics=20, clusters=40):
    centers = np.random.default_rng(1).dirichlet(np.full(topics, 0.1), clusters)
    concentration = 30 * centers[rng.integers(clusters, size=n)] + 0.05
    rows = rng.standard_gamma(concentration)
    return (rows / rows.sum(axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def gallery():
    return clustered(np.random.default_rng(0), 3000)


def built(metric, gallery, n_jobs=None, seed=0):
    """The lists, the vectors in their order, that order, and queries."""
    queries = clustered(np.random.default_rng(2), 50)
    prepared = prepare_queries(metric, queries, queries.mean(axis=0), gallery.mean(axis=0))
    rows = np.arange(len(gallery))
    made, order = approximate.build_lists(
        gallery, rows, prepared.form, prepared.center, seed, n_jobs
    )
    return made, gallery[order], order, prepared


@pytest.mark.parametrize("metric", METRICS)
def test_a_tenth_of_the_lists_has_nearly_all_answers(gallery, metric):
    made, vectors, order, prepared = built(metric, gallery)
    _, true = exact.nearest(gallery, np.arange(3000), prepared, 10)
    _, rows = approximate.nearest_in_lists(made, vectors, prepared, 10, 0.1)
    hits = [len(set(a) & set(b)) for a, b in zip(true, order[rows], strict=True)]
    assert np.mean(hits) > 9


@pytest.mark.parametrize("n_queries", [1, 50])
def test_all_lists_give_the_exact_answer(gallery, n_queries):
    made, vectors, order, prepared = built("cosine", gallery)
    expected = exact.nearest(gallery, np.arange(3000), prepared[:n_queries], 10)
    scores, rows = approximate.nearest_in_lists(made, vectors, prepared[:n_queries], 10, 1.0)
    np.testing.assert_array_equal(scores, expected[0])
    np.testing.assert_array_equal(order[rows], expected[1])


def test_one_query_has_the_answers_it_has_among_many(gallery):
    made, vectors, _, prepared = built("hellinger", gallery)
    many = approximate.nearest_in_lists(made, vectors, prepared, 10, 0.05)
    for i in range(5):
        one = approximate.nearest_in_lists(made, vectors, prepared[i : i + 1], 10, 0.05)
        np.testing.assert_array_equal(one[0][0], many[0][i])


def test_every_document_is_in_one_list(gallery):
    made, _, order, _ = built("hellinger", gallery)
    assert sorted(order.tolist()) == list(range(3000))
    assert made.ends[-1] == 3000
    assert (np.diff(made.ends) >= 0).all()


def test_the_seed_fixes_the_lists_for_any_number_of_threads(gallery):
    one, *_, _ = built("correlation", gallery, n_jobs=1)
    three, *_, _ = built("correlation", gallery, n_jobs=3)
    other, *_, _ = built("correlation", gallery, seed=1)
    np.testing.assert_array_equal(one.centers, three.centers)
    np.testing.assert_array_equal(one.ends, three.ends)
    assert not np.array_equal(one.centers, other.centers)


def test_lists_are_added_until_there_are_enough_answers(gallery):
    made, vectors, _, prepared = built("hellinger", gallery)
    scores, rows = approximate.nearest_in_lists(made, vectors, prepared[:2], 2500, 0.0)
    assert scores.shape == (2, 2500)
    assert np.isfinite(scores).all()
    assert len(set(rows[0])) == 2500


def test_equal_documents_make_lists_too():
    gallery, zeros = np.full((50, 4), 0.25, np.float32), np.zeros(4, np.float32)
    prepared = prepare_queries("hellinger", gallery[:1], zeros, zeros)
    made, _ = approximate.build_lists(gallery, np.arange(50), prepared.form, zeros, 0)
    scores, _ = approximate.nearest_in_lists(made, gallery, prepared, 5, 0.1)
    np.testing.assert_allclose(scores, 1.0)
