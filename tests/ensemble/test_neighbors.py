"""One search of nearest neighbors: new rows, rows among the points themselves, and ties."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview.ensemble import neighbors
from coview.ensemble.features import unit_rows
from coview.ensemble.neighbors import SAME, nearest_by_views, nearest_points
from coview.ensemble.spaces import neighbor_graph
from coview.kernels.nearest import largest_of_rows
from tests.ensemble.planted import blobs
from tests.reference import ensemble as naive

formats = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@formats
@types
def test_new_rows_find_what_brute_force_finds(rng, form, dtype):
    points, rows = (blobs(rng, n)[0].astype(dtype) for n in (40, 9))
    expected = np.argsort(-(rows @ points.T), axis=1)[:, :6]
    np.testing.assert_array_equal(nearest_points(form(rows), form(points), 6), expected)


@formats
def test_of_equal_points_the_first_are_taken(rng, form):
    points = np.repeat(blobs(rng, 3)[0], 8, axis=0)[rng.permutation(24)]
    near = nearest_points(form(points), form(points), 5)
    for row, found in zip(points, near, strict=True):
        same = np.flatnonzero(np.abs(points @ row - 1) < 1e-6)
        assert found.tolist() == same[:5].tolist()


@types
def test_what_a_row_finds_does_not_depend_on_the_other_rows(rng, dtype):
    """The last bits of products depend on the shape of the matrices, and ties on the last bits."""
    points = np.repeat(blobs(rng, 30, n_dims=37)[0], 4, axis=0).astype(dtype)
    together = nearest_points(points, points, 6)
    for i in range(0, 120, 17):
        np.testing.assert_array_equal(nearest_points(points[i : i + 1], points, 6)[0], together[i])


def test_in_single_precision_no_point_falls_between_the_borders_of_a_tie(rng):
    """Four points are at the borders of the tie with the last of 29."""
    last = rng.uniform(-0.9, 0, (2_000, 1)).astype(np.float32)
    border = np.array([-SAME, -SAME, 0, SAME, SAME], np.float32)
    far = np.hstack([np.full((2_000, 26), -1, np.float32), last + border])
    best = np.empty((2_000, 29), np.int32)
    largest_of_rows(-far, np.full(2_000, -1), SAME, best)
    assert all(len(set(row)) == 29 for row in best.tolist())
    assert (best[:, :26] == np.arange(26)).all()


def test_a_row_is_not_its_own_neighbor_but_its_copy_is(rng):
    points = np.repeat(blobs(rng, 5)[0], 2, axis=0)
    near = nearest_points(points, points, 1, own=np.arange(10)).ravel()
    np.testing.assert_array_equal(near, np.arange(10) ^ 1)


def test_neighbors_are_searched_among_some_documents_only(rng):
    points, searched = blobs(rng, 20)[0], np.array([2, 3, 5, 7, 11, 13])
    points[3] = 0
    graph = neighbor_graph(points, 2, searched).toarray()
    for i in np.delete(np.arange(20), 3):
        others = np.setdiff1d(searched, [3, i])
        nearest = others[np.argsort(-(points[others] @ points[i]))[:2]]
        assert graph[i, nearest].all()
        assert (graph[i, np.setdiff1d(np.arange(20), searched)] == 0).all() or i in searched
    assert not graph[3].any()
    assert not graph.diagonal().any()


@pytest.mark.parametrize(("n_rows", "n_points"), [(0, 4), (4, 0), (3, 1)])
def test_there_may_be_nothing_to_find(n_rows, n_points):
    rows, points = np.ones((n_rows, 2)), np.ones((n_points, 2))
    assert nearest_points(rows, points, 5).shape == (n_rows, n_points)


# -- documents with several views ------------------------------------------------------------------


def several(rng, n_docs=25, missing=0.0):
    """Features of three views with rows of length one, and which documents have which."""
    has = rng.random((n_docs, 3)) >= missing
    rows = [
        unit_rows(rng.random((n_docs, width))) * has[:, [v]] for v, width in enumerate((6, 9, 4))
    ]
    return rows, has


@types
@formats
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_neighbors_by_views_are_those_of_the_naive_loop(rng, form, dtype, missing):
    rows, has = several(rng, missing=missing)
    assert has.all() == (missing == 0)
    weights = np.array([1.0, 0.5, 0.01])
    found = nearest_by_views([form(r.astype(dtype)) for r in rows], has, weights, 5)
    np.testing.assert_array_equal(found, naive.nearest_by_views(rows, has, weights, 5))


def test_sparse_and_dense_views_stand_side_by_side(rng):
    rows, has = several(rng, missing=0.2)
    mixed = [rows[0], sp.csr_array(rows[1]), rows[2]]
    found = nearest_by_views(mixed, has, np.ones(3), 5)
    np.testing.assert_array_equal(found, nearest_by_views(rows, has, np.ones(3), 5))


@formats
def test_one_view_has_the_neighbors_of_its_points(rng, form):
    points = blobs(rng, 30)[0]
    found = nearest_by_views([form(points)], np.ones((30, 1), bool), np.ones(1), 6)
    own = np.arange(30)
    np.testing.assert_array_equal(found, nearest_points(form(points), form(points), 6, own))


def test_a_missing_view_brings_nobody_nearer(rng):
    rows = [unit_rows(1 + 0.1 * rng.random((60, 5))) for _ in range(2)]
    rows[1][:30] = 0  # half of the documents lack the second view
    has = np.column_stack([np.ones(60, bool), np.arange(60) >= 30])
    near = nearest_by_views(rows, has, np.ones(2), 8)
    assert 0.3 < (near[:30] < 30).mean() < 0.7
    empty = [rows[0], np.zeros((60, 3))]
    nobody = nearest_by_views(empty, has & [True, False], np.array([1.0, 5.0]), 8)
    alone = nearest_by_views(rows[:1], has[:, :1], np.ones(1), 8)
    np.testing.assert_array_equal(nobody, alone)


def test_a_view_twice_at_half_the_squared_weight_counts_once(rng):
    rows, has = several(rng, missing=0.3)
    once = nearest_by_views(rows, has, np.array([1.0, 0.8, 0.6]), 5)
    share = 0.8 / np.sqrt(2)
    twice = nearest_by_views([*rows, rows[1]], has[:, [0, 1, 2, 1]], [1.0, share, 0.6, share], 5)
    np.testing.assert_array_equal(once, twice)


@formats
def test_of_equal_documents_the_first_are_taken_whatever_the_blocks(rng, form, monkeypatch):
    rows = [form(np.repeat(blobs(rng, 4)[0], 6, axis=0)) for _ in range(2)]
    has = np.ones((24, 2), bool)
    at_once = nearest_by_views(rows, has, np.ones(2), 4)
    for i, found in enumerate(at_once.tolist()):
        same = [j for j in range(i // 6 * 6, i // 6 * 6 + 6) if j != i]
        assert found == same[:4]
    monkeypatch.setattr(neighbors, "SCORES_AT_ONCE", 5 * 24)
    np.testing.assert_array_equal(nearest_by_views(rows, has, np.ones(2), 4), at_once)


@pytest.mark.parametrize("n_docs", [0, 1, 2])
def test_few_documents_have_few_neighbors(n_docs):
    rows = [np.ones((n_docs, 1)), sp.csr_array((n_docs, 3))]
    has = np.column_stack([np.ones(n_docs, bool), np.zeros(n_docs, bool)])
    found = nearest_by_views(rows, has, np.ones(2), 5)
    assert found.tolist() == {0: [], 1: [[]], 2: [[1], [0]]}[n_docs]
