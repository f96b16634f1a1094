"""Blocks: where the cuts fall, and what a block holds."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from coview.em.prepared import cut, make_blocks
from coview.views.blocks import MAX_DOCS


def test_the_ranges_cover_all_documents_once(rng):
    X = sp.random_array((500, 40), density=0.2, rng=rng, format="csr")
    ranges = cut([X, X], nonzeros=300)
    assert ranges[0][0] == 0
    assert ranges[-1][1] == 500
    assert all(a[1] == b[0] for a, b in pairwise(ranges))
    assert len(ranges) > 5


def test_documents_without_entries_are_in_some_block():
    X = sp.csr_array((10, 3))
    assert cut([X]) == [(0, 10)]


def test_no_block_has_more_documents_than_16_bits_can_number():
    X = sp.csr_array((2 * MAX_DOCS + 5, 2))
    assert max(b - a for a, b in cut([X])) == MAX_DOCS


def test_a_few_hundred_thousand_entries_make_several_blocks(rng):
    X = sp.random_array((5000, 400), density=0.1, rng=rng, format="csr")
    assert len(cut([X])) >= 4


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_rows_and_columns_hold_the_same_entries(rng, index_type):
    X = sp.random_array((60, 30), density=0.2, rng=rng, format="csr")
    X.indices, X.indptr = X.indices.astype(index_type), X.indptr.astype(index_type)
    for block in make_blocks([X], cut([X], 70)):
        rows, cols = block.rows[0], block.columns[0]
        dense = X[block.docs].toarray()
        again = np.zeros_like(dense)
        counts = np.diff(cols.colptr.astype(int))
        by_column = np.empty_like(rows.data)
        by_column[cols.place] = rows.data
        again[cols.rows, np.repeat(cols.terms, counts)] = by_column
        np.testing.assert_array_equal(again, dense)
        assert (counts > 0).all()


def test_the_rows_are_slices_of_the_matrix_not_copies(rng):
    X = sp.random_array((60, 30), density=0.2, rng=rng, format="csr")
    for block in make_blocks([X], cut([X], 70)):
        assert np.shares_memory(block.rows[0].data, X.data)
        assert np.shares_memory(block.rows[0].indices, X.indices)


def test_folding_in_needs_no_columns(rng):
    X = sp.random_array((60, 30), density=0.2, rng=rng, format="csr")
    assert all(b.columns is None for b in make_blocks([X], columns=False))
