"""The Jensen-Shannon kernel against scipy and against its definition."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from coview.kernels.jensen_shannon import jensen_shannon, jensen_shannon_matrix, jensen_shannon_term


def sparse_mixtures(rng, n, topics):
    """Mixtures many of whose shares are exactly 0."""
    rows = rng.dirichlet(np.full(topics, 0.2), n)
    rows[rows < 0.02] = 0
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("topics", [1, 2, 7, 50])
def test_divergences_are_those_of_scipy(rng, topics):
    rows, others = sparse_mixtures(rng, 6, topics), sparse_mixtures(rng, 9, topics)
    out = np.empty((6, 9))
    jensen_shannon_matrix(rows, others, out)
    # scipy takes the root of a rounding error: compare where that is harmless
    expected = [[np.nan_to_num(jensenshannon(p, q, base=2)) ** 2 for q in others] for p in rows]
    np.testing.assert_allclose(out, expected, atol=1e-12)


def test_equal_mixtures_have_divergence_0_and_disjoint_ones_1():
    p, q = np.array([0.25, 0.75, 0.0]), np.array([0.0, 0.0, 1.0])
    assert jensen_shannon(p, p) == 0
    assert jensen_shannon(p, q) == pytest.approx(1, abs=1e-15)


def test_a_term_is_never_negative(rng):
    shares = rng.random(200)
    terms = [jensen_shannon_term(a, a * (1 + 1e-15)) for a in shares]
    assert min(terms) >= 0
    assert jensen_shannon_term(0.0, 0.0) == 0


def test_single_precision_rows_are_brought_to_sum_one(rng):
    p, q = (sparse_mixtures(rng, 1, 30)[0] for _ in range(2))
    exact = jensen_shannon(p, q)
    assert jensen_shannon((3 * p).astype(np.float32), q) == pytest.approx(exact, abs=1e-6)
