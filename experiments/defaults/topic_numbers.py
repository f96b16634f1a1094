"""Are the numbers of topics right, and what do they cost? Writes topic_numbers.md.

    python -m experiments.defaults.topic_numbers [--seeds 1] [--kinds ...] [--data ngs mfeat ...]

`coview.select_topics` with all defaults. Planted data: eleven kinds of 800 documents
(experiments/defaults/planted.py) with 3 to 30 topics; both ends should be the planted number; and
three kinds without any topics, where no number should be supported. Real data under COVIEW_DATA and
`load_python_api`, and parts of them with some of the classes: the number of classes, which is one
answer among others, should be within [coarse / 1.3, fine x 1.3], and fine within a factor of two of
it. Cost: CPU seconds of `coview.auto(views)`, and of `LinkPLSA` with the number of topics that
`auto` has chosen. Rows are written as they come, with --resume only those that are missing.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from coview import LinkPLSA, Views, auto, select_topics
from coview.datasets import DATASETS, load_dataset, load_python_api
from experiments.defaults.planted import KINDS, NOTHING

PLANTED = (3, 5, 12, 20, 30)
DATA = (
    *("mfeat", "msrcv1", "reuters1200", "cora", "webkb_cornell", "webkb_texas"),
    *("webkb_washington", "webkb_wisconsin", "wikipedia", "ngs", "bdgp", "mnist4"),
    *("synthetic3d", "wikiarticles", "20newsgroups", "python_api"),
)
# a data set and how many of its classes are drawn: more sets, with other numbers
PARTS = (
    *(("20newsgroups", 6), ("20newsgroups", 10), ("20newsgroups", 15), ("mfeat", 5)),
    *(("mfeat", 7), ("wikipedia", 6), ("python_api", 25), ("reuters1200", 4), ("ngs", 3)),
    *(("cora", 4), ("msrcv1", 4), ("bdgp", 3)),
)
COST = ("mfeat", "wikipedia", "reuters1200", "20newsgroups", "cora", "python_api")
NOTHING_SEEDS = 5
HERE = Path(__file__).parent

Record = dict[str, Any]


def measure(views: Views, seed: int) -> Record:
    """Return both ends and how sure they are."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = select_topics(views, random_state=seed)
    return {
        "coarse": found.coarse,
        "fine": found.fine,
        "confidence": found.confidence,
        "bits": float(found.bits.mean(axis=0).max()),
        "seconds": time.process_time() - begin,
        "documents": views.n_docs,
    }


def load(name: str) -> Views:
    """Read a data set: as its loader does, where there is one (which leaves out some views)."""
    if name == "python_api":
        return load_python_api()
    if name in DATASETS:
        return load_dataset(name)
    return Views.load(Path(os.environ["COVIEW_DATA"]) / name)


def part_of(name: str, n_classes: int) -> Views:
    """Return the documents of some of the classes of a data set, drawn at random."""
    views = load(name)
    classes, which = np.unique(views.labels, return_inverse=True)
    drawn = np.random.default_rng(n_classes).choice(len(classes), n_classes, replace=False)
    return views[np.flatnonzero(np.isin(which, drawn))]


def planted_records(kinds: Sequence[str], seeds: int, done: set[str]) -> Iterable[Record]:
    """Yield a record for each kind, number of topics and seed that is not done."""
    for kind in kinds:
        for n_topics in PLANTED:
            for seed in range(seeds):
                key = f"planted/{kind}/{n_topics}/{seed}"
                if key not in done:
                    found = measure(KINDS[kind](n_topics, seed), seed)
                    yield {"key": key, "name": kind, "right": n_topics, **found}


