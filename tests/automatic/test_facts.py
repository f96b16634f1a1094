"""What the data are said to hold."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview import Views
from coview.automatic.facts import look_at


def kinds(**matrices):
    return {v.name: v.kind for v in look_at(Views(matrices)).views}


def test_kinds_are_told_by_the_values(rng):
    sparse = rng.poisson(0.2, (40, 30)).astype(float)
    ring = np.roll(np.eye(40), 1, axis=1)
    assert kinds(
        counts=sparse,
        weights=sparse * 0.3,
        dense_counts=rng.poisson(9, (40, 30)),
        measured=rng.random((40, 5)),
        negative=rng.normal(size=(40, 5)),
        links=ring + ring.T,
        directed=ring,
    ) == {
        "counts": "counts",
        "weights": "weights",
        "dense_counts": "counts",
        "measured": "measurements",
        "negative": "measurements",
        "links": "links",
        "directed": "counts",
    }


def test_a_dense_view_that_few_have_is_dense(rng):
    rows = rng.random((40, 5)) * (np.arange(40) < 10)[:, np.newaxis]
    (view,) = look_at(Views({"a": rows})).views
    assert (view.kind, view.n_docs, view.filled) == ("measurements", 10, 1.0)


@pytest.mark.parametrize("dense", [False, True])
def test_copies_are_found_whatever_their_order_and_unit(dense, rng):
    one = rng.random((60, 8)) if dense else rng.poisson(0.5, (60, 40)).astype(float)
    order = rng.permutation(one.shape[1])
    near = one[:, order] * 3
    near[::20] = one[1::20][:, order] * 3  # three documents differ
    other = rng.random((60, 8)) if dense else rng.poisson(0.5, (60, 40)).astype(float)
    found = look_at(Views({"a": one, "copy": one[:, order] * 3, "other": other})).copies
    assert [pair[:2] for pair in found] == [("a", "copy")]
    assert found[0][2] == pytest.approx(1, abs=1e-6)
    assert look_at(Views({"a": one, "near": near})).copies == ()


def test_copies_are_looked_for_among_documents_that_have_both(rng):
    one = rng.poisson(1.0, (90, 20)).astype(float)
    half = sp.csr_array(one * (np.arange(90) < 45)[:, np.newaxis])
    few = sp.csr_array(one * (np.arange(90) < 15)[:, np.newaxis])
    found = look_at(Views({"a": one, "half": half, "few": few})).copies
    assert [pair[:2] for pair in found] == [("a", "half")]  # 15 documents are too few to say


def test_views_that_do_not_vary_are_no_copies():
    ones = np.ones((30, 1))
    assert look_at(Views({"a": ones, "b": 2 * ones})).copies == ()
