"""Metrics against explicit loops."""

import numpy as np
import pytest

from coview.metrics import (
    clustering_accuracy,
    match_ranks,
    normalized_mutual_info,
    purity,
    similarity,
)
from tests.reference import metrics as naive


@pytest.mark.parametrize("n_clusters", [2, 4, 6])
def test_clustering_scores_are_those_of_the_definitions(rng, n_clusters):
    true, pred = rng.integers(0, 4, 60), rng.integers(0, n_clusters, 60)
    assert clustering_accuracy(true, pred) == pytest.approx(naive.accuracy(true, pred))
    assert purity(true, pred) == pytest.approx(naive.purity(true, pred))
    for normalizer in ("max", "mean"):
        expected = naive.nmi(true, pred, normalizer)
        assert normalized_mutual_info(true, pred, normalizer=normalizer) == pytest.approx(expected)


def test_an_unknown_normalizer_is_refused():
    with pytest.raises(ValueError, match="normalizer"):
        normalized_mutual_info([0, 1], [0, 1], normalizer="sum")


def test_similarities(rng):
    a, b = rng.dirichlet(np.ones(5), 7), rng.dirichlet(np.ones(5), 9)
    hellinger = [[np.sum(np.sqrt(x * y)) for y in b] for x in a]
    cosine = [[x @ y / np.sqrt(x @ x * (y @ y)) for y in b] for x in a]
    centered = [[np.corrcoef(x, y)[0, 1] for y in b] for x in a]
    np.testing.assert_allclose(similarity(a, b), hellinger)
    np.testing.assert_allclose(similarity(a, b, metric="cosine"), cosine)
    flat = (np.full(5, 0.2), np.full(5, 0.2))  # the mean over topics: Pearson's correlation
    np.testing.assert_allclose(similarity(a, b, metric="correlation", center=flat), centered)


def test_a_mixture_equal_to_the_mean_is_similar_to_nothing():
    a = np.full((2, 4), 0.25)
    assert (similarity(a, a, metric="correlation") == 0).all()


def test_ranks_count_ties_half():
    scores = np.array([[1.0, 1.0, 1.0], [0.0, 3.0, 2.0], [5.0, 4.0, 0.0]])
    assert match_ranks(scores).tolist() == [2, 1, 3]


def test_whole_numbers_are_compared_like_others():
    rows = np.array([[1, 0], [1, 1]])
    for kind in ("hellinger", "cosine", "correlation", "jensen-shannon"):
        expected = similarity(rows.astype(float), rows.astype(float), metric=kind)
        np.testing.assert_array_equal(similarity(rows.tolist(), rows, metric=kind), expected)


def test_a_row_of_zeros_is_similar_to_nothing():
    rows = np.array([[0.0, 0.0], [0.5, 0.5]])
    for kind in ("hellinger", "cosine", "jensen-shannon"):
        assert similarity(rows, rows, metric=kind).round(12).tolist() == [[0, 0], [0, 1]]


def test_what_is_no_mixture_is_named():
    good = np.array([[0.5, 0.5]])
    for bad in (np.nan, -0.1):
        with pytest.raises(ValueError, match=r"gallery must be finite.*row 0, column 1"):
            similarity(good, np.array([[0.5, bad]]))
    assert similarity(good, np.array([[0.5, -0.5]]), metric="cosine") == pytest.approx(0)
    with pytest.raises(ValueError, match=r"\(1, 2\) and \(1, 3\)"):
        similarity(good, np.ones((1, 3)))


def test_ranks_need_an_item_for_each_query():
    for bad in (np.ones((3, 2)), np.full((2, 2), np.nan)):
        with pytest.raises(ValueError, match="an item i for each query i"):
            match_ranks(bad)
