"""docs/reliability.md: what a campaign found, and which test stands for which known fault."""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from tests.campaigns.cases import GOOD, VERDICTS, Outcome
from tests.campaigns.generators import GENERATORS
from tests.faults.catalog import ROWS, names_by_row

MOST_SHOWN = 40
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "polars", "pyarrow", "h5py")
_FOLDER = re.compile(r"[^\s'\"]*campaign-\w+/?")  # where the files of an input were
BAD = [verdict for verdict in VERDICTS if verdict not in GOOD]


def write_report(path: Path, outcomes: Sequence[Outcome], seed: int, note: str = "") -> None:
    """Write the page anew; `note` is about how the campaign was run."""
    path.write_text(page(outcomes, seed, note), encoding="utf-8")


def page(outcomes: Sequence[Outcome], seed: int, note: str = "") -> str:
    """Return the page as Markdown."""
    parts = [
        _head(outcomes, seed, note),
        _by_kind(outcomes),
        _what_went_wrong(outcomes, seed),
        catalog(),
    ]
    return "\n".join(parts)


def _head(outcomes: Sequence[Outcome], seed: int, note: str) -> str:
    wrong = sum(outcome.verdict not in GOOD for outcome in outcomes)
    meanings = "\n".join(f"* **{name}**: {meaning}" for name, meaning in VERDICTS.items())
    note = f"\n{note}\n" if note else ""
    judged = "\n".join(f"* `{name}`: {kind.judged}" for name, kind in GENERATORS.items())
    return f"""# Reliability

`make campaign` writes this page; do not edit it. It attacks coview with generated input, sound and
bad, and counts what becomes of it. `make campaign-slice`, a part of CI, runs a fiftieth of it from
another seed; `tests/faults` has a test for each known kind of fault.

Last campaign: **{len(outcomes):,} inputs, {wrong:,} went wrong** (seed {seed}; {_versions()}).
{note}
Inputs are made from the seed alone and run in processes of their own, with limits on time and
memory, so a death or a hang is counted and the campaign goes on. Each input has one of these ends:

{meanings}

What an accepted input is compared with uses no code of coview (`tests/campaigns/dense.py`):

{judged}
"""


def _versions() -> str:
    found = [f"Python {platform.python_version()}"]
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def _by_kind(outcomes: Sequence[Outcome]) -> str:
    columns = [*GOOD, *BAD]
    lines = ["## By kind of input\n", f"| kind | inputs | {' | '.join(columns)} |"]
    lines.append(f"| --- |{' ---: |' * (len(columns) + 1)}")
    for name, generator in GENERATORS.items():
        counts = Counter(o.verdict for o in outcomes if o.generator == name)
        lines.append(_row(f"`{name}`: {generator.what}", counts, columns))
    lines.append(_row("**all**", Counter(o.verdict for o in outcomes), columns))
    return "\n".join(lines) + "\n"


def _row(title: str, counts: Counter[str], columns: Sequence[str]) -> str:
    cells = " | ".join(f"{counts[column]:,}" for column in columns)
    return f"| {title} | {counts.total():,} | {cells} |"


def _what_went_wrong(outcomes: Sequence[Outcome], seed: int) -> str:
    wrong = [outcome for outcome in outcomes if outcome.verdict not in GOOD]
    if not wrong:
        return "Nothing went wrong.\n"
    lines = ["## What went wrong\n"]
    lines.append(
        f"One of them again: `python -m tests.campaigns --seed {seed} --one KIND:NUMBER`.\n"
    )
    lines += [
        f"* `{o.generator}:{o.number}` {o.verdict}: {_plain(o.what)}: {_plain(o.detail)}"
        for o in wrong[:MOST_SHOWN]
    ]
    if len(wrong) > MOST_SHOWN:
        lines.append(f"* and {len(wrong) - MOST_SHOWN:,} more")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Return a line of text that Markdown shows as it is, without places of this machine."""
    short = " ".join(_FOLDER.sub("", text).split())[:160]
    shown = "".join(c if c.isprintable() else "?" for c in short)
    return "`" + shown.replace("`", "'") + "`" if shown else "no words"


# -- known kinds of fault --------------------------------------------------------------------------


def catalog() -> str:
    """Return the table of known kinds of fault and the tests that stand for them."""
    tests = names_by_row()
    lines = [
        "## Known kinds of fault\n",
        "| | fault | test in `tests/faults` |",
        "| ---: | --- | --- |",
    ]
    for number, row in ROWS.items():
        names = ", ".join(f"`{name}`" for name in tests.get(number, ()))
        reason = f"does not apply yet: {row.not_yet}" if row.not_yet else ""
        lines.append(f"| {number} | {row.fault} | {'; '.join(t for t in (names, reason) if t)} |")
    return "\n".join(lines) + "\n"
