"""The page of results, docs/benchmarks.md, written from the files in benchmarks/measured."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.peers.measure import MEASURED, METHODS, PASSES, Plan, read
from benchmarks.peers.perplexity import FOLD_IN, PSEUDO_COUNT, SMOOTHING
from benchmarks.peers.plateau import GAIN
from benchmarks.peers.ratios import (
    NEAR,
    Run,
    compared,
    in_words,
    runs_of,
    spread,
    to_own,
    to_peer,
)

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
ABOUT = Path(__file__).parents[1] / "pages" / "peers.md"
FULL = Plan(("20newsgroups", "zipf-2.5M", "zipf-25M"), (20, 50, 100))
OWN = ("coview", "coview-random")
NAMES = {
    "coview": "coview `PLSA`, all defaults",
    "coview-random": 'coview `PLSA(init="random")`',
    "nmf": "scikit-learn `NMF`, KL",
    "lda": "scikit-learn LDA, batch",
    "lda-online": "scikit-learn LDA, online",
    "gensim": "gensim `LdaModel`",
    "tomotopy": "tomotopy `LDAModel`",
    "enstop": "enstop `PLSA`",
    "bigartm": "BigARTM, offline",
}
Runs = dict[tuple[str, int, str], dict[int, Run]]


def write_page(folder: Path = MEASURED, page: Path = PAGE, plan: Plan = FULL) -> None:
    """Write the page from the results in a folder."""
    page.write_text(text_of(folder, plan))


def text_of(folder: Path, plan: Plan = FULL) -> str:
    """Return the page."""
    runs = runs_of([row for path in sorted(folder.glob("peers-*.csv")) for row in read(path)])
    about = {row["what"]: row["value"] for row in read(folder / "machine.csv")}
    parts = [introduction(about), notes(folder), summary(runs)]
    for corpus in dict.fromkeys(key[0] for key in runs):
        parts += [f"## {corpus}\n", _libraries(runs, corpus), _equal(runs, corpus)]
    parts += [_versions(runs), missing(runs, plan)]
    return "\n".join(part for part in parts if part)


def introduction(about: dict[str, str]) -> str:
    """Return what was measured, how, and on which machine."""
    return ABOUT.read_text().format(
        machine="The machine: " + ", ".join(f"{k} {v}" for k, v in about.items() if v) + ".",
        passes=", ".join(f"{method} {bounds[1]}" for method, bounds in PASSES.items()),
        gain=GAIN,
        smoothing=SMOOTHING,
        fold_in=FOLD_IN,
        pseudo_count=PSEUDO_COUNT,
        near=NEAR - 1,
    )


def notes(folder: Path) -> str:
    """Return what a person noted about this measurement, if anything."""
    path = folder / "notes.md"
    return f"## About this measurement\n\n{path.read_text()}" if path.exists() else ""


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown; all columns but the first two are numbers."""
    line = ["---" if i < 2 else "---:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, line, *rows)) + "\n"


def summary(runs: Runs) -> str:
    """Return a table of the smallest, the middle and the largest ratio of each peer."""
    rows = []
    for peer in [m for m in METHODS if m not in OWN]:
        found = [NAMES[peer], str(len([key for key in runs if key[2] == peer]))]
        for own in OWN:
            ratios = list(_all_ratios(runs, peer, own, to_peer))
            found.append(in_words(ratios))
        rows.append(found)
    head = ("library", "cells", "its CPU s / coview's, all defaults", "the same, random start")
    about = "CPU seconds to the peer's perplexity, over coview's, in all repetitions of all cells."
    return f"## All runs together\n\n{about}\n\n{table(head, rows)}"


def _all_ratios(runs: Runs, peer: str, own: str, how) -> Iterator:
    for (corpus, n_topics, method), theirs in runs.items():
        if method == peer:
            yield from compared(theirs, runs.get((corpus, n_topics, own), {}), how)


def _cells(runs: Runs, corpus: str) -> Iterator[tuple[int, str, dict[int, Run]]]:
    for n_topics in sorted({key[1] for key in runs if key[0] == corpus}):
        for method in METHODS:
            if (corpus, n_topics, method) in runs:
                yield n_topics, method, runs[corpus, n_topics, method]


def _libraries(runs: Runs, corpus: str) -> str:
    """Return what each library does by itself."""
    rows = []
    for n_topics, method, cell in _cells(runs, corpus):
        good = [run for run in cell.values() if run.points]
        if not good:
            rows.append([str(n_topics), NAMES[method], next(iter(cell.values())).status] + [""] * 4)
            continue
        rows.append(
            [
                str(n_topics),
                NAMES[method],
                spread([run.seconds_a_pass for run in good]),
                spread([run.points[-1]["passes"] for run in good]) + _bounded(good),
                spread([run.points[-1]["cpu"] for run in good]),
                spread([run.best for run in good]),
                spread([run.fit_mb for run in good]),
            ]
        )
    head = ("topics", "library", "CPU s a pass", "passes", "CPU s in all", "best perplexity", "MB")
    note = "\\* ended by its bound of time or passes, before its plateau\n"
    return table(head, rows) + (f"\n{note}" if any("*" in row[3] for row in rows) else "")


def _bounded(runs: Sequence[Run]) -> str:
    """Mark runs that were ended before their plateau."""
    return " *" if any(run.status == "bound" for run in runs) else ""


def _equal(runs: Runs, corpus: str) -> str:
    """Return the comparisons with coview at equal perplexity."""
    rows = []
    for n_topics, method, cell in _cells(runs, corpus):
        if method in OWN:
            continue
        default, random = (runs.get((corpus, n_topics, own), {}) for own in OWN)
        both = [r for r in cell if r in default and cell[r].points and default[r].points]
        ours = [default[r].seconds_to(NEAR * cell[r].best) for r in both]
        rows.append(
            [
                str(n_topics),
                NAMES[method],
                spread([cell[r].seconds_to(NEAR * cell[r].best) or float("nan") for r in both]),
                spread([s for s in ours if s is not None]),
                in_words(compared(cell, default)),
                in_words(compared(cell, random)),
                in_words(compared(cell, default, clock="wall")),
                in_words(compared(cell, default, to_own)),
                in_words(compared(cell, random, to_own)),
                spread([cell[r].fit_mb / default[r].fit_mb for r in both]),
            ]
        )
    head = (
        *("topics", "library", "its CPU s", "coview's", "ratio", "ratio, random start"),
        *("ratio by the clock", "to coview's best", "the same, random start", "memory, ratio"),
    )
    return table(head, rows)


def _versions(runs: Runs) -> str:
    found = {NAMES[key[2]]: run.version for key, cell in runs.items() for run in cell.values()}
    words = ", ".join(f"{name} {version}" for name, version in found.items())
    return f"## Versions\n\n{words}.\n"


def missing(runs: Runs, plan: Plan) -> str:
    """Say which cells have fewer repetitions than the plan, and which command measures them."""
    lines = []
    for corpus in plan.corpora:
        short: dict[str, list[str]] = {}
        for n_topics in plan.topics:
            for method in plan.methods:
                n = len(runs.get((corpus, n_topics, method), {}))
                if n < plan.repetitions:
                    short.setdefault(f"{n_topics} topics", []).append(f"{method} {n}")
        lines += [f"* {corpus}, {cell}: {', '.join(which)}" for cell, which in short.items()]
    if not lines:
        return ""
    command = f"python -m benchmarks.peers --corpora {' '.join(plan.corpora)}"
    about = f"Repetitions that are there, of {plan.repetitions}; `{command}` measures the others."
    return f"## What is missing\n\n{about}\n\n" + "\n".join(lines) + "\n"
