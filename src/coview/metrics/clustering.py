"""Clusterings against classes.

Every document needs a class and a cluster. Those without one are to be left out by the caller: a
value that stands for "missing" would count as one more class.
"""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from coview.params import check_choice


def clustering_accuracy(labels_true, labels_pred) -> float:
    """Share of documents in the right cluster, clusters matched one to one with classes at best.

    The numbers of clusters and classes may differ; what is left over counts as wrong.

    >>> clustering_accuracy([0, 0, 1, 1], [5, 5, 5, 2])
    0.75
    """
    table = contingency_matrix(*_checked(labels_true, labels_pred))
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / table.sum())


def normalized_mutual_info(labels_true, labels_pred, *, normalizer: str = "max") -> float:
    """Mutual information over the larger ("max") or the mean ("mean") entropy of the labelings.

    Figures with different normalizers cannot be compared. In tables use `nmi_max` or `nmi_mean`,
    whose names say which it is.

    >>> normalized_mutual_info([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    check_choice("normalizer", normalizer, ["max", "mean"])
    method = {"max": "max", "mean": "arithmetic"}[normalizer]
    pair = _checked(labels_true, labels_pred)
    return float(normalized_mutual_info_score(*pair, average_method=method))


def nmi_max(labels_true, labels_pred) -> float:
    """Mutual information over the larger entropy (Jiang et al., 2012; Wang et al., 2017).

    >>> round(nmi_max([0, 0, 1, 1], [0, 1, 2, 3]), 3)
    0.5
    """
    return normalized_mutual_info(labels_true, labels_pred, normalizer="max")


def nmi_mean(labels_true, labels_pred) -> float:
    """Mutual information over the mean of the entropies (Zhuang et al., 2012, Eq. 20).

    >>> round(nmi_mean([0, 0, 1, 1], [0, 1, 2, 3]), 3)
    0.667
    """
    return normalized_mutual_info(labels_true, labels_pred, normalizer="mean")


def purity(labels_true, labels_pred) -> float:
    """Share of documents in the majority class of their cluster (micro-averaged precision).

    >>> purity([0, 0, 1, 1], [5, 5, 5, 2])
    0.75
    """
    table = contingency_matrix(*_checked(labels_true, labels_pred))
    return float(np.asarray(table).max(axis=0).sum() / table.sum())


def pairwise_f(labels_true, labels_pred) -> float:
    """Harmonic mean of precision and recall over pairs of documents (Zhuang et al., Eq. 21-23).

    Of the pairs in one cluster, precision is the share in one class; of the pairs in one class,
    recall is the share in one cluster. 0 where no pair is together in both.

    >>> pairwise_f([0, 0, 1, 1], [5, 5, 5, 2])
    0.4
    """
    pair = _checked(labels_true, labels_pred)
    # ordered pairs, which count every unordered one twice
    (_, together), (same_class, both) = pair_confusion_matrix(*pair).tolist()
    return float(2 * both / (2 * both + together + same_class)) if both else 0.0


def adjusted_rand(labels_true, labels_pred) -> float:
    """Rand index corrected for chance: 0 on average for random labels, 1 for equal clusterings.

    >>> adjusted_rand([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return float(adjusted_rand_score(*_checked(labels_true, labels_pred)))


def _checked(labels_true: Any, labels_pred: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both labelings as arrays: of one length, at least one document, nothing missing."""
    true, pred = np.asarray(labels_true), np.asarray(labels_pred)
    if true.ndim != 1 or true.shape != pred.shape or not len(true):
        raise ValueError(
            "labels_true and labels_pred must have one entry for each of the same documents, at "
            f"least one; found the shapes {true.shape} and {pred.shape}."
        )
    for name, labels in (("labels_true", true), ("labels_pred", pred)):
        missing = _missing(labels)
        if missing:
            row, label = missing[0]
            raise ValueError(
                f"{name} must not lack a label, found {label!r} at row {row}, counting from 0. "
                "Leave documents without one out of both."
            )
    return true, pred


def _missing(labels: np.ndarray) -> list[tuple[int, Any]]:
    """Rows with None, or with NaN, which alone differs from itself."""
    if labels.dtype.kind not in "fO":  # whole numbers and texts are always there
        return []
    pairs = enumerate(labels.tolist())
    return [(row, label) for row, label in pairs if label is None or label != label]
