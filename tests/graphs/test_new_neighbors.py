"""The neighbors of new documents against brute force, and what is kept to find them."""

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from coview.graphs import new_neighbors
from coview.graphs.neighbors import nearest_pairs, scaled_points
from coview.graphs.new_neighbors import (
    NeighborSearch,
    neighbor_radii,
    pack_points,
    unpack_points,
)
from coview.views.checks import DataWarning
from tests.graphs.test_neighbors import KINDS, points_of
from tests.reference import ltm


def search_of(points, p):
    pairs = nearest_pairs(scaled_points(sp.csr_array(points)), p)
    return NeighborSearch(sp.csr_array(points), neighbor_radii(pairs, len(points), p), p)


def some_points(kind, rng, n=50):
    """Training points, and new ones: copies, others, far ones, and one without a feature."""
    points = np.abs(points_of(kind, rng, n + 20))
    new = np.vstack([points[n:], points[:10], 3 * points[:3], np.zeros((1, points.shape[1]))])
    return points[:n], new


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("p", [1, 2, 5, 49, 80])
def test_new_neighbors_are_those_of_brute_force(rng, kind, p):
    points, new = some_points(kind, rng)
    found = search_of(points, p).edges(sp.csr_array(new))
    np.testing.assert_array_equal(found.toarray(), ltm.new_neighbors(points, new, p))
    assert found.has_sorted_indices


@pytest.mark.parametrize("n", [1, 2, 3])
def test_so_they_are_with_few_documents(rng, n):
    points, new = some_points("general", rng, n)
    found = search_of(points, 5).edges(sp.csr_array(new))
    np.testing.assert_array_equal(found.toarray(), ltm.new_neighbors(points, new, 5))


@pytest.mark.parametrize("kind", KINDS)
def test_each_document_finds_its_neighbors_alone(rng, kind, monkeypatch):
    points, new = some_points(kind, rng)
    search = search_of(points, 3)
    whole = search.edges(sp.csr_array(new)).toarray()
    alone = np.vstack([search.edges(sp.csr_array(row[None])).toarray() for row in new])
    np.testing.assert_array_equal(alone, whole)
    monkeypatch.setattr(new_neighbors, "BUFFER", 8 * 50 * 4)  # blocks of four
    with threadpool_limits(1):
        np.testing.assert_array_equal(search.edges(sp.csr_array(new)).toarray(), whole)


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_the_scale_does_not_matter(rng, scale):
    points, new = some_points("general", rng)
    expected = search_of(points, 3).edges(sp.csr_array(new)).toarray()
    found = search_of(points * scale, 3).edges(sp.csr_array(new * scale)).toarray()
    np.testing.assert_array_equal(found, expected)


def test_sparse_terms_are_searched_as_dense_ones(rng, monkeypatch):
    points = rng.poisson(0.05, (120, 300)).astype(float)
    new = rng.poisson(0.05, (30, 300)).astype(float)
    mixed = search_of(points, 4)
    assert 0 < mixed.common.sum() < 300 or not mixed.common.any()
    np.testing.assert_array_equal(
        mixed.edges(sp.csr_array(new)).toarray(), ltm.new_neighbors(points, new, 4)
    )


def test_no_new_document_has_no_edge(rng):
    assert search_of(rng.random((9, 3)), 2).edges(sp.csr_array((0, 3))).shape == (0, 9)


def test_a_search_that_takes_minutes_is_announced(rng, monkeypatch):
    search = search_of(rng.random((9, 3)), 2)
    search.warn_if_slow(10, "wait")
    monkeypatch.setattr(new_neighbors, "MAX_WORK", 10.0)
    with pytest.warns(DataWarning, match="10 new documents with 9 training documents .*; wait"):
        search.warn_if_slow(10, "wait")


# -- what is kept ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("density", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("values", ["counts", "many", "weights"])
def test_points_are_kept_exactly(rng, dtype, density, values):
    matrix = (rng.random((30, 12)) < density) * rng.random((30, 12))
    matrix = {"counts": np.ceil(3 * matrix), "many": np.ceil(900 * matrix), "weights": matrix}[
        values
    ]
    docs = np.flatnonzero(rng.random(30) < 0.7)
    matrix[np.setdiff1d(np.arange(30), docs)] = 0
    matrix = sp.csr_array(matrix.astype(dtype))
    again = unpack_points(pack_points(matrix, docs, np.zeros(len(docs)), 3))
    assert again.dtype == matrix.dtype
    assert again.shape == matrix.shape
    np.testing.assert_array_equal(again.toarray(), matrix.toarray())
    np.testing.assert_array_equal(again.indptr, matrix.indptr)


@pytest.mark.parametrize(
    ("width", "largest", "each"),
    [(1000, 200, 3), (1000, 60_000, 4), (70_000, 200, 5), (70_000, 0.5, 8)],
)
def test_points_take_few_bytes(rng, width, largest, each):
    matrix = sp.random_array((200, width), density=0.05, rng=rng, format="csr", dtype=np.float32)
    matrix.data[:] = largest if largest < 1 else rng.integers(1, largest + 1, matrix.nnz)
    if largest >= 1:
        matrix.data[0] = largest
    packed = pack_points(matrix, np.arange(200), np.zeros(200), 5)
    arrays = [packed[name].nbytes for name in ("values", "indices")]
    assert sum(arrays) == each * matrix.nnz


def test_dense_points_need_no_indices(rng):
    packed = pack_points(
        sp.csr_array(rng.random((9, 5)).astype("f4")), np.arange(9), np.zeros(9), 5
    )
    assert packed["values"].nbytes == 4 * 45
    assert "indices" not in packed


def test_what_is_kept_is_no_part_of_the_data(rng):
    matrix = sp.csr_array(rng.random((9, 5)) * (rng.random((9, 5)) < 0.3))
    packed = pack_points(matrix, np.arange(9), np.zeros(9), 5)
    assert not np.shares_memory(packed["values"], matrix.data)


def test_damaged_points_are_refused():
    matrix = sp.csr_array(np.eye(4))
    packed = pack_points(matrix, np.arange(4), np.zeros(4), 1)
    packed["indices"] = packed["indices"] + 1
    with pytest.raises(ValueError, match="indices"):
        unpack_points(packed)
