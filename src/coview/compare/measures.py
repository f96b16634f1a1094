"""What tables and plots need to know of a metric: its name, whether more is better, its scale."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """A metric.

    Attributes
    ----------
    title : str
        What tables and axes call it.
    direction : int
        1 if more is better, -1 if less is, 0 if models cannot be compared by it.
    share : bool
        Whether it is a share, which may be shown in per cent.
    note : str
        What a table must say of it.
    """

    title: str
    direction: int = 1
    share: bool = False
    note: str = ""


_NMI = "NMI is the mutual information divided by the {} of the two entropies"
_MAP = "MAP is the mean of the precisions at {} of each query"

MEASURES = {
    "accuracy": Measure("accuracy", share=True),
    "nmi_max": Measure("NMI (max)", share=True, note=_NMI.format("larger")),
    "nmi_mean": Measure("NMI (mean)", share=True, note=_NMI.format("mean")),
    "purity": Measure("purity", share=True),
    "pairwise_f": Measure("pairwise F", share=True),
    "adjusted_rand": Measure("adjusted Rand", share=True),
    "macro_f1": Measure("macro F1", share=True),
    "map_first_ten": Measure(
        "MAP (first ten)", share=True, note=_MAP.format("the first ten relevant answers")
    ),
    "map_standard": Measure("MAP (standard)", share=True, note=_MAP.format("all relevant answers")),
    "precision_at_10": Measure("P@10", share=True),
    "median_rank": Measure("median rank", -1),
    "objective": Measure("objective", 0),
    "agreement": Measure("agreement of views"),
    "coherence": Measure("coherence (NPMI)"),
    "diversity": Measure("diversity"),
    "perplexity": Measure("perplexity", -1),
    "labeled": Measure("labeled documents", 0),
    "seconds": Measure("seconds", -1),
    "iterations": Measure("iterations", 0),
    "documents": Measure("documents", 0),
}


def measure(name: str) -> Measure:
    """The measure of that name; one that is not known is shown as it is, more being better.

    >>> measure("nmi_max").title, measure("my_own").title
    ('NMI (max)', 'my own')
    """
    return MEASURES.get(name) or Measure(name.replace("_", " "))


_ALWAYS = ("seconds", "iterations", "documents")
_TOPICS = ("objective", "agreement", "coherence", "diversity")
OF_CLUSTERS = ("accuracy", "nmi_max", "nmi_mean", "purity", "pairwise_f", "adjusted_rand")
OF_TASK = {
    "cluster": (*OF_CLUSTERS, *_TOPICS, *_ALWAYS),
    "classify": ("accuracy", "macro_f1", "labeled", *_ALWAYS),
    "retrieve": ("map_first_ten", "map_standard", "precision_at_10", "median_rank", *_ALWAYS),
}


def check_of_clusters(name: str) -> None:
    """Refuse what is no measure of clusters against classes."""
    if name not in OF_CLUSTERS:
        raise ValueError(f"metric must be one of {', '.join(OF_CLUSTERS)}; got {name!r}.")


def check_of_task(names: Iterable[str], task: str) -> None:
    """Refuse metrics that the runs of a task do not have, before there are any.

    >>> check_of_task(["purity"], "retrieve")
    Traceback (most recent call last):
        ...
    ValueError: The task 'retrieve' has no metric 'purity'. It has map_first_ten, map_standard, \
precision_at_10, median_rank, seconds, iterations, documents.
    """
    unknown = [name for name in names if name not in OF_TASK[task]]
    if unknown:
        raise ValueError(
            f"The task {task!r} has no metric {', '.join(map(repr, unknown))}. It has "
            f"{', '.join(OF_TASK[task])}."
        )


def check_measured(names: Iterable[str], measured: Sequence[str]) -> None:
    """Refuse names that nobody knows; a known one that was not measured is said in the table."""
    unknown = [name for name in names if name not in MEASURES and name not in measured]
    if unknown and measured:
        raise ValueError(
            f"There is no metric {', '.join(map(repr, unknown))}. Measured were "
            f"{', '.join(measured)}."
        )


def check_comparable(names: list[str]) -> None:
    """Refuse figures of two kinds under what reads like one name."""
    if {"nmi_max", "nmi_mean"} <= set(names):
        raise ValueError(
            "NMI divided by the larger entropy (nmi_max) and by their mean (nmi_mean) do not "
            "belong into one table: they cannot be compared. Make two tables."
        )
