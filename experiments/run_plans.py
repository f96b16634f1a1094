"""Run the plans of a paper with `coview.compare`; write results.csv and draw the figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from coview.compare import Plan, Results, run
from experiments.csv_files import write_results
from experiments.paper import Paper
from experiments.quick_data import quick_data


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


def draw_figures(paper: Paper, results: Results, folder: Path) -> None:
    """Draw the figures of a paper, if matplotlib is installed."""
    try:
        import matplotlib as mpl
    except ImportError:
        return
    mpl.use("Agg")
    for figure in paper.figures:
        figure.draw(results, folder / figure.file)
