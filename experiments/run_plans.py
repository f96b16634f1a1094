"""Run the plans of a paper with `coview.compare`; write results.csv and draw the figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from coview.compare import Plan, Results, run
from experiments.csv_files import write_results
from experiments.paper import Paper
from experiments.quick_data import quick_data


def run_paper(
    paper: Paper, folder: Path, *, quick: bool = False, n_jobs: int | None = 1, verbose: int = 1
) -> Results:
    """Run the cells that are not finished yet and write results.csv into the folder.

    Parameters
    ----------
    paper : Paper
    folder : Path
        Gets `results.csv` and the folder `journal` of finished cells.
    quick : bool, default=False
        Whether to run the small version, on a few documents.
    n_jobs, verbose : int
        As in `coview.compare.run`.
    """
    journal = folder / "journal"
    journal.mkdir(parents=True, exist_ok=True)
    results = Results(())
    for name, plan in paper.plans(quick).items():
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
    write_results(results, folder / "results.csv", paper.metrics)
    return results


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
