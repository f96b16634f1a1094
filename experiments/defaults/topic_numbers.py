"""Is the suggested number of topics right? Writes topic_numbers.md.

    python -m experiments.defaults.topic_numbers [--seeds 1] [--kinds ...] [--data ngs mfeat ...]

`coview.select_topics` with all defaults. Planted data: eleven kinds of 800 documents
(experiments/defaults/planted.py) with 3 to 30 topics, candidates 2 to 40. Real data under
COVIEW_DATA: candidates 2 to 25, and "right" is the number of classes, which is one answer among
others. Rows are written as they come, with --resume only those that are missing.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coview import Views, select_topics
from coview.datasets import DATASETS, load_dataset
from experiments.defaults.planted import KINDS

PLANTED = (3, 5, 8, 12, 20, 30)
DATA = (
    *("mfeat", "msrcv1", "reuters1200", "cora", "webkb_cornell", "webkb_texas"),
    *("webkb_washington", "webkb_wisconsin", "wikipedia", "ngs", "bdgp", "mnist4"),
)
HERE = Path(__file__).parent

Record = dict[str, Any]


def measure(views: Views, candidates: str, seed: int) -> Record:
    """Return what is suggested, and what each criterion alone would choose."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = select_topics(views, candidates, random_state=seed, n_jobs=1)
    return {
        "suggestion": found.suggestion,
        "confidence": found.confidence,
        "plausible": [found.plausible[0], found.plausible[-1]],
        "votes": found.votes,
        "seconds": time.process_time() - begin,
        "documents": views.n_docs,
    }


def load(name: str) -> Views:
    """Read a data set: as its loader does, where there is one (which leaves out some views)."""
    if name in DATASETS:
        return load_dataset(name)
    return Views.load(Path(os.environ["COVIEW_DATA"]) / name)


def planted_records(kinds: Sequence[str], seeds: int, done: set[str]) -> Iterable[Record]:
    """Yield a record for each kind, number of topics and seed that is not done."""
    for kind in kinds:
        for n_topics in PLANTED:
            for seed in range(seeds):
                key = f"planted/{kind}/{n_topics}/{seed}"
                if key not in done:
                    found = measure(KINDS[kind](n_topics, seed), "2:40", seed)
                    yield {"key": key, "name": kind, "right": n_topics, **found}


def real_records(names: Sequence[str], seeds: int, done: set[str]) -> Iterable[Record]:
    """Yield a record for each data set and seed that is not done."""
    for name in names:
        for seed in range(seeds):
            key = f"real/{name}/{seed}"
            if key not in done:
                views = load(name)
                right = len(np.unique(views.labels))
                yield {"key": key, "name": name, "right": right, **measure(views, "2:25", seed)}


# -- the page --------------------------------------------------------------------------------------


def is_right(record: Record, number: int | None = None) -> bool:
    """Return whether a number is within one of the right one."""
    number = record["suggestion"] if number is None else number
    return abs(number - record["right"]) <= 1


def share(records: Sequence[Record]) -> str:
    """Return how many are right."""
    return f"{sum(map(is_right, records))} of {len(records)}"


def planted_table(records: Sequence[Record]) -> list[str]:
    """Return a row for each kind: the suggestions for each planted number."""
    lines = [
        f"| | {' | '.join(map(str, PLANTED))} | within one |",
        f"| --- {'| --- ' * len(PLANTED)}| --- |",
    ]
    for kind in dict.fromkeys(r["name"] for r in records):
        rows = [r for r in records if r["name"] == kind]
        cells = [_suggested([r for r in rows if r["right"] == k]) for k in PLANTED]
        lines.append(f"| {kind} | {' | '.join(cells)} | {share(rows)} |")
    return lines


def _suggested(records: Sequence[Record]) -> str:
    """Return the suggestions, those that are off in bold, those of low confidence with a mark."""
    texts = [f"{r['suggestion']}{'?' if r['confidence'] == 'low' else ''}" for r in records]
    return ", ".join(t if is_right(r) else f"**{t}**" for t, r in zip(texts, records, strict=True))


