"""The mean mixture of a document over its views."""

import tracemalloc

import numpy as np

from coview.em.simplex import ROWS_AT_ONCE, mean_mixture


def all_at_once(mixtures, slots, present, weights):
    """The mean as one formula, in double precision for all documents."""
    say = present * np.array(weights)
    say[say.sum(axis=1) == 0] = 1
    total = sum(w[:, None] * mixtures[slot] for slot, w in zip(slots, say.T, strict=True))
    return (total / total.sum(axis=1, keepdims=True)).astype(mixtures[0].dtype)


def test_the_mean_has_the_bits_of_one_formula(rng):
    n = 2 * ROWS_AT_ONCE + 1  # the last piece is one row
    mixtures = [rng.dirichlet(np.ones(11), n).astype(np.float32) for _ in range(2)]
    present = rng.random((n, 3)) < 0.7
    given = mixtures, (0, 1, 1), present, (0.3, 1.0, 2.5)
    np.testing.assert_array_equal(mean_mixture(*given), all_at_once(*given))


def test_the_mean_takes_little_beside_itself(rng):
    def beside(n):
        mixtures = [np.full((n, 8), 1 / 8, np.float32) for _ in range(2)]
        present = np.ones((n, 2), bool)
        tracemalloc.start()
        mean = mean_mixture(mixtures, (0, 1), present, (1.0, 1.0))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak - mean.nbytes

    assert beside(8 * ROWS_AT_ONCE) < 1.1 * beside(2 * ROWS_AT_ONCE)
