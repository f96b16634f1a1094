"""Parts of the data that judge each other: samples, halves of columns and of graphs."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview import Views
from coview.datasets import make_views
from coview.em.prepared import prepare
from coview.held_out import (
    deal_edges,
    deal_views,
    has_counts,
    label_agreement,
    sample_rows,
    take_documents,
)


def prepared(views):
    return prepare(views, {}, np.float32)


def test_a_sample_is_in_order_without_repetition_and_changes_with_the_seed(rng):
    rows = sample_rows(1000, 100, rng)
    assert len(rows) == 100
    assert (np.diff(rows) > 0).all()
    assert not np.array_equal(rows, sample_rows(1000, 100, rng))


@pytest.mark.parametrize(("n_first", "kept"), [(10, 10), (400, 50)])
def test_a_sample_has_the_documents_wanted_first_up_to_half_of_it(rng, n_first, kept):
    first = np.arange(1000) >= 1000 - n_first
    found = first[sample_rows(1000, 100, rng, first)].sum()
    assert kept <= found < kept + 40  # the other half is drawn from all


def test_halves_of_columns_are_all_columns_once(rng):
    views = make_views(30, 3, [21, 8], missing=0.2, random_state=0)
    one, other = deal_views(prepared(views), rng)
    for name, width in zip(views.names, views.widths, strict=True):
        assert one[name].shape[1] == (width + 1) // 2
        together = np.hstack([one[name].toarray(), other[name].toarray()])
        columns = sorted(map(tuple, together.T))
        assert columns == sorted(map(tuple, views[name].toarray().T))
    for half in (one, other):
        np.testing.assert_array_equal(half.present, views.present)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_view_of_few_columns_goes_to_both_halves(rng, width):
    matrix = rng.integers(1, 9, (6, width))
    for half in deal_views(prepared(Views({"a": matrix, "b": np.ones((6, 9))})), rng):
        np.testing.assert_array_equal(half["a"].toarray(), matrix)
        assert half["b"].shape[1] < 9


def test_halves_of_a_graph_are_symmetric_and_have_every_edge_once(rng):
    graph = np.triu(rng.integers(0, 2, (20, 20)) * rng.random((20, 20)), 1)
    graph = sp.csr_array(graph + graph.T)
    one, other = deal_edges(graph, rng)
    np.testing.assert_allclose((one + other).toarray(), graph.toarray())
    assert 0 < one.nnz < graph.nnz
    for half in (one, other):
        np.testing.assert_array_equal(half.toarray(), half.T.toarray())
    assert one.multiply(other).nnz == 0


def test_taking_documents_takes_all_that_belongs_to_them():
    views = make_views(30, 3, [20, 10], missing=0.3, random_state=0)
    rows = np.array([2, 7, 11])
    taken = take_documents(prepared(views), rows)
    np.testing.assert_array_equal(taken.present, views.present[rows])
    np.testing.assert_array_equal(taken.matrices[1].toarray(), views[rows]["view_1"].toarray())
    assert taken.labels is None


def test_documents_have_counts_in_any_view():
    views = Views({"a": [[1, 0], [0, 0], [0, 0]], "b": [[0], [2], [0]]})
    assert has_counts(views).tolist() == [True, True, False]


def test_agreement_ignores_numbers_and_is_about_zero_by_chance(rng):
    labels = rng.integers(0, 4, 500)
    assert label_agreement(labels, 3 - labels) == pytest.approx(1)
    assert abs(label_agreement(labels, rng.permutation(labels))) < 0.03
