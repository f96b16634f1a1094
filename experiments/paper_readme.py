"""The README of a paper, made from published.csv, results.csv and the files written by hand.

The same files give the same bytes: a test compares the committed README with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coview.compare import Results, Run
from coview.models import MODEL_NAMES
from experiments.csv_files import Published, read_published, read_results
from experiments.paper import Paper, published
from experiments.paper_tables import render

MADE = "<!-- made by `python -m experiments {} --report-only`: change the files it is made of -->"


def write_readme(paper: Paper, folder: Path) -> None:
    """Write README.md into the folder of a paper."""
    (folder / "README.md").write_text(readme(paper, folder), encoding="utf-8")


def readme(paper: Paper, folder: Path) -> str:
    """Return the text of a paper's README, from the files in its folder."""
    published = read_published(folder / "published.csv")
    results = read_results(folder / "results.csv")
    number = folder.name.split("_")[0]
    parts = [
        MADE.format(number),
        f"# {number}: {paper.title}",
        paper.reference,
        _how_to_run(number),
        _by_hand("What came out", folder / "findings.md"),
        *(f"## {table.title}\n\n{render(table, results, published)}" for table in paper.tables),
        _figures(paper, folder),
        _how_it_was_run(results),
        _by_hand("Departures from the paper", folder / "deviations.md"),
        _not_in_our_copy(published),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _how_to_run(number: str) -> str:
    return (
        f"`python -m experiments {number}` runs it again and writes this page. Published numbers "
        "are in [published.csv](published.csv), ours with all seeds in [results.csv](results.csv)."
    )


def _by_hand(title: str, path: Path) -> str:
    return f"## {title}\n\n{path.read_text(encoding='utf-8').strip()}" if path.exists() else ""


def _figures(paper: Paper, folder: Path) -> str:
    found = [f for f in paper.figures if (folder / f.file).exists()]
    lines = [f"![{f.caption}]({f.file})\n\n*{f.caption}*" for f in found]
    return "## Figures\n\n" + "\n\n".join(lines) if lines else ""


# -- how it was run --------------------------------------------------------------------------------


def _how_it_was_run(results: Results) -> str:
    """Return parameters, seeds and versions, one line for each model and data set."""
    header = ["| plan | model | data | parameters | seeds | seconds |", "| --- " * 5 + "| ---: |"]
    found: dict[tuple[str, ...], list[Run]] = {}
    for run in results.runs:
        key = (run.settings["plan"], run.label, _parameters(run))
        found.setdefault(key, []).append(run)
    rows = [
        f"| {plan} | {label} | {_datasets(runs)} | {params} | {_seeds(runs)} | {_seconds(runs)} |"
        for (plan, label, params), runs in found.items()
    ]
    versions = sorted({run.versions for run in results.runs if run.versions})
    text = "Parameters that are not named are the defaults. Seconds are the mean of a fit on one "
    text += f"core of a shared machine. {'; '.join(versions)}."
    return "\n".join(["## How it was run", "", text, "", *header, *rows])


def _parameters(run: Run) -> str:
    shown = {n: run.settings[n] for n in ("views", "concat", "steps") if n in run.settings}
    paper = published(run.model) if run.model in MODEL_NAMES else {}
    literal = bool(paper) and paper.keys() <= run.params.keys()
    own = {n: v for n, v in run.params.items() if not (literal and paper.get(n, n) == v)}
    listed = [f"{name}={_plain(value)}" for name, value in {**own, **shown}.items()]
    parts = ["as published"] * literal + [f"`{', '.join(listed)}`"] * bool(listed)
    return ", ".join(parts) or "defaults"


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _datasets(runs: Sequence[Run]) -> str:
    return ", ".join(dict.fromkeys(run.dataset for run in runs))


def _seeds(runs: Sequence[Run]) -> str:
    seeds = sorted({run.seed for run in runs if not run.error})
    whole = len(seeds) > 1 and seeds == list(range(seeds[0], seeds[-1] + 1))
    return f"{seeds[0]} to {seeds[-1]}" if whole else " ".join(map(str, seeds))


def _seconds(runs: Sequence[Run]) -> str:
    known = [run.seconds for run in runs if run.seconds is not None]
    return f"{sum(known) / len(known):.2g}" if known else ""


def _not_in_our_copy(published: Published) -> str:
    """Return a list of the paper's numbers that have no value, with the reason."""
    lacking: dict[tuple[str, str], list[str]] = {}
    for (table, row, column, _), number in published.items():
        if number.value is None:
            lacking.setdefault((table, number.note), []).append(f"{row} {column}".strip())
    lines = [f"* {table} ({note}): {'; '.join(what)}" for (table, note), what in lacking.items()]
    return "\n".join(["## Numbers without a value", "", *lines]) if lines else ""
