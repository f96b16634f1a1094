"""Measures of a clustering against classes.

All of them take `labels_true`, the classes, and `labels_pred`, the clusters, of the same documents.
Leave out documents without a class (-1, None, NaN, an empty text), which are refused: they would
count as one more class.
"""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from coview.params import check_choice
from coview.views.labels import label_array, refuse_unlabeled


def clustering_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Return the share of documents in the right cluster, under the best one-to-one matching.

    The numbers of clusters and classes may differ; documents of unmatched ones count as wrong.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (documents,)
        Classes and clusters.

    Examples
    --------
    >>> clustering_accuracy([0, 0, 1, 1], [5, 5, 5, 2])
    0.75
    """
    table = contingency_matrix(*_checked(labels_true, labels_pred))
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / table.sum())


def normalized_mutual_info(labels_true: Any, labels_pred: Any, *, normalizer: str = "max") -> float:
    """Return the mutual information divided by the larger or by the mean of the two entropies.

    Values with different normalizers cannot be compared. In tables use `nmi_max` or `nmi_mean`,
    whose names say which it is.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (documents,)
        Classes and clusters.
    normalizer : {"max", "mean"}, default="max"

    Examples
    --------
    >>> normalized_mutual_info([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    check_choice("normalizer", normalizer, ["max", "mean"])
    method = {"max": "max", "mean": "arithmetic"}[normalizer]
    pair = _checked(labels_true, labels_pred)
    return float(normalized_mutual_info_score(*pair, average_method=method))


def nmi_max(labels_true: Any, labels_pred: Any) -> float:
    """Return the mutual information over the larger entropy.

    This is the measure of Jiang et al. (2012) and Wang et al. (2017).

    >>> round(nmi_max([0, 0, 1, 1], [0, 1, 2, 3]), 3)
    0.5
    """
    return normalized_mutual_info(labels_true, labels_pred, normalizer="max")


def nmi_mean(labels_true: Any, labels_pred: Any) -> float:
    """Return the mutual information over the mean entropy (Zhuang et al., 2012, Eq. 20).

    >>> round(nmi_mean([0, 0, 1, 1], [0, 1, 2, 3]), 3)
    0.667
    """
    return normalized_mutual_info(labels_true, labels_pred, normalizer="mean")


def purity(labels_true: Any, labels_pred: Any) -> float:
    """Return the share of documents in the majority class of their cluster.

    This is the micro-averaged precision.

    >>> purity([0, 0, 1, 1], [5, 5, 5, 2])
    0.75
    """
    table = contingency_matrix(*_checked(labels_true, labels_pred))
    return float(np.asarray(table).max(axis=0).sum() / table.sum())


def pairwise_f(labels_true: Any, labels_pred: Any) -> float:
    """Return the F score over pairs of documents (Zhuang et al., 2012, Eq. 21-23).

    Precision is the share of the pairs in one cluster that are in one class; recall the share of
    the pairs in one class that are in one cluster. 0 if no pair is together in both.

    >>> pairwise_f([0, 0, 1, 1], [5, 5, 5, 2])
    0.4
    """
    pair = _checked(labels_true, labels_pred)
    # ordered pairs: every unordered one counts twice, which cancels
    (_, together), (same_class, both) = pair_confusion_matrix(*pair).tolist()
    return float(2 * both / (2 * both + together + same_class)) if both else 0.0


def adjusted_rand(labels_true: Any, labels_pred: Any) -> float:
    """Return the Rand index corrected for chance: 0 on average for random labels, at most 1.

    >>> adjusted_rand([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return float(adjusted_rand_score(*_checked(labels_true, labels_pred)))


def _checked(labels_true: Any, labels_pred: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return both labelings as arrays; refuse different lengths, no documents, missing labels."""
    true, pred = label_array(labels_true), label_array(labels_pred)
    if true.ndim != 1 or true.shape != pred.shape or not len(true):
        raise ValueError(
            "labels_true and labels_pred must have one entry for each of the same documents, at "
            f"least one; found the shapes {true.shape} and {pred.shape}."
        )
    # -1 is a cluster as any other: that of the documents of which nothing is known
    pair = refuse_unlabeled("labels_true", true), refuse_unlabeled("labels_pred", pred, None)
    return _narrow(pair[0]), _narrow(pair[1])


def _narrow(labels: np.ndarray) -> np.ndarray:
    """Return objects in the type that NumPy finds for them, which can be sorted."""
    return np.array(labels.tolist()) if labels.dtype == object else labels