def real_table(records: Sequence[Record]) -> list[str]:
    """Return a row for each data set."""
    lines = [
        "| | classes | suggested | confidence | between | within one |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name in dict.fromkeys(r["name"] for r in records):
        rows = [r for r in records if r["name"] == name]
        cells = (
            ", ".join(str(r["suggestion"]) for r in rows),
            ", ".join(r["confidence"] for r in rows),
            ", ".join("-".join(map(str, dict.fromkeys(r["plausible"]))) for r in rows),
        )
        lines.append(f"| {name} | {rows[0]['right']} | {' | '.join(cells)} | {share(rows)} |")
    return lines


def criteria_table(planted: Sequence[Record], real: Sequence[Record]) -> list[str]:
    """Return how often each criterion alone is within one."""
    lines = ["| | planted | real |", "| --- | --- | --- |"]
    for name in ("dimensions", "features", "documents", "perplexity", "stability"):
        cells = []
        for records in (planted, real):
            votes = [r for r in records if name in r["votes"]]
            cells.append(f"{sum(is_right(r, r['votes'][name]) for r in votes)} of {len(votes)}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines.append(f"| the suggestion | {share(planted)} | {share(real)} |")
    for level in ("high", "medium", "low"):
        parts = [[r for r in part if r["confidence"] == level] for part in (planted, real)]
        lines.append(f"| of {level} confidence | {' | '.join(map(share, parts))} |")
    return lines


def page(records: Sequence[Record]) -> str:
    """Return the page as markdown."""
    planted = [r for r in records if r["key"].startswith("planted")]
    real = [r for r in records if r["key"].startswith("real")]
    lines = [
        "# The number of topics",
        "",
        "Generated by `python -m experiments.defaults.topic_numbers`; its docstring describes it.",
        "",
        "## Planted",
        "",
        "Suggestions for 800 documents with 3 to 30 topics, one for each seed, among 2 to 40. In",
        "bold: off by more than one. A question mark: low confidence.",
        "",
        *planted_table(planted),
        "",
        "## Real",
        "",
        "Suggestions among 2 to 25 against the number of classes; at most 2,000 documents of each.",
        "",
        *real_table(real),
        "",
        "## Each criterion alone",
        "",
        "Within one of the planted number, or of the number of classes. `dimensions` speaks only",
        "where there is a cliff.",
        "",
        *criteria_table(planted, real),
        "",
        "## Cost",
        "",
        f"CPU seconds on one core, median and most: planted {_seconds(planted)}, real",
        f"{_seconds(real)}.",
        "",
    ]
    return "\n".join(lines)


def _seconds(records: Sequence[Record]) -> str:
    seconds = [r["seconds"] for r in records] or [0.0]
    return f"{np.median(seconds):.0f} ({max(seconds):.0f})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--real-seeds", type=int, default=1)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--data", nargs="*", default=DATA, metavar="NAME")
    parser.add_argument("--records", type=Path, default=HERE / "topic_numbers.jsonl")
    parser.add_argument("--output", type=Path, default=HERE / "topic_numbers.md")
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args(arguments)
    if args.data and not os.environ.get("COVIEW_DATA"):
        parser.error("Set COVIEW_DATA to the folder of the data sets.")
    lines = args.records.read_text().splitlines() if args.resume and args.records.exists() else []
    records = [json.loads(line) for line in lines]
    done = {r["key"] for r in records}
    args.records.write_text("".join(f"{line}\n" for line in lines))
    for found in (
        real_records(args.data, args.real_seeds, done),
        planted_records(args.kinds, args.seeds, done),
    ):
        for record in found:
            records.append(record)
            print(record["key"], record["suggestion"], record["confidence"], flush=True)
            with args.records.open("a") as file:
                file.write(json.dumps(record) + "\n")
            args.output.write_text(page(records), "utf-8")
    args.output.write_text(page(records), "utf-8")


if __name__ == "__main__":
    main()
