"""Run the plans of a paper with `coview.compare`; write results.csv and draw the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from coview.compare import Plan, Results, Run, run
from experiments.csv_files import write_results
from experiments.paper import Paper
from experiments.quick_data import quick_data

CHEAP = 5.0  # seconds of a fit that is run again
SAME = 0.02  # processors and libraries change the last bits, and those sometimes a few labels


def run_paper(
    paper: Paper,
    folder: Path,
    *,
    quick: bool = False,
    plans: Sequence[str] = (),
    models: Sequence[str] = (),
    n_jobs: int | None = 1,
    verbose: int = 1,
) -> Results:
    """Run the cells that are not finished yet and write results.csv into the folder.

    Parameters
    ----------
    paper : Paper
    folder : Path
        Gets `results.csv` and the folder `journal` of finished cells.
    quick : bool, default=False
        Whether to run the small version, on a few documents.
    plans, models : sequences of str, default=()
        Names of plans and labels of models: only these are run, and the rows of others stay in
        results.csv as they are. Without names all are run.
    n_jobs, verbose : int
        As in `coview.compare.run`.
    """
    journal = folder / "journal"
    journal.mkdir(parents=True, exist_ok=True)
    results = Results(())
    for name, plan in _chosen(paper.plans(quick), plans, models).items():
        given = {**paper.data, **(_quick_loaders(plan, paper.data) if quick else {})}
        found = run(
            plan,
            journal / f"{name}.jsonl",
            n_jobs=n_jobs,
            data=given,
            models=paper.models,
            verbose=verbose,
        )
        results += with_plan_name(found, name)
    results = paper.derive(results)
    is_part = bool(plans or models)
    write_results(results, folder / "results.csv", paper.metrics, keep_others=is_part)
    return results


def _chosen(
    found: Mapping[str, Plan], plans: Sequence[str], models: Sequence[str]
) -> dict[str, Plan]:
    """Return the plans with these names, with only the models that have these labels."""
    labels = {entry.label for plan in found.values() for entry in plan.models}
    for what, named, known in (("plan", plans, found), ("model", models, labels)):
        unknown = [name for name in named if name not in known]
        if unknown:
            raise ValueError(f"There is no {what} {unknown[0]!r}; there are {sorted(known)}.")
    wanted = {}
    for name in plans or found:
        entries = [e for e in found[name].models if not models or e.label in models]
        if entries:
            wanted[name] = replace(found[name], models=entries)
    return wanted


def with_plan_name(results: Results, plan: str) -> Results:
    """Return the results with the name of their plan among the settings."""
    runs = [replace(r, settings={"plan": plan, **r.settings}) for r in results.runs]
    return replace(results, runs=tuple(runs))


def _quick_loaders(plan: Plan, given: Mapping[str, Any]) -> dict[str, Any]:
    split = plan.task == "retrieve" and plan.split == "publisher"
    return {
        data.name: partial(quick_data, data.name, given.get(data.name), split)
        for data in plan.datasets
    }


def recheck(paper: Paper, recorded: Results, day: date) -> tuple[str, list[str]]:
    """Run one cheap cell again, drawn by the date; return its name and what has changed since."""
    plans = paper.plans(False)
    cells = [run for run in recorded.runs if _is_cheap(run) and run.model not in paper.models]
    found = [(run, one) for run in cells if (one := _plan_of(run, plans)) is not None]
    run_then, plan = found[np.random.default_rng(day.toordinal()).integers(len(found))]
    place = run_then.settings["plan"], run_then.dataset, run_then.label, run_then.rate
    name = ", ".join(str(part) for part in (*place, f"seed {run_then.seed}") if part is not None)
    (now,) = run(plan, data=paper.data, models=paper.models, verbose=0).runs
    if now.error:
        return name, [now.error]
    pairs = [
        (metric, value, now.values[part][metric])
        for part, values in run_then.values.items()
        for metric, value in values.items()
        if metric in paper.metrics and metric in now.values.get(part, {})
    ]
    changed = [p for p in pairs if abs(p[1] - p[2]) > SAME * max(1.0, abs(p[1]))]
    return name, [f"{metric} was {then:.4g}, is {new:.4g}" for metric, then, new in changed]


def _is_cheap(run: Run) -> bool:
    return not run.error and not run.oracle and run.seconds is not None and run.seconds <= CHEAP


def _plan_of(run: Run, plans: Mapping[str, Plan]) -> Plan | None:
    """Return the plan of one cell; None if it is in no plan any more, or was made of others."""
    plan = plans.get(run.settings["plan"])
    for entry in plan.models if plan is not None else ():
        here = entry.label == run.label and (not entry.datasets or run.dataset in entry.datasets)
        if here and all(run.params.get(n) in values for n, values in entry.grid.items()):
            grid = {n: [run.params[n]] for n in entry.grid}
            return replace(
                plan,
                datasets=[d for d in plan.datasets if d.label == run.dataset],
                models=[replace(entry, grid=grid, datasets=[])],
                seeds=[run.seed],
                label_rates=[] if run.rate is None else [run.rate],
            )
    return None


def draw_figures(paper: Paper, results: Results, folder: Path) -> None:
    """Draw the figures of a paper, if matplotlib is installed."""
    try:
        import matplotlib as mpl
    except ImportError:
        return
    mpl.use("Agg")
    for figure in paper.figures:
        figure.draw(results, folder / figure.file)
