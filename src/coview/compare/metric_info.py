"""The metrics of a comparison: titles, scale, which direction is better, and which task has which.

How they are computed is in `coview.metrics` and `coview.compare.evaluation`. Nothing here needs
numpy, so that plans are checked before anything is loaded.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class MetricInfo:
    """How to show and compare a metric.

    Attributes
    ----------
    title : str
        Name in tables and on axes.
    direction : int
        1 if more is better, -1 if less is better, 0 if models cannot be compared by it.
    share : bool
        Whether it is a share, which may be shown in percent.
    note : str
        Explanation that has to accompany a table.
    """

    title: str
    direction: int = 1
    share: bool = False
    note: str = ""


_NMI = "NMI is the mutual information divided by the {} of the two entropies"
_MAP = "MAP is the mean of the precisions at {} of each query"

METRICS = {
    "accuracy": MetricInfo("accuracy", share=True),
    "nmi_max": MetricInfo("NMI (max)", share=True, note=_NMI.format("larger")),
    "nmi_mean": MetricInfo("NMI (mean)", share=True, note=_NMI.format("mean")),
    "purity": MetricInfo("purity", share=True),
    "pairwise_f": MetricInfo("pairwise F", share=True),
    "adjusted_rand": MetricInfo("adjusted Rand", share=True),
    "macro_f1": MetricInfo("macro F1", share=True),
    "map_first_ten": MetricInfo(
        "MAP (first ten)", share=True, note=_MAP.format("the first ten relevant answers")
    ),
    "map_standard": MetricInfo(
        "MAP (standard)", share=True, note=_MAP.format("all relevant answers")
    ),
    "precision_at_10": MetricInfo("P@10", share=True),
    "median_rank": MetricInfo("median rank", -1),
    "objective": MetricInfo("objective", 0),
    "agreement": MetricInfo("agreement of views"),
    "coherence": MetricInfo("coherence (NPMI)"),
    "diversity": MetricInfo("diversity"),
    "perplexity": MetricInfo("perplexity", -1),
    "labeled": MetricInfo("labeled documents", 0),
    "seconds": MetricInfo("seconds", -1),
    "iterations": MetricInfo("iterations", 0),
    "documents": MetricInfo("documents", 0),
}

RUN_METRICS = ("seconds", "iterations", "documents")  # every run has them, whatever its task
CLUSTERING_METRICS = ("accuracy", "nmi_max", "nmi_mean", "purity", "pairwise_f", "adjusted_rand")
_TOPIC_METRICS = ("objective", "agreement", "coherence", "diversity")
TASK_METRICS = {
    "cluster": (*CLUSTERING_METRICS, *_TOPIC_METRICS, *RUN_METRICS),
    "classify": ("accuracy", "macro_f1", "labeled", *RUN_METRICS),
    "retrieve": ("map_first_ten", "map_standard", "precision_at_10", "median_rank", *RUN_METRICS),
}
# Spellings in files of earlier versions.
_OLD_NAMES = {"labelled": "labeled"}


def metric_info(name: str) -> MetricInfo:
    """Return what is known of a metric; for an unknown one its name, and that more is better.

    >>> metric_info("nmi_max").title, metric_info("my_own").title
    ('NMI (max)', 'my own')
    """
    return METRICS.get(name) or MetricInfo(name.replace("_", " "))


def current_name(name: str) -> str:
    """Return the present name of a metric that a file may call by an earlier one.

    >>> current_name("labelled"), current_name("accuracy")
    ('labeled', 'accuracy')
    """
    return _OLD_NAMES.get(name, name)


def check_clustering_metric(name: str) -> None:
    """Refuse anything that does not compare clusters with classes."""
    if name not in CLUSTERING_METRICS:
        raise ValueError(f"metric must be one of {', '.join(CLUSTERING_METRICS)}; got {name!r}.")


def check_task_metrics(names: Iterable[str], task: str) -> None:
    """Refuse metrics that the runs of a task do not have.

    >>> check_task_metrics(["purity"], "retrieve")
    Traceback (most recent call last):
        ...
    ValueError: The task 'retrieve' has no metric 'purity'. It has map_first_ten, map_standard, \
precision_at_10, median_rank, seconds, iterations, documents.
    """
    unknown = [name for name in names if name not in TASK_METRICS[task]]
    if unknown:
        raise ValueError(
            f"The task {task!r} has no metric {', '.join(map(repr, unknown))}. It has "
            f"{', '.join(TASK_METRICS[task])}."
        )


def check_known_metrics(names: Iterable[str], measured: Sequence[str]) -> None:
    """Refuse names that are neither known nor measured.

    A metric that is known but was not measured passes: the table says that it is missing.
    """
    unknown = [name for name in names if name not in METRICS and name not in measured]
    if unknown and measured:
        raise ValueError(
            f"There is no metric {', '.join(map(repr, unknown))}. Measured were "
            f"{', '.join(measured)}."
        )


def check_one_nmi(names: Sequence[str]) -> None:
    """Refuse the two kinds of NMI in one table, where they would look alike."""
    if {"nmi_max", "nmi_mean"} <= set(names):
        raise ValueError(
            "NMI divided by the larger entropy (nmi_max) and by their mean (nmi_mean) do not "
            "belong into one table: they cannot be compared. Make two tables."
        )