def real_records(names: Sequence[str], seeds: int, done: set[str]) -> Iterable[Record]:
    """Yield a record for each data set and seed that is not done, then those of parts of them."""
    sets = [(name, name, partial(load, name)) for name in names]
    parts = [part for part in PARTS if part[0] in names]
    sets += [(f"{name}, {k} classes", name, partial(part_of, name, k)) for name, k in parts]
    for title, _, make in sets:
        for seed in range(seeds):
            key = f"real/{title}/{seed}"
            if key not in done:
                views = make()
                right = len(np.unique(views.labels))
                yield {"key": key, "name": title, "right": right, **measure(views, seed)}


def nothing_records(done: set[str]) -> Iterable[Record]:
    """Yield a record for each kind of data without topics and each seed."""
    for kind, make in NOTHING.items():
        for seed in range(NOTHING_SEEDS):
            key = f"nothing/{kind}/{seed}"
            if key not in done:
                yield {"key": key, "name": kind, "right": None, **measure(make(seed), seed)}


def cost_records(names: Sequence[str], done: set[str]) -> Iterable[Record]:
    """Yield CPU seconds of `auto` and of the fit with the number of topics that it has chosen."""
    names = [name for name in names if f"cost/{name}" not in done]
    for name in (*names[:1], *names):  # the first is fitted twice: it pays for what is compiled
        views = load(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begin = time.process_time()
            chosen = auto(views, verbose=False)
            middle = time.process_time()
            LinkPLSA(chosen.n_components, random_state=0).fit(views)
            end = time.process_time()
        record = {"key": f"cost/{name}", "name": name, "topics": int(chosen.n_components)}
        found = {**record, "auto": middle - begin, "fit": end - middle}
        if names and (name != names[0] or record["key"] in done):
            yield found
        done.add(record["key"])


# -- the page --------------------------------------------------------------------------------------


def ends_are_right(record: Record) -> bool:
    """Return whether both ends are within one of the planted number."""
    ends = record["coarse"], record["fine"]
    return all(end is not None and abs(end - record["right"]) <= 1 for end in ends)


def in_range(record: Record) -> bool:
    """Return whether the classes are between the ends, a little beyond them included."""
    if record["fine"] is None:
        return False
    return bool(record["coarse"] / 1.3 <= record["right"] <= 1.3 * record["fine"])


def near_fine(record: Record) -> bool:
    """Return whether fine is within a factor of two of the classes."""
    return record["fine"] is not None and 0.5 <= record["fine"] / record["right"] <= 2


def share(records: Sequence[Record], *tests: Callable[[Record], bool]) -> str:
    """Return how many pass all tests."""
    return f"{sum(all(test(r) for test in tests) for r in records)} of {len(records)}"


def planted_table(records: Sequence[Record]) -> list[str]:
    """Return a row for each kind: the ends for each planted number."""
    lines = [
        f"| | {' | '.join(map(str, PLANTED))} | both within one |",
        f"| --- {'| --- ' * len(PLANTED)}| --- |",
    ]
    for kind in dict.fromkeys(r["name"] for r in records):
        rows = [r for r in records if r["name"] == kind]
        cells = [_ends([r for r in rows if r["right"] == k]) for k in PLANTED]
        lines.append(f"| {kind} | {' | '.join(cells)} | {share(rows, ends_are_right)} |")
    return [*lines, f"| all | {'| ' * len(PLANTED)}| {share(records, ends_are_right)} |"]


def _ends(records: Sequence[Record]) -> str:
    """Return the ends, those that are off in bold."""
    texts = [
        str(r["fine"]) if r["coarse"] == r["fine"] else f"{r['coarse']}-{r['fine']}"
        for r in records
    ]
    pairs = zip(texts, records, strict=True)
    return ", ".join(t if ends_are_right(r) else f"**{t}**" for t, r in pairs)


def real_table(records: Sequence[Record]) -> list[str]:
    """Return a row for each data set."""
    lines = [
        "| | classes | coarse to fine | confidence | bits | in range | within a factor of two |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in dict.fromkeys(r["name"] for r in records):
        rows = [r for r in records if r["name"] == name]
        cells = (
            ", ".join(f"{r['coarse']} to {r['fine']}" for r in rows),
            ", ".join(r["confidence"] for r in rows),
            ", ".join(f"{r['bits']:.2f}" for r in rows),
            share(rows, in_range),
            share(rows, near_fine),
        )
        lines.append(f"| {name} | {rows[0]['right']} | {' | '.join(cells)} |")
    return [*lines, f"| all | | | | | {share(records, in_range)} | {share(records, near_fine)} |"]


def confidence_table(planted: Sequence[Record], real: Sequence[Record]) -> list[str]:
    """Return how often the answer is right, by how sure it says it is."""
    lines = ["| confidence | planted | real | all |", "| --- | --- | --- | --- |"]
    for level in ("high", "medium", "low", "none"):
        parts = [
            [r for r in part if r["confidence"] == level]
            for part in (planted, real, [*planted, *real])
        ]
        cells = (share(part, in_range, near_fine) for part in parts)
        lines.append(f"| {level} | {' | '.join(cells)} |")
    return lines


def nothing_table(records: Sequence[Record]) -> list[str]:
    """Return how often data without topics are said to support no number."""
    lines = ["| | no number is supported |", "| --- | --- |"]
    for kind in dict.fromkeys(r["name"] for r in records):
        rows = [r for r in records if r["name"] == kind]
        lines.append(f"| {kind} | {share(rows, lambda r: r['fine'] is None)} |")
    return lines


def cost_table(records: Sequence[Record]) -> list[str]:
    """Return CPU seconds of `auto` and of one fit."""
    lines = ["| | topics | auto | LinkPLSA | ratio |", "| --- | --- | --- | --- | --- |"]
    for r in records:
        cells = f"{r['auto']:.1f} | {r['fit']:.1f} | {r['auto'] / r['fit']:.1f}"
        lines.append(f"| {r['name']} | {r['topics']} | {cells} |")
    return lines


def page(records: Sequence[Record]) -> str:
    """Return the page as markdown."""
    planted = [r for r in records if r["key"].startswith("planted")]
    real = [r for r in records if r["key"].startswith("real")]
    whole = [r for r in real if "," not in r["name"] and r["name"] != "python_api"]
    nothing = [r for r in records if r["key"].startswith("nothing")]
    lines = [
        "# The number of topics",
        "",
        "Generated by `python -m experiments.defaults.topic_numbers`; its docstring describes it.",
        "",
        "## Planted",
        "",
        "Coarse and fine, one number where they are the same, for 800 documents. In bold: one is",
        "off by more than one.",
        "",
        *planted_table(planted),
        "",
        "## Real",
        "",
        "In range: the number of classes is at least coarse / 1.3 and at most 1.3 times fine.",
        "",
        *real_table(real),
        "",
        f"The whole sets without python_api: in range {share(whole, in_range)}, within a factor of",
        f"two {share(whole, near_fine)}.",
        "",
        "## No topics at all",
        "",
        *nothing_table(nothing),
        "",
        "## How sure",
        "",
        "Right: the number is in the range, and fine is within a factor of two of it.",
        "",
        *confidence_table(planted, real),
        "",
        "## Cost",
        "",
        f"CPU seconds of `select_topics`, median and most: planted {_seconds(planted)}, real",
        f"{_seconds(real)}. CPU seconds of `coview.auto(views)`, tree included, and of `LinkPLSA`",
        "with the number of topics that it has chosen:",
        "",
        *cost_table([r for r in records if r["key"].startswith("cost")]),
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
        cost_records([name for name in COST if name in args.data], done),
        nothing_records(done),
        planted_records(args.kinds, args.seeds, done),
    ):
        for record in found:
            records.append(record)
            print(*record.values(), flush=True)
            with args.records.open("a") as file:
                file.write(json.dumps(record) + "\n")
            args.output.write_text(page(records), "utf-8")
    args.output.write_text(page(records), "utf-8")


if __name__ == "__main__":
    main()
