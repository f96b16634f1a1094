"""Which model when: every model with its defaults on the twelve data sets, as a table.

    python -m experiments.which_model [--seeds 3]      what is not measured yet, then the table
    python -m experiments.which_model --report-only    the table from the results that are there

Measurements are kept in which_model.csv, the table is written for the guide. `COVIEW_DATA` names
the folder with the data sets.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import coview
from coview import Views
from coview.metrics import clustering_accuracy, nmi_max
from experiments.defaults.data import load
from experiments.defaults.parts import timed
from experiments.defaults.results import Cell, Row, Values, Work, read_rows, run, write_sorted

RESULTS = Path(__file__).with_name("which_model.csv")
TABLE = Path(__file__).parents[1] / "docs" / "guide" / "which_model_table.md"
MODELS = ("LinkPLSA", "MVPLSA", "DivergenceCoPLSA", "PairwiseCoPLSA", "VotedPLSA", "MGGM")
# by what a view is: the groups of the table
GROUPS = {
    "words and links": (
        *("cora", "webkb_cornell", "webkb_texas", "webkb_washington", "webkb_wisconsin"),
    ),
    "texts several times": ("reuters1200", "ngs"),
    "texts and images": ("wikipedia",),
    "images, measured": ("mfeat", "msrcv1", "mnist4", "bdgp"),
}
PART = "models"


def cells(n_seeds: int) -> Iterator[tuple[Cell, Work]]:
    """Yield every cell and what measures it, seed by seed."""
    for seed in range(n_seeds):
        for dataset in (name for group in GROUPS.values() for name in group):
            for model in MODELS:
                yield Cell(PART, dataset, "", model, seed), partial(measure, dataset, model, seed)


def measure(dataset: str, name: str, seed: int) -> tuple[Values, float]:
    """Fit one model with its defaults; compare its labels with the classes."""
    views, labels = load(dataset)
    model, seconds = timed(_fit, name, views, len(np.unique(labels)), seed)
    found = model.labels_
    return {
        "nmi": nmi_max(labels, found),
        "accuracy": clustering_accuracy(labels, found),
    }, seconds


def _fit(name: str, views: Views, n_topics: int, seed: int) -> Any:
    return getattr(coview, name)(n_topics, random_state=seed, n_jobs=1).fit(views)


# -- the table -------------------------------------------------------------------------------------


def table(rows: list[Row]) -> str:
    """Return a row for each model: mean NMI by group of data sets, and CPU time against LinkPLSA's.

    Only seeds that were measured for all models and data sets count.
    """
    known = {(r.cell.dataset, r.cell.method, r.cell.seed): r for r in rows if r.metric == "nmi"}
    seeds = _complete_seeds(known)
    lines = [
        f"| model | {' | '.join(GROUPS)} | all | CPU time |",
        f"| --- {'| ---: ' * (len(GROUPS) + 2)}|",
    ]
    for model in MODELS:
        cells_ = [_mean_nmi(known, model, group, seeds) for group in GROUPS.values()]
        everything = tuple(name for group in GROUPS.values() for name in group)
        cells_.append(_mean_nmi(known, model, everything, seeds))
        cells_.append(f"{_cost_ratio(known, model, everything, seeds):.1f}")
        lines.append(f"| `{model}` | {' | '.join(cells_)} |")
    count = "one seed" if len(seeds) == 1 else f"{len(seeds)} seeds"
    note = (
        "NMI in %, as many topics as classes, all defaults, mean of the data sets of a group ±\n"
        f"standard error over {count}; CPU time is the median of its ratio to that of `LinkPLSA`.\n"
        "Written by `python -m experiments.which_model`."
    )
    return "\n".join([*lines, "", note, ""])


def _complete_seeds(known: dict[tuple[str, str, int], Row]) -> list[int]:
    everything = [name for group in GROUPS.values() for name in group]
    return [
        seed
        for seed in sorted({key[2] for key in known})
        if all((d, m, seed) in known for d in everything for m in MODELS)
    ]


def _mean_nmi(
    known: dict[tuple[str, str, int], Row], model: str, datasets: tuple[str, ...], seeds: list[int]
) -> str:
    values = [[100 * known[d, model, s].value for d in datasets] for s in seeds]
    means = np.mean(values, axis=1)
    error = means.std(ddof=1) / np.sqrt(len(means)) if len(means) > 1 else 0.0
    return f"{means.mean():.1f} ± {error:.1f}"


def _cost_ratio(
    known: dict[tuple[str, str, int], Row], model: str, datasets: tuple[str, ...], seeds: list[int]
) -> float:
    ratios = [
        known[d, model, s].cpu_seconds / known[d, "LinkPLSA", s].cpu_seconds
        for d in datasets
        for s in seeds
    ]
    return float(np.median(ratios))


def main() -> None:
    """Measure what is not there yet; write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--report-only", action="store_true")
    args = parser.parse_args()
    if not args.report_only:
        run(cells(args.seeds), RESULTS)
        write_sorted(RESULTS)
    TABLE.write_text(table(read_rows(RESULTS)), encoding="utf-8")


if __name__ == "__main__":
    main()
