"""Clusterings against classes."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from coview.params import check_choice


def clustering_accuracy(labels_true, labels_pred) -> float:
    """Share of documents in the right cluster, clusters matched one to one with classes at best.

    The numbers of clusters and classes may differ; what is left over counts as wrong.

    >>> clustering_accuracy([0, 0, 1, 1], [5, 5, 5, 2])
    0.75
    """
    table = contingency_matrix(labels_true, labels_pred)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / table.sum())


def normalized_mutual_info(labels_true, labels_pred, *, normalizer: str = "max") -> float:
    """Mutual information over the larger ("max") or the mean ("mean") entropy of the labellings.

    Figures with different normalisers cannot be compared.

    >>> normalized_mutual_info([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    check_choice("normalizer", normalizer, ["max", "mean"])
    method = {"max": "max", "mean": "arithmetic"}[normalizer]
    return float(normalized_mutual_info_score(labels_true, labels_pred, average_method=method))


def purity(labels_true, labels_pred) -> float:
    """Share of documents in the majority class of their cluster (micro-averaged precision).

    >>> purity([0, 0, 1, 1], [5, 5, 5, 2])
    0.75
    """
    table = contingency_matrix(labels_true, labels_pred)
    return float(np.asarray(table).max(axis=0).sum() / table.sum())
