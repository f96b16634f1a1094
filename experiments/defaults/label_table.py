"""The tables of accuracy with a few labels, from labels.csv."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from experiments.defaults.cluster_tables import at_or_above, mean_of_all
from experiments.defaults.data import DATASETS
from experiments.defaults.labels import RIVALS
from experiments.defaults.tables import (
    EARLIER,
    NOT_MEASURED,
    Mean,
    in_order,
    markdown,
    of_methods,
    shown,
)

Place = tuple[str, str]  # dataset, method


def labels_section(path: Path) -> str:
    """Return a table for each share of labels: columns dataset, method, rate, draw, accuracy."""
    if not path.exists():
        return NOT_MEASURED
    found: dict[str, dict[Place, list[float]]] = {}
    codes: dict[str, set[str]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            by_place = found.setdefault(row["rate"], {})
            by_place.setdefault((row["dataset"], row["method"]), []).append(float(row["accuracy"]))
            codes.setdefault(row["method"], set()).add(row.get("code") or EARLIER)
    parts = [_said(found, codes)]
    for rate in sorted(found, key=float):
        means = {place: Mean.of(own) * 100 for place, own in found[rate].items()}
        parts += [f"{100 * float(rate):g} % labels:", _table(means), _against_rivals(means)]
    return "\n\n".join(part for part in parts if part)


def _said(found: Mapping[str, Mapping[Place, list[float]]], codes: Mapping[str, set[str]]) -> str:
    draws: dict[str, set[int]] = {}
    for by_place in found.values():
        for (_, method), values in by_place.items():
            draws.setdefault(method, set()).add(len(values))
    counts = {method: " or ".join(map(str, sorted(own))) for method, own in draws.items()}
    states = {method: " and ".join(sorted(own)) for method, own in codes.items()}
    same = set(states.values())
    return (
        "Accuracy of the documents without a label in %, mean ± standard error over draws of the "
        "labels. [labels.py](labels.py) says what the methods are; `default` is "
        "`TopicClassifier(LinkPLSA())` as it is, and the first six are its rivals. Draws: "
        f"{of_methods(counts)}. Code: {same.pop() if len(same) == 1 else of_methods(states)}."
    )


def _table(found: Mapping[Place, Mean]) -> str:
    methods = in_order((method for _, method in found), RIVALS)
    datasets = in_order((dataset for dataset, _ in found), DATASETS)
    lines = [[d, *(shown(found.get((d, m))) for m in methods)] for d in datasets]
    columns = [[found.get((d, m)) for d in datasets] for m in methods]
    return markdown(["data", *methods], [*lines, ["mean", *map(mean_of_all, columns)]])


def _against_rivals(found: Mapping[Place, Mean]) -> str:
    """Say how far the default is ahead of the best rival of each data set."""
    differences = {}
    for dataset in in_order((dataset for dataset, _ in found), DATASETS):
        rivals = [found[dataset, r] for r in RIVALS if (dataset, r) in found]
        if rivals and (dataset, "default") in found:
            best = max(rivals, key=lambda mean: mean.value)
            differences[dataset] = found[dataset, "default"] - best
    if not differences:
        return ""
    own = list(differences.values())
    behind = [
        f"{dataset} {difference.format(sign='+')}"
        for dataset, difference in differences.items()
        if difference.value < 0
    ]
    return (
        "`default` minus the best rival of each data set, which is chosen with all labels: mean "
        f"{mean_of_all(own, '+')}, {at_or_above(own)} data sets at or above it within a standard "
        f"error. Below it: {', '.join(behind) or 'none'}."
    )
