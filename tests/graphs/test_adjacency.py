"""Graphs that a user gives, and sums of graphs."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview.graphs.adjacency import check_graph, sum_graphs
from coview.graphs.neighbors import knn_graph
from coview.views.checks import DataWarning


def same(graph, expected):
    np.testing.assert_array_equal(graph.toarray(), expected)


# -- graphs that are given ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form", [np.array, sp.csr_array, sp.csr_matrix, sp.coo_array, sp.lil_array]
)
@pytest.mark.parametrize("dtype", [bool, int, np.float32, float])
def test_a_symmetric_graph_is_taken_as_it_is(form, dtype):
    given = form(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=dtype))
    found = check_graph(given, 3)
    same(found, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    assert found.dtype == np.float64
    assert found.has_canonical_format


def test_loops_and_explicit_zeros_are_left_out_and_the_input_is_not_altered():
    given = sp.csr_array(([5.0, 2.0, 2.0, 0.0], ([0, 0, 1, 2], [0, 1, 0, 0])), shape=(3, 3))
    before = given.copy()
    found = check_graph(given, 3)
    same(found, [[0, 2, 0], [2, 0, 0], [0, 0, 0]])
    assert found.nnz == 2
    np.testing.assert_array_equal(given.data, before.data)


def test_links_in_one_direction_count_in_both_and_the_larger_weight_holds():
    with pytest.warns(DataWarning, match=r"'cites' is not symmetric in 2 pairs .* row 0, column 1"):
        found = check_graph([[0, 1, 3], [0, 0, 1], [2, 1, 0]], 3, "cites")
    same(found, [[0, 1, 3], [1, 0, 1], [3, 1, 0]])


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (
            np.ones((2, 3)),
            r"'cites' must have a row and a column for each of 3 documents, .*\(2, 3\)",
        ),
        (sp.csr_array((4, 4)), r"found the shape \(4, 4\)"),
        (np.ones(3), "'cites' must"),
        (np.ones((3, 3, 3)), "'cites' must be a matrix of numbers"),
        ([[0, np.nan, 0], [0, 0, 0], [0, 0, 0]], "has the weight nan at row 0, column 1"),
        ([[0, 0, 0], [0, 0, -2], [0, 0, 0]], "has the weight -2 at row 1, column 2"),
        ([[0, 0, 0], [np.inf, 0, 0], [0, 0, 0]], "has the weight inf at row 1, column 0"),
        (np.eye(3) * 1j, "'cites' must be a matrix of numbers"),
        ([["a"] * 3] * 3, "'cites' must be a matrix of numbers"),
        ("links.npz", "'cites' must be a matrix of numbers"),
        (np.eye(3), "joins no two documents"),
        (sp.csr_array((3, 3)), "joins no two documents"),
    ],
)
def test_what_is_no_graph_is_refused(given, match):
    with pytest.raises(ValueError, match=match):
        check_graph(given, 3, "cites")


def test_a_damaged_graph_is_refused_before_it_is_used():
    damaged = sp.csr_array(np.ones((3, 3)))
    damaged.indices[1] = 10**6
    with pytest.raises(ValueError, match="'graph' must be a matrix of numbers: "):
        check_graph(damaged, 3)


def test_a_graph_without_edges_may_be_allowed():
    assert check_graph(sp.csr_array((3, 3)), 3, allow_empty=True).nnz == 0


# -- sums -----------------------------------------------------------------------------------------


def test_a_sum_of_graphs_has_the_edges_of_those_with_weight(rng):
    first, second, third = (knn_graph(rng.random((20, 2)), 2) for _ in range(3))
    total = sum_graphs([first, second, third], [0.5, 0.0, 2.0])
    np.testing.assert_allclose(total.toarray(), 0.5 * first.toarray() + 2 * third.toarray())
    assert total.nnz == (first + third).nnz
    assert sum_graphs([first], [0.0]).nnz == 0
