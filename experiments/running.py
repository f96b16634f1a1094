"""Running a paper's plans and writing what came out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from coview.compare import Plan, Results, run
from experiments.paper import Paper
from experiments.records import write_results
from experiments.small import small


def run_paper(
    paper: Paper, folder: Path, *, quick: bool = False, n_jobs: int | None = 1, verbose: int = 1
) -> Results:
    """Run what is not finished yet; write results.csv and the figures into the folder."""
    journal = folder / "journal"
    journal.mkdir(parents=True, exist_ok=True)
    results = Results(())
    for name, plan in paper.plans(quick).items():
        given = {**paper.data, **(_small_data(plan, paper.data) if quick else {})}
        found = run(
            plan,
            journal / f"{name}.jsonl",
            n_jobs=n_jobs,
            data=given,
            models=paper.models,
            verbose=verbose,
        )
        results += named(found, name)
    results = paper.derive(results)
    write_results(results, folder / "results.csv", paper.metrics)
    return results


def named(results: Results, plan: str) -> Results:
    """The results with the name of their plan among the settings."""
    runs = [replace(r, settings={"plan": plan, **r.settings}) for r in results.runs]
    return replace(results, runs=tuple(runs))


def _small_data(plan: Plan, given: Mapping[str, Any]) -> dict[str, Any]:
    split = plan.task == "retrieve" and plan.split == "publisher"
    return {
        data.name: partial(small, data.name, given.get(data.name), split) for data in plan.datasets
    }


def draw_figures(paper: Paper, results: Results, folder: Path) -> None:
    """Draw the figures of a paper; none where matplotlib is not installed."""
    try:
        import matplotlib as mpl
    except ImportError:
        return
    mpl.use("Agg")
    for figure in paper.figures:
        figure.draw(results, folder / figure.file)
