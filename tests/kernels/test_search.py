"""The best rows of a search, whatever their scores are."""

import numpy as np
import pytest

from coview.kernels.search import CENTERED, NO_ROW, keep_best, search_one


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("by_product", [False, True])
def test_scores_that_are_no_numbers_come_last_and_name_real_rows(dtype, by_product):
    """A center beyond all shares makes every score NaN: rows were then 2^63 - 1."""
    rng = np.random.default_rng(0)
    mixtures = rng.dirichlet(np.ones(3), 6).astype(dtype)
    center = np.array([1, -1, 1], dtype) * np.finfo(dtype).max
    query, rows = rng.normal(size=3), np.arange(6)
    scores, found = np.full((1, 4), -np.inf), np.full((1, 4), NO_ROW)
    with np.errstate(all="ignore"):
        if by_product:
            rough = np.full((1, 6), np.nan, np.float32)
            given = rough, mixtures, rows, query[None], center, 1e-4
            keep_best(CENTERED, *given, scores, found)
        else:
            given = mixtures, rows, query, query.astype(dtype), center, 1e-4
            search_one(CENTERED, *given, scores[0], found[0])
    assert sorted(found[0]) == [0, 1, 2, 3]
    assert not np.isnan(scores).any()
