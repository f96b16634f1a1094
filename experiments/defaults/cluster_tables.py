"""Tables of clusters against classes: methods, choices, ablation, robustness, missing views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.defaults.arms import BASELINES, MODELS
from experiments.defaults.changes import CHANGES
from experiments.defaults.data import DATASETS
from experiments.defaults.results import Row
from experiments.defaults.tables import (
    NOT_MEASURED,
    Key,
    Mean,
    groups,
    in_order,
    markdown,
    mean_of_means,
    means,
    paired_difference,
    seeds_line,
    shown,
)

SHOWN = ("auto", "default", "old")  # beside the baselines; the other settings are the ablation


# -- clusters --------------------------------------------------------------------------------------


def clusters_section(rows: Sequence[Row]) -> str:
    """Return NMI of each method, and differences to the best baseline in NMI and accuracy."""
    found = means(groups(rows, "clusters", "nmi", 100))
    accuracy = means(groups(rows, "clusters", "accuracy", 100))
    if not found:
        return NOT_MEASURED
    methods = [*BASELINES, *(m for m in SHOWN if any(key[2] == m for key in found))]
    return "\n\n".join(
        [
            seeds_line(rows, "clusters", methods),
            method_table(found, methods),
            "Against the best of the ten baselines on each data set, which is chosen with the "
            "labels: nobody knows it beforehand. In brackets the differences that are below 0 by "
            "more than their standard error.",
            against_best(found, methods[len(BASELINES) :]),
            "The same in accuracy:",
            against_best(accuracy, methods[len(BASELINES) :]),
        ]
    )


def method_table(found: Mapping[Key, Mean], methods: Sequence[str]) -> str:
    """Return a table of data sets and methods, with the mean over the data sets."""
    datasets = in_order((key[0] for key in found), DATASETS)
    lines = [[d, *(shown(found.get((d, "", m))) for m in methods)] for d in datasets]
    columns = [[found.get((d, "", m)) for d in datasets] for m in methods]
    return markdown(["data", *methods], [*lines, ["mean", *map(mean_of_all, columns)]])


def best_baseline(found: Mapping[Key, Mean], dataset: str) -> str | None:
    """Return the baseline with the largest mean on a data set."""
    there = [b for b in BASELINES if (dataset, "", b) in found]
    return max(there, key=lambda b: found[dataset, "", b].value, default=None)


def differences(found: Mapping[Key, Mean], method: str) -> dict[str, Mean]:
    """Return the difference of a method to the best baseline, by data set."""
    result = {}
    for dataset in in_order((key[0] for key in found), DATASETS):
        best = best_baseline(found, dataset)
        if best and (dataset, "", method) in found:
            result[dataset] = found[dataset, "", method] - found[dataset, "", best]
    return result


def against_best(found: Mapping[Key, Mean], methods: Sequence[str]) -> str:
    """Return a table of differences to the best baseline of each data set."""
    by_method = {method: differences(found, method) for method in methods}
    lines, best_means = [], []
    for dataset in in_order((key[0] for key in found), DATASETS):
        best = best_baseline(found, dataset)
        if best:
            best_means.append(found[dataset, "", best])
            cells = [judged(by_method[m].get(dataset)) for m in methods]
            lines.append([dataset, f"{best} {best_means[-1].format()}", *cells])
    if not lines:
        return NOT_MEASURED
    last = [mean_of_all([by_method[m].get(line[0]) for line in lines], "+") for m in methods]
    return markdown(
        ["data", "best baseline", *methods],
        [*lines, ["mean", mean_of_means(best_means).format(), *last]],
    )


def judged(difference: Mean | None) -> str:
    """Return a difference, in brackets if it is below 0 by more than its standard error."""
    text = shown(difference, sign="+")
    below = difference is not None and difference.value < -difference.error
    return f"({text})" if below else text


def mean_of_all(values: Sequence[Mean | None], sign: str = "") -> str:
    """Return the mean over data sets; where some are not measured, over how many it is."""
    there = [mean for mean in values if mean is not None]
    if not there:
        return "–"
    count = "" if len(there) == len(values) else f" ({len(there)} of {len(values)})"
    return mean_of_means(there).format(sign=sign) + count


# -- choices: leaving one data set out, and one part out -------------------------------------------


def choice_section(rows: Sequence[Row]) -> str:
    """Return what is left of the differences if each data set has no say in the choice."""
    found = means(groups(rows, "clusters", "nmi", 100))
    datasets = in_order((key[0] for key in found), DATASETS)
    complete = [
        method
        for method in (*BASELINES, *MODELS)
        if all((dataset, "", method) in found for dataset in datasets)
    ]
    sets = {
        "setting of coview": [m for m in complete if m in MODELS],
        "baseline": [m for m in complete if m in BASELINES],
    }
    if len(datasets) < 2 or any(len(methods) < 2 for methods in sets.values()):
        return NOT_MEASURED
    chosen = {what: leave_one_out(found, datasets, methods) for what, methods in sets.items()}
    lines = [
        [d, *(f"{chosen[what][d]} {found[d, '', chosen[what][d]].format()}" for what in sets)]
        for d in datasets
    ]
    last = [
        mean_of_means([found[d, "", chosen[what][d]] for d in datasets]).format() for what in sets
    ]
    against = mean_of_means(
        [
            found[d, "", chosen["setting of coview"][d]]
            - found[d, "", best_baseline(found, d) or ""]
            for d in datasets
        ]
    )
    return "\n\n".join(
        [
            "Of the settings of coview that were run on all data sets "
            f"({', '.join(sets['setting of coview'])}), the one with the best mean NMI on all the "
            "*other* data sets, measured on the one left out; and the same choice among the ten "
            "baselines.",
            markdown(["left out", *sets], [*lines, ["mean", *last]]),
            f"Against the best baseline of each data set: {against.format(sign='+')} points.",
        ]
    )


def leave_one_out(
    found: Mapping[Key, Mean], datasets: Sequence[str], methods: Sequence[str]
) -> dict[str, str]:
    """Return for each data set the method that is best on average on all the others."""
    return {
        left_out: max(
            methods,
            key=lambda m: sum(found[d, "", m].value for d in datasets if d != left_out),
        )
        for left_out in datasets
    }


def ablation_section(rows: Sequence[Row]) -> str:
    """Return NMI of each setting of coview on each data set."""
    found = means(groups(rows, "clusters", "nmi", 100))
    settings = in_order((key[2] for key in found if key[2] in MODELS), MODELS)
    if not settings:
        return NOT_MEASURED
    against = {method: list(differences(found, method).values()) for method in settings}
    summary = [[m, mean_of_all(own, "+"), at_or_above(own)] for m, own in against.items()]
    header = ["setting", "mean difference to the best baseline", "data sets at or above it"]
    return "\n\n".join(
        [
            "Settings of `LinkPLSA`, as `arms.py` defines them; a data set is at or above the best "
            "baseline within a standard error. " + seeds_line(rows, "clusters", settings),
            markdown(header, summary),
            method_table(found, settings),
        ]
    )


def at_or_above(against: Sequence[Mean]) -> str:
    """Say how many differences are not below 0 by more than their standard error."""
    return f"{sum(d.value >= -d.error for d in against)} of {len(against)}"


# -- robustness and missing views ------------------------------------------------------------------


def robustness_section(rows: Sequence[Row]) -> str:
    """Return what one more view costs, by kind, on each data set."""
    methods = in_order((key[2] for key in groups(rows, "robustness", "nmi")), (*SHOWN, *BASELINES))
    if not methods:
        return NOT_MEASURED
    return "\n\n".join(
        [
            "NMI with one more view, minus that of the same seed without: a view of *noise* (a "
            "copy of one view whose columns are shuffled one by one), a copy whose documents are "
            "*shuffled*, and a *duplicate*. The views take turns in being copied, seed by seed; "
            "after the slash, the mean of the view whose copy costs most. "
            + seeds_line(rows, "robustness", methods),
            *(_robustness_table(rows, method) for method in methods),
        ]
    )


def _robustness_table(rows: Sequence[Row], method: str) -> str:
    changed = groups(rows, "robustness", "nmi", 100)
    clean = groups(rows, "clusters", "nmi", 100)
    copied = groups(rows, "robustness", "view")
    datasets = in_order((key[0] for key in changed if key[2] == method), DATASETS)
    lines, columns = [], []
    for dataset in datasets:
        before = clean.get((dataset, "", method), {})
        keys = [(dataset, kind, method) for kind in CHANGES]
        own = [paired_difference(changed.get(key, {}), before) for key in keys]
        worst = [_worst_view(changed.get(key, {}), before, copied.get(key, {})) for key in keys]
        pairs = zip(own, worst, strict=True)
        lines.append([dataset, *(f"{shown(d, sign='+')} / {shown(w, sign='+')}" for d, w in pairs)])
        columns.append(own)
    last = [mean_of_all(column, "+") for column in zip(*columns, strict=True)]
    return markdown([method, *CHANGES], [*lines, ["mean", *last]])


def _worst_view(
    changed: Mapping[int, float], before: Mapping[int, float], copied: Mapping[int, float]
) -> Mean | None:
    """Return the mean difference over the seeds that copy the view with the largest loss."""
    by_view: dict[float, dict[int, float]] = {}
    for seed, value in changed.items():
        by_view.setdefault(copied.get(seed, 0.0), {})[seed] = value
    found = [paired_difference(own, before) for own in by_view.values()]
    return min((d for d in found if d), key=lambda d: d.value, default=None)


def missing_section(rows: Sequence[Row]) -> str:
    """Return NMI of each method with 30 % of the cells missing."""
    found = means(groups(rows, "missing", "nmi", 100))
    if not found:
        return NOT_MEASURED
    methods = in_order((key[2] for key in found), (*BASELINES, *SHOWN))
    others = [m for m in methods if m not in BASELINES]
    return "\n\n".join(
        [
            "30 % of the (document, view) cells are taken away at random, other ones for each seed "
            "but the same for all methods; each document keeps at least one view. "
            + seeds_line(rows, "missing", methods),
            method_table(found, methods),
            *(["Against the best baseline:", against_best(found, others)] if others else []),
        ]
    )
