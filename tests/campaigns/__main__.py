"""The command behind `make campaign`: runs what is not in the log yet and writes the report.

python -m tests.campaigns                       the whole campaign, hours; resumes
python -m tests.campaigns --share .01           a hundredth of it
python -m tests.campaigns --only matrices       one kind of input
python -m tests.campaigns --one matrices:17     one input, in this process, with its words
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path

from tests.campaigns.cases import GOOD, Outcome
from tests.campaigns.generators import GENERATORS
from tests.campaigns.report import write_report
from tests.campaigns.runner import append_to_log, read_log, run_all, whole_campaign

ROOT = Path(__file__).parents[2]


def main(arguments: list[str] | None = None) -> int:
    """Run the command; the exit code is 1 if any input went wrong."""
    given = _options().parse_args(arguments)
    if given.one:
        return _run_one(given.one, given.seed)
    log = Path(given.log or ROOT / ".campaign" / f"seed_{given.seed}.jsonl")
    log.parent.mkdir(parents=True, exist_ok=True)
    wanted = list(whole_campaign(given.share, given.only))
    known = read_log(log)
    todo = [one for one in wanted if one not in known]
    print(f"{len(wanted):,} inputs, {len(wanted) - len(todo):,} done before; log: {log.name}")
    with log.open("a") as file:

        def each(outcome: Outcome) -> None:
            append_to_log(file, outcome)
            known[outcome.generator, outcome.number] = outcome
            progress(outcome)

        progress = _Progress(len(todo))
        run_all(todo, given.seed, given.workers, each)
    outcomes = [known[one] for one in wanted]
    if given.report:
        write_report(Path(given.report), outcomes, given.seed, given.note)
    wrong = sum(outcome.verdict not in GOOD for outcome in outcomes)
    print(f"{len(outcomes):,} inputs, {wrong:,} went wrong.")
    return int(wrong > 0)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=1.0, help="of the whole campaign")
    parser.add_argument("--only", action="append", choices=list(GENERATORS), help="kinds of input")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--log", help="where outcomes are kept (.campaign/)")
    parser.add_argument("--report", help="write this page, docs/reliability.md for the project's")
    parser.add_argument("--note", default="", help="a sentence about this run, for the page")
    parser.add_argument("--one", metavar="KIND:NUMBER", help="run one input here")
    return parser


class _Progress:
    """Say now and then how far the campaign has come."""

    def __init__(self, total: int) -> None:
        self._total, self._began, self._last = total, time.monotonic(), 0.0
        self._counts: Counter[str] = Counter()

    def __call__(self, outcome: Outcome) -> None:
        self._counts[outcome.verdict] += 1
        done = sum(self._counts.values())
        if outcome.verdict not in GOOD:
            name = f"{outcome.generator}:{outcome.number}"
            print(f"{outcome.verdict}: {name} {outcome.what}: {outcome.detail[:200]}", flush=True)
        if time.monotonic() - self._last > 60 or done == self._total:
            self._last = time.monotonic()
            minutes = (self._last - self._began) / 60
            print(
                f"{done:,} of {self._total:,} in {minutes:.0f} min {dict(self._counts)}", flush=True
            )


def _run_one(name: str, seed: int) -> int:
    from tests.campaigns.verdicts import run_input

    generator, _, number = name.partition(":")
    outcome = run_input(generator, int(number), seed)
    print(f"{outcome.verdict}: {outcome.what}\n{outcome.detail}")
    return int(outcome.verdict not in GOOD)


if __name__ == "__main__":
    sys.exit(main())
