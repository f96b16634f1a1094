"""Neighbour graphs against brute force; graphs of one's own."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from coview import DataWarning
from coview.data.graphs import check_graph, knn_graph
from tests.reference.ltm import knn_graph as brute_force


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("kind", ["points", "counts", "ties"])
def test_the_graph_is_that_of_brute_force(rng, k, kind):
    points = {
        "points": rng.normal(size=(60, 3)) ** 2,
        "counts": rng.poisson(0.5, (60, 12)).astype(float),
        "ties": rng.integers(0, 3, (60, 2)).astype(float),  # many equal distances and duplicates
    }[kind]
    expected = brute_force(points, k)
    for matrix in (points, sp.csr_array(points)):
        np.testing.assert_array_equal(knn_graph(matrix, k).toarray(), expected)


def test_documents_that_lack_the_view_have_no_neighbours(rng):
    points, present = rng.random((30, 3)), rng.random(30) < 0.7
    graph = knn_graph(points, 3, present=present).toarray()
    np.testing.assert_array_equal(graph, brute_force(points, 3, present))
    assert graph[~present].sum() == 0


def test_cosine_does_not_see_the_length_of_a_document(rng):
    points = rng.random((40, 6))
    longer = points * rng.integers(1, 5, (40, 1))
    a, b = (knn_graph(p, 4, metric="cosine").toarray() for p in (points, longer))
    np.testing.assert_array_equal(a, b)


def test_no_array_of_documents_by_documents_is_made(rng):
    X = sp.random_array((12_000, 400), density=0.02, rng=rng, format="csr")
    tracemalloc.start()
    graph = knn_graph(X, 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.25 * 12_000**2 * 8
    assert (graph != graph.T).nnz == 0
    assert graph.diagonal().sum() == 0
    assert (np.diff(graph.indptr) >= 5).all()


def test_a_graph_of_ones_own_is_brought_to_form():
    given = np.array([[7.0, 2, 0], [2, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(
        check_graph(given, 3).toarray(), [[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    )
    one_way = sp.csr_array(([1.0], ([0], [2])), shape=(3, 3))
    with pytest.warns(DataWarning):
        found = check_graph(one_way, 3)
    np.testing.assert_array_equal(found.toarray(), [[0, 0, 1], [0, 0, 0], [1, 0, 0]])


@pytest.mark.parametrize(
    "bad",
    [np.ones((2, 3)), np.ones((4, 4)), -np.ones((3, 3)), np.full((3, 3), np.inf), np.zeros((3, 3))],
)
def test_a_graph_that_is_none_is_refused(bad):
    with pytest.raises(ValueError, match="[Gg]raph"):
        check_graph(bad, 3)
