"""Measures of clusterings, searches, topics, and of the agreement of views."""

from coview.metrics.agreement import mean_view_agreement, view_agreement
from coview.metrics.clustering import (
    adjusted_rand,
    clustering_accuracy,
    nmi_max,
    nmi_mean,
    normalized_mutual_info,
    pairwise_f,
    purity,
)
from coview.metrics.retrieval import (
    average_precisions,
    match_ranks,
    mean_average_precision,
    median_rank,
    precision_at_k,
    similarity,
)
from coview.metrics.topics import topic_coherence, topic_diversity, topic_quality

__all__ = [
    "adjusted_rand",
    "average_precisions",
    "clustering_accuracy",
    "match_ranks",
    "mean_average_precision",
    "mean_view_agreement",
    "median_rank",
    "nmi_max",
    "nmi_mean",
    "normalized_mutual_info",
    "pairwise_f",
    "precision_at_k",
    "purity",
    "similarity",
    "topic_coherence",
    "topic_diversity",
    "topic_quality",
    "view_agreement",
]
