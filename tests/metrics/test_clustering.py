"""Clustering scores: published examples, definitions, scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from coview.metrics import (
    adjusted_rand,
    clustering_accuracy,
    nmi_max,
    nmi_mean,
    normalized_mutual_info,
    pairwise_f,
    purity,
)
from tests.reference import metrics as naive

# Manning, Raghavan & Schütze, Introduction to Information Retrieval, Fig. 16.4: three clusters
# of crosses (0), circles (1) and diamonds (2), 17 points
BOOK_TRUE = [0] * 5 + [1] + [0] + [1] * 4 + [2] + [0] * 2 + [2] * 3
BOOK_PRED = [0] * 6 + [1] * 6 + [2] * 5


def test_the_textbook_example_has_the_published_scores():
    assert purity(BOOK_TRUE, BOOK_PRED) == pytest.approx(12 / 17)  # printed as 0.71
    assert nmi_mean(BOOK_TRUE, BOOK_PRED) == pytest.approx(0.36, abs=0.005)
    # printed: TP = 20, FP = 20, FN = 24, so P = .5, R = .455 and F1 = .48
    assert pairwise_f(BOOK_TRUE, BOOK_PRED) == pytest.approx(2 * 20 / (2 * 20 + 20 + 24))
    assert clustering_accuracy(BOOK_TRUE, BOOK_PRED) == pytest.approx(12 / 17)


def test_the_two_normalizers_differ_and_are_named():
    true, pred = [0, 0, 1, 1], [0, 1, 2, 3]  # entropies log 2 and log 4, information log 2
    assert nmi_max(true, pred) == pytest.approx(1 / 2)
    assert nmi_mean(true, pred) == pytest.approx(2 / 3)


@pytest.mark.parametrize("n_clusters", [1, 2, 4, 6])
def test_scores_are_those_of_the_definitions(rng, n_clusters):
    true, pred = rng.integers(0, 4, 60), rng.integers(0, n_clusters, 60)
    assert pairwise_f(true, pred) == pytest.approx(naive.pairwise_f(true, pred))
    assert adjusted_rand(true, pred) == pytest.approx(adjusted_rand_score(true, pred))
    assert nmi_max(true, pred) == normalized_mutual_info(true, pred, normalizer="max")
    expected = normalized_mutual_info_score(true, pred, average_method="arithmetic")
    assert nmi_mean(true, pred) == pytest.approx(expected)


def test_no_pair_together_in_both_scores_zero():
    assert pairwise_f([0, 0, 1], [0, 1, 2]) == 0
    assert pairwise_f([0, 1, 2], [0, 1, 2]) == 0


def test_pairs_of_many_documents_do_not_overflow():
    labels = np.repeat([0, 1], 100_000)
    assert pairwise_f(labels, labels) == 1


SCORES = [clustering_accuracy, nmi_max, nmi_mean, purity, pairwise_f, adjusted_rand]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("pair", [([0, 0, 1], [0, 1]), ([], []), ([[0, 1]], [[0, 1]])])
def test_labelings_of_different_documents_or_none_are_refused(score, pair):
    with pytest.raises(ValueError, match="one entry for each of the same documents"):
        score(*pair)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("true", [[0, np.nan, 1], ["a", None, "b"]])
def test_a_missing_label_is_no_class_of_its_own(score, true):
    with pytest.raises(ValueError, match=r"labels_true must not lack a label.*at row 1"):
        score(true, [0, 1, 1])
    with pytest.raises(ValueError, match="labels_pred"):
        score([0, 1, 1], true)


@pytest.mark.parametrize("score", SCORES)
def test_one_cluster_of_one_class_is_found(score):
    assert score(["a", "a"], [3, 3]) == 1
