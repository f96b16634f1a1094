"""The kernels against plain numpy."""

import numpy as np
import pytest
import scipy.sparse as sp

from coview.em.prepared import make_blocks
from coview.kernels.simplex import normalize_rows, normalize_topics
from coview.kernels.sweep import log_likelihood, reorder, sweep_columns, sweep_rows

both = pytest.mark.parametrize("dtype", [np.float32, np.float64])
# all sizes in which topics are taken at a time, alone and after each other
widths = pytest.mark.parametrize("n_topics", [8, 56, 104, 256])


def problem(rng, dtype, n_docs=37, n_terms=900, n_topics=16):
    # some columns with far more entries than one run of single precision
    X = sp.random_array((n_docs, n_terms), density=0.3, rng=rng, format="csr", dtype=dtype)
    theta = rng.dirichlet(np.ones(n_topics), n_docs).astype(dtype)
    by_term = np.ascontiguousarray(rng.dirichlet(np.ones(n_terms), n_topics).T.astype(dtype))
    return X, theta, by_term


def rows_pass(block, rows, theta, by_term, weight=1.0, floor=1e-30):
    dtype = theta.dtype
    part = block.rows[0]
    ratio = np.zeros_like(part.data)
    counts = np.zeros_like(theta)
    n_floored = sweep_rows(
        rows, part.indptr, part.indices, part.data, theta, by_term,
        dtype.type(weight), dtype.type(floor), ratio, counts,
    )  # fmt: skip
    return ratio, counts, n_floored


@both
@widths
def test_the_row_pass_is_the_expected_counts(rng, dtype, n_topics):
    X, theta, by_term = problem(rng, dtype, n_topics=n_topics)
    (block,) = make_blocks([X])
    rows = np.arange(len(theta), dtype=np.uint64)
    ratio, counts, _ = rows_pass(block, rows, theta, by_term, weight=2.5)
    dense = X.toarray()
    p = theta.astype(float) @ by_term.T.astype(float)
    r = np.where(dense > 0, dense / p, 0)
    tol = 1e-5 if dtype == np.float32 else 1e-13
    np.testing.assert_allclose(ratio, r[dense > 0], rtol=tol)
    np.testing.assert_allclose(counts, 2.5 * theta * (r @ by_term), rtol=tol)


@both
@widths
@pytest.mark.parametrize("n_docs", [37, 700])
def test_the_column_pass_is_the_gradient(rng, dtype, n_docs, n_topics):
    X, theta, by_term = problem(rng, dtype, n_docs=n_docs, n_terms=50, n_topics=n_topics)
    X = sp.csr_array(X[:, :48].toarray() * (np.arange(48) % 5 > 0))  # with empty columns
    by_term = by_term[:48]
    (block,) = make_blocks([X])
    rows = np.arange(n_docs, dtype=np.uint64)
    ratio, _, _ = rows_pass(block, rows, theta, by_term)
    c = block.columns[0]
    by_column = np.empty_like(ratio)
    reorder(block.rows[0].data, ratio, c.place, by_column)
    full = np.zeros((48, theta.shape[1]))
    for first, last in [(0, 20), (20, len(c.terms))]:
        sweep_columns(first, last, c.terms, c.colptr, c.rows, by_column, theta, full)
    r = sp.csr_array((ratio.astype(float), X.indices, X.indptr), shape=X.shape)
    np.testing.assert_allclose(full, r.T @ theta.astype(float), rtol=2e-6)
    assert (full[::5] == 0).all()


@both
def test_a_subset_of_rows_gives_the_same_bits(rng, dtype):
    X, theta, by_term = problem(rng, dtype)
    (block,) = make_blocks([X])
    every = np.arange(len(theta), dtype=np.uint64)
    _, counts, _ = rows_pass(block, every, theta, by_term)
    some = np.array([3, 4, 20, 36], dtype=np.uint64)
    _, part, _ = rows_pass(block, some, theta[some], by_term)
    np.testing.assert_array_equal(part, counts[some])


@both
def test_a_vanishing_probability_is_floored_and_counted(rng, dtype):
    X, theta, by_term = problem(rng, dtype)
    by_term[5] = 0
    (block,) = make_blocks([X])
    rows = np.arange(len(theta), dtype=np.uint64)
    ratio, counts, n_floored = rows_pass(block, rows, theta, by_term)
    assert n_floored == (X.toarray()[:, 5] > 0).sum() > 0
    np.testing.assert_allclose((X.data / ratio).min(), 1e-30, rtol=1e-6)
    assert np.isfinite(counts).all()


@both
@pytest.mark.parametrize("size", [0, 1, 255, 256, 1000])
def test_the_log_likelihood_is_that_of_numpy(rng, dtype, size):
    prob = np.exp(-80 * rng.random(size)).astype(dtype)
    prob[: size // 7] = 1
    data = rng.integers(1, 9, size).astype(dtype)
    expected = float(data.astype(float) @ np.log(prob.astype(float)))
    tol = 1e-13 if dtype == np.float64 else 1e-8  # ratios are in the precision of the data
    assert log_likelihood(data, data / prob) == pytest.approx(expected, rel=tol, abs=1e-12)


@both
@pytest.mark.parametrize("size", [1, 3, 31, 100, 255, 257, 1003])
def test_reordered_ratios_have_the_same_log_likelihood_to_the_bit(rng, dtype, size):
    data = rng.integers(1, 9, size).astype(dtype)
    ratio = (data / rng.random(size)).astype(dtype)
    place, out = rng.permutation(size).astype(np.uint32), np.zeros(size, dtype)
    assert reorder(data, ratio, place, out) == log_likelihood(data, ratio)
    np.testing.assert_array_equal(out[place], ratio)


@both
@pytest.mark.parametrize("n_rows", [1, 4, 7])
def test_rows_are_normalized_alike_in_any_layout(rng, dtype, n_rows):
    whole = rng.gamma(0.3, size=(n_rows, 24)).astype(dtype)
    old, keep = np.zeros_like(whole), np.zeros(n_rows, bool)
    in_rows, in_columns = whole.copy()[:, :21], np.asfortranarray(whole)[:, :21]
    for counts in (in_rows, in_columns):
        normalize_rows(counts, old, keep, 1e-18)
    np.testing.assert_array_equal(in_rows, in_columns)
    expected = whole[:, :21] / whole[:, :21].sum(axis=1, keepdims=True, dtype=float)
    np.testing.assert_allclose(in_rows, expected, rtol=1e-6, atol=1e-18)


def test_rows_without_mass_or_kept_stay_as_they_were(rng):
    counts = np.array([[1.0, 3.0], [0.0, 0.0], [5.0, 5.0]])
    old = np.array([[0.5, 0.5], [0.1, 0.9], [1.0, 0.0]])
    normalize_rows(counts, old, np.array([False, False, True]), 1e-150)
    np.testing.assert_array_equal(counts, [[0.25, 0.75], [0.1, 0.9], [1.0, 0.0]])


def test_shares_that_would_multiply_to_subnormals_become_zero():
    counts = np.array([[1.0, 1e-20]], dtype=np.float32)
    normalize_rows(counts, counts.copy(), np.array([False]), 1e-18)
    np.testing.assert_array_equal(counts, [[1, 0]])


def test_a_topic_without_mass_stays_as_it_was():
    by_term = np.array([[0.5, 0.2], [0.5, 0.8]])
    out = np.empty_like(by_term)
    normalize_topics(np.array([[1.0, 0.0], [3.0, 0.0]]), by_term, 1e-150, out)
    np.testing.assert_allclose(out, [[0.25, 0.2], [0.75, 0.8]])
