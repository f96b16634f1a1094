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
    number,
    runs_of,
    spread,
    to_own,
    to_peer,
)

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
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

ABOUT = f"""# Against other topic models

Written by `make bench` from `benchmarks/measured/*.csv`; do not edit it. {{machine}}

Every library runs in an environment of its own, on one thread, in a process of its own, and in turns with the others, since the machine may have other
work: ratios within a repetition mean more than seconds, and CPU seconds more than those of the clock. A cell has the median over the
repetitions (seeds), with the smallest and the largest in parentheses.

* **A run.** The library gets a matrix of counts in the form that it likes best; reading and converting are not timed, nor are imports and compilers.
  Topics p(w|z) are kept after 1, 2, 3, 4, 6, 8, ... passes (LDA in mini-batches: also after parts of one), and the clock stands still meanwhile. Peers have
  their own tests of convergence switched off and run to their plateau, where doubling the passes gains less than {GAIN:.1%} of held-out perplexity, or to a
  bound of passes ({", ".join(f"{m} {n[1]}" for m, n in PASSES.items())}) or CPU seconds (`--cpu`). coview runs until it stops by itself, and what
  it does after its last pass is added to all of its times.
* **Held-out perplexity.** One function for all, of the topics alone: {SMOOTHING:.0%} of the frequencies of all terms is mixed into each topic, mixtures of
  1,000 held-out documents are folded in on half of their tokens ({FOLD_IN} iterations of EM from equal shares, {PSEUDO_COUNT} added to each
  topic), and the other half is predicted.
* **Equal perplexity.** The target is the best that the *peer* reaches in its run, plus {NEAR - 1:.0%}: how long it takes there, and how long coview does, by its
  default start (which it pays for) and from random topics. The reverse, coview's best plus {NEAR - 1:.0%}, is in the last columns: most peers do not come
  that far in their time, so the ratio is a lower bound (>). "Not reached" means that coview's best is not as good as the target.
* **Memory.** The peak of the process above what it had before the corpus was read, so without the imported libraries; the corpus is included.

"Pass" is one over the corpus; inside it both LDAs of scikit-learn and gensim, and BigARTM, iterate on each document. The generated corpora follow Zipf's law and have
planted topics (`benchmarks/peers/corpora.py`).
"""


def write_page(folder: Path = MEASURED, page: Path = PAGE, plan: Plan = FULL) -> None:
    """Write the page from the results in a folder."""
    page.write_text(text_of(folder, plan))


def text_of(folder: Path, plan: Plan = FULL) -> str:
    """Return the page."""
    runs = runs_of([row for path in sorted(folder.glob("peers-*.csv")) for row in read(path)])
    about = {row["what"]: row["value"] for row in read(folder / "machine.csv")}
    machine = "The machine: " + ", ".join(f"{k} {v}" for k, v in about.items() if v) + "."
    parts = [ABOUT.replace("{machine}", machine), summary(runs)]
    for corpus in dict.fromkeys(key[0] for key in runs):
        parts += [f"## {corpus}\n", _libraries(runs, corpus), _equal(runs, corpus)]
    parts += [_versions(runs), missing(runs, plan)]
    return "\n".join(part for part in parts if part)


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
            known = [r.value for r in ratios if r is not None]
            missed = f", {len(ratios) - len(known)} of {len(ratios)} not reached"
            found.append(spread(known) + (missed if len(known) < len(ratios) else ""))
        rows.append(found)
    head = ("library", "cells", "its CPU s / coview's, all defaults", "the same, random start")
    title = "## All runs together\n\nCPU seconds to the peer's perplexity, over those of coview, in every repetition of every cell.\n"
    return f"{title}\n{table(head, rows)}"


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
    found = {
        NAMES[key[2]]: run.version for key, cell in runs.items() for run in cell.values()
    }
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
    about = f"Repetitions of {plan.repetitions} that are there; `{command}` measures the others and leaves these."
    return f"## What is missing\n\n{about}\n\n" + "\n".join(lines) + "\n"


def short_report(runs: Runs) -> str:
    """Return one line for each run's best, for the quick version."""
    lines = (
        f"{key[0]}, {key[1]} topics, {NAMES[key[2]]}: perplexity {number(run.best)}"
        if run.points
        else f"{key[0]}, {key[1]} topics, {NAMES[key[2]]}: {run.status}"
        for key, cell in runs.items()
        for run in cell.values()
    )
    return "\n".join(lines)
