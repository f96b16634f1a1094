"""How good a clustering or a search is."""

from coview.metrics.clustering import clustering_accuracy, normalized_mutual_info, purity
from coview.metrics.retrieval import match_ranks, similarity

__all__ = [
    "clustering_accuracy",
    "match_ranks",
    "normalized_mutual_info",
    "purity",
    "similarity",
]
