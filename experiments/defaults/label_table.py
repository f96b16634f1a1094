"""The table of accuracy with a few labels, from labels.csv."""

from __future__ import annotations

import csv
from pathlib import Path

from experiments.defaults.data import DATASETS
from experiments.defaults.tables import (
    NOT_MEASURED,
    Mean,
    in_order,
    markdown,
    mean_of_means,
    shown,
)


def labels_section(path: Path) -> str:
    """Return a table for each share of labels: columns dataset, method, rate, draw, accuracy."""
    if not path.exists():
        return NOT_MEASURED
    found: dict[str, dict[tuple[str, str], list[float]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            by_place = found.setdefault(row["rate"], {})
            by_place.setdefault((row["dataset"], row["method"]), []).append(float(row["accuracy"]))
    draws = sorted({len(v) for by_place in found.values() for v in by_place.values()})
    parts = [
        "Accuracy of the documents without a label in %, mean ± standard error of "
        f"{' or '.join(map(str, draws))} draws of the labels."
    ]
    for rate in sorted(found, key=float):
        parts += [f"{100 * float(rate):g} % labels:", _table(found[rate])]
    return "\n\n".join(parts)


def _table(values: dict[tuple[str, str], list[float]]) -> str:
    found = {place: Mean.of(own) * 100 for place, own in values.items()}
    methods = in_order((method for _, method in found), ())
    datasets = in_order((dataset for dataset, _ in found), DATASETS)
    lines = [[d, *(shown(found.get((d, m))) for m in methods)] for d in datasets]
    columns = [[found[d, m] for d in datasets if (d, m) in found] for m in methods]
    last = ["mean", *(mean_of_means(column).format() for column in columns)]
    return markdown(["data", *methods], [*lines, last])
