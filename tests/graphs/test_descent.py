"""The approximate search: nearly all neighbors, the same for any number of threads."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview.graphs import neighbors as graphs
from coview.graphs.descent import near_points
from coview.graphs.neighbors import knn_graph
from tests.graphs.test_neighbors import KINDS, points_of, same


def text_like(rng, n_docs, n_terms=2000, n_topics=12):
    """Documents of some 60 words, from topics over a vocabulary as skewed as words are."""
    share = 1 / np.arange(1, n_terms + 1)
    p_w_z = rng.dirichlet(300 * share / share.sum(), n_topics)
    p_w_d = rng.dirichlet(np.full(n_topics, 0.2), n_docs) @ p_w_z
    p_w_d /= p_w_d.sum(axis=1, keepdims=True)
    return sp.csr_array(rng.multinomial(1 + rng.poisson(60, n_docs), p_w_d).astype(float))


def found_share(found, exact):
    return found.multiply(exact).nnz / exact.nnz


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_nine_neighbors_in_ten_of_texts_are_found(rng, metric):
    text = text_like(rng, 2000)
    exact = knn_graph(text, 5, metric=metric, method="exact")
    found = knn_graph(text, 5, metric=metric, method="approximate", n_jobs=1)
    assert 1 > found_share(found, exact) > 0.9  # not all pairs
    assert (found != found.T).nnz == 0
    assert (found.sum(axis=1) >= 5).all()


def test_so_are_those_of_dense_points_with_values_below_zero(rng):
    centers = 3 * rng.normal(size=(20, 30))
    points = centers[rng.integers(20, size=2000)] + rng.normal(size=(2000, 30))
    exact = knn_graph(points, 4, method="exact")
    assert found_share(knn_graph(points, 4, method="approximate"), exact) > 0.9


@pytest.mark.parametrize("dense", [True, False])
def test_the_number_of_threads_does_not_matter_but_the_seed_does(rng, dense):
    points = rng.normal(size=(1200, 8)) if dense else text_like(rng, 1200)
    one, many, other = (
        knn_graph(points, 5, method="approximate", seed=seed, n_jobs=n_jobs)
        for seed, n_jobs in [(3, 1), (3, 4), (4, 1)]
    )
    assert (one != many).nnz == 0
    assert (one != other).nnz > 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, 6, 35])
def test_few_points_are_all_compared(rng, kind, n):
    points = points_of(kind, rng)[-n:]
    same(knn_graph(points, 5, method="approximate"), knn_graph(points, 5, method="exact").toarray())


def test_documents_that_share_nothing_get_the_neighbors_that_all_pairs_give():
    points = sp.csr_array(np.eye(300))
    same(knn_graph(points, 3, method="approximate"), knn_graph(points, 3, method="exact").toarray())


def test_copies_and_a_document_without_a_count(rng):
    text = text_like(rng, 400)
    copies = sp.csr_array(sp.vstack([text, text[:50], sp.csr_array((1, text.shape[1]))]))
    exact = knn_graph(copies, 5, method="exact")
    found = knn_graph(copies, 5, method="approximate")
    assert found_share(found, exact) > 0.9
    assert all(found[[400 + i]].toarray()[0, i] for i in range(50))


def test_auto_compares_all_pairs_up_to_a_limit(rng, monkeypatch):
    calls = []

    def spy(points, *args, **options):
        calls.append(points.shape)
        return near_points(points, *args, **options)

    monkeypatch.setattr(graphs, "near_points", spy)
    points = rng.random((60, 3))
    knn_graph(points, 3)
    assert calls == []
    monkeypatch.setattr(graphs, "MAX_WORK", 1e4)
    knn_graph(points, 3)
    assert calls == [(60, 3)]
    knn_graph(points, 3, method="exact")
    assert len(calls) == 1
