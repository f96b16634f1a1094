"""Neighbor graphs against brute force in every corner."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from coview.graphs import neighbors as graphs
from coview.graphs.neighbors import knn_graph
from tests.reference import ltm


def points_of(kind, rng, n=50, d=4):
    """Points in general position, with many ties, with duplicates, or sparse."""
    points = rng.normal(size=(n, d))
    return {
        "general": points,
        "counts": rng.integers(0, 3, (n, d)).astype(float),
        "duplicates": points[rng.integers(0, n // 4, n)],
        "few": np.repeat(points[:2], [n - 3, 3], axis=0),  # nearly all the same
        "halves": rng.integers(0, 5, (n, d)) / 2,
        "sparse": points * (rng.random((n, d)) < 0.3),
    }[kind]


KINDS = ["general", "counts", "duplicates", "few", "halves", "sparse"]
kinds = pytest.mark.parametrize("kind", KINDS)


def same(graph, expected):
    np.testing.assert_array_equal(graph.toarray(), expected)


# -- all pairs ------------------------------------------------------------------------------------


@kinds
@pytest.mark.parametrize("p", [1, 2, 5, 49, 80])
def test_neighbors_are_those_of_brute_force(rng, kind, p):
    points = points_of(kind, rng)
    same(knn_graph(sp.csr_array(points), p), ltm.knn_graph(points, p))


@kinds
@pytest.mark.parametrize("n", [1, 2, 3, 6, 7])
def test_so_they_are_with_few_documents(rng, kind, n):
    points = points_of(kind, rng)[-n:]
    same(knn_graph(points, 5), ltm.knn_graph(points, 5))


@kinds
def test_documents_that_lack_the_view_have_no_edge(rng, kind):
    points, present = points_of(kind, rng), rng.random(50) < 0.6
    same(knn_graph(points, 3, present=present), ltm.knn_graph(points, 3, present))


@pytest.mark.parametrize("present", [0, 1])
def test_so_it_is_where_all_but_one_or_none_have_it(rng, present):
    mask = np.arange(6) < present
    assert knn_graph(rng.random((6, 3)), 2, present=mask).nnz == 0


def test_more_duplicates_than_neighbors_are_joined_by_index():
    points = np.zeros((2000, 3))
    graph = knn_graph(points + 1.0, 5)
    assert graph[[1000]].indices.tolist() == [0, 1, 2, 3, 4]
    assert graph[[2]].indices[:5].tolist() == [0, 1, 3, 4, 5]  # not itself, but one more


def test_a_present_document_without_a_count_is_a_point_like_any_other():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0], [9.0, 2.0]])
    same(knn_graph(points, 1), ltm.knn_graph(points, 1))


@kinds
def test_sparse_dense_unsorted_and_padded_input_are_the_same(rng, kind):
    points = points_of(kind, rng)
    csr = sp.csr_array(points)
    expected = knn_graph(points, 3).toarray()
    reverse = np.concatenate([np.arange(b - 1, a - 1, -1) for a, b in pairwise(csr.indptr)])
    unsorted = sp.csr_array((csr.data[reverse], csr.indices[reverse], csr.indptr), shape=csr.shape)
    explicit = sp.csr_array(np.hstack([np.ones((50, 1)), points]))
    explicit.data[explicit.indices == 0] = 0
    for matrix in (csr, csr.tocsc(), unsorted, explicit):
        same(knn_graph(matrix, 3), expected)


@kinds
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_neither_block_size_nor_the_choice_of_product_matters(rng, monkeypatch, kind, metric):
    points = points_of(kind, rng, n=150)
    expected = knn_graph(points, 4, metric=metric).toarray()
    for buffer, chunk, cost in [(1, 1, 1e9), (20_000, 30, 0.0), (1 << 25, 1 << 20, 20.0)]:
        monkeypatch.setattr(graphs, "BUFFER", buffer)
        monkeypatch.setattr(graphs, "CHUNK", chunk)
        monkeypatch.setattr(graphs, "SPARSE_COST", cost)
        same(knn_graph(points, 4, metric=metric), expected)


def test_the_number_of_threads_does_not_matter(rng):
    points = np.repeat(rng.normal(size=(300, 40)), 3, axis=0) + 100.0  # long, and close together
    with threadpool_limits(1):
        expected = knn_graph(points, 5)
    with threadpool_limits(2):
        assert (knn_graph(points, 5) != expected).nnz == 0


def test_single_precision_is_used_where_it_suffices_and_changes_nothing(rng, monkeypatch):
    points = rng.normal(size=(200, 5))
    used, blocks = [], graphs._Blocks
    monkeypatch.setattr(graphs, "_Blocks", lambda *args: used.append(args[2:]) or blocks(*args))
    same(knn_graph(points, 5), ltm.knn_graph(points, 5))
    assert used == [(), (np.float32,)]
    used.clear()
    # differences of the size of its rounding errors
    far = 1.0 + 1e-5 * rng.normal(size=(200, 5))
    same(knn_graph(far, 5), ltm.knn_graph(far, 5))
    assert used == [()]


def test_points_far_from_the_origin_are_told_apart(rng):
    # |b|^2 - 2ab has no digit left of these distances
    offsets = rng.permutation(60)[:, None] * 2.0**-20
    points = 1e5 + np.hstack([offsets, np.zeros((60, 3))])
    same(knn_graph(points, 2), ltm.knn_graph(points, 2))


def test_huge_and_tiny_numbers_neither_overflow_nor_vanish(rng):
    points = rng.normal(size=(30, 3))
    expected = knn_graph(points, 3)
    for scale in (2.0**600, 2.0**-600):
        assert (knn_graph(points * scale, 3) != expected).nnz == 0


def test_cosine_is_euclidean_at_length_one(rng):
    points = rng.random((40, 5))
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    same(
        knn_graph(points * rng.integers(1, 9, (40, 1)), 3, metric="cosine"), ltm.knn_graph(unit, 3)
    )


def test_the_graph_is_canonical_and_read_only(rng):
    graph = knn_graph(rng.random((30, 3)), 2)
    assert graph.has_canonical_format
    assert graph.indices.dtype == np.int32
    assert set(graph.data) == {1.0}
    assert graph.diagonal().sum() == 0
    with pytest.raises(ValueError, match="read-only"):
        graph.data[0] = 2


@pytest.mark.slow
@pytest.mark.parametrize("dense", [True, False])
def test_memory_is_linear_in_documents(rng, dense):
    n = 20_000
    points = rng.random((n, 4)) if dense else sp.random(n, 500, density=0.01, random_state=rng)
    points = sp.csr_array(points)
    tracemalloc.start()
    graph = knn_graph(points, 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert graph.nnz >= 5 * n
    assert peak < 8 * graphs.BUFFER < n * n / 1.4  # bytes: not even a bit mask of all pairs


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be an integer of at least 1"),
        ({"metric": "l1"}, "metric must be one of"),
        ({"method": "guess"}, "method must be one of"),
        ({"seed": "x"}, "seed must be an integer"),
        ({"seed": -1}, "seed must be an integer of at least 0"),
        ({"n_jobs": "x"}, "n_jobs must be"),
    ],
)
def test_wrong_options_are_refused(options, match):
    with pytest.raises(ValueError, match=match):
        knn_graph(np.eye(3), **options)
