"""Tables of the check sets, and of the ensemble with parts of it switched off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.defaults.ablation import WITHOUT
from experiments.defaults.arms import BASELINES
from experiments.defaults.cluster_tables import (
    at_or_above,
    best_baseline,
    differences,
    judged,
    mean_of_all,
)
from experiments.defaults.data import DATASETS
from experiments.defaults.derived import CHOSEN_WITH, MADE_AFTERWARDS, CheckSet
from experiments.defaults.results import Row
from experiments.defaults.tables import (
    NOT_MEASURED,
    groups,
    in_order,
    markdown,
    means,
    paired_difference,
    seeds_line,
    shown,
)

# -- check sets ------------------------------------------------------------------------------------


def derived_section(rows: Sequence[Row]) -> str:
    """Return `coview.auto` against the best baseline of each check set, in two tables."""
    if not any(row.cell.part == "derived" for row in rows):
        return NOT_MEASURED
    return "\n\n".join(
        [
            "Parts of 20newsgroups whose tokens were dealt to views, parts of the fourteen data "
            "sets, and data that are installed with coview and scikit-learn (`derived.py`). They "
            "are not independent of the fourteen. The best of the ten baselines is chosen with the "
            "labels, with the few seeds there are. In brackets the differences that are below 0 "
            "by more than their standard error. "
            + seeds_line(rows, "derived", [*BASELINES, "auto"]),
            "Made after the settings were chosen:",
            _check_table(rows, MADE_AFTERWARDS),
            "Of the kinds that were looked at when the settings were chosen, drawn anew:",
            _check_table(rows, CHOSEN_WITH),
        ]
    )


def _check_table(rows: Sequence[Row], sets: Mapping[str, CheckSet]) -> str:
    own = [row for row in rows if row.cell.dataset in sets]
    found = means(groups(own, "derived", "nmi", 100))
    by_nmi = differences(found, "auto")
    accuracy = means(groups(own, "derived", "accuracy", 100))
    by_accuracy = differences(accuracy, "auto")
    lines = []
    for name in in_order(by_nmi, sets):
        best = best_baseline(found, name) or ""
        cells = [f"{best} {shown(found[name, '', best])}", shown(found[name, "", "auto"])]
        lines.append([name, sets[name].says, *cells, judged(by_nmi[name])])
        lines[-1].append(judged(by_accuracy.get(name)))
    both = [list(by_nmi.values()), list(by_accuracy.values())]
    last = [f"{mean_of_all(d, '+')}, {at_or_above(d)} at or above" for d in both]
    header = ["data", "what", "best baseline", "auto", "difference", "in accuracy"]
    return markdown(header, [*lines, ["mean", "", "", "", *last]])


# -- parts of the ensemble -------------------------------------------------------------------------


def ensemble_parts_section(rows: Sequence[Row]) -> str:
    """Return what it costs to leave out a part of the ensemble."""
    changed = groups(rows, "ablation", "nmi", 100)
    whole = groups(rows, "clusters", "nmi", 100)
    settings = in_order((key[1] for key in changed), WITHOUT)
    datasets = in_order((key[0] for key in changed), DATASETS)
    if not settings:
        return NOT_MEASURED
    table = [
        [
            paired_difference(changed.get((d, s, "auto"), {}), whole.get((d, "", "auto"), {}))
            for s in settings
        ]
        for d in datasets
    ]
    lines = [
        [d, *(shown(cell, sign="+") for cell in line)]
        for d, line in zip(datasets, table, strict=True)
    ]
    last = ["mean", *(mean_of_all(column, "+") for column in zip(*table, strict=True))]
    return "\n\n".join(
        [
            "NMI of `coview.auto` without some families of its ensemble, minus that of the same "
            "seed with all: without the *fused* space, those with neighbors *by features* or *by "
            "embedding*, and those that are *smoothed*, *spectral* or *diffusion* maps; and with "
            "links as features instead of *links as graphs*, which only cora and WebKB have. "
            + seeds_line(rows, "ablation", ["auto"]),
            markdown(["without", *settings], [*lines, last]),
        ]
    )
