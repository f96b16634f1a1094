"""One search of nearest neighbors: new rows, rows among the points themselves, and ties."""

import numpy as np
import pytest

from coview.ensemble.neighbors import SAME, _smallest, nearest_points
from coview.ensemble.spaces import neighbor_graph
from tests.ensemble.planted import blobs


def test_new_rows_find_what_brute_force_finds(rng):
    points, rows = blobs(rng, 40)[0], blobs(rng, 9)[0]
    expected = np.argsort(-(rows @ points.T), axis=1)[:, :6]
    np.testing.assert_array_equal(nearest_points(rows, points, 6), expected)


def test_of_equal_points_the_first_are_taken(rng):
    points = np.repeat(blobs(rng, 3)[0], 8, axis=0)[rng.permutation(24)]
    near = nearest_points(points, points, 5)
    for row, found in zip(points, near, strict=True):
        same = np.flatnonzero(np.abs(points @ row - 1) < 1e-6)
        assert found.tolist() == same[:5].tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
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
    best = _smallest(far, 29)
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
