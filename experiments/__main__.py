"""`python -m experiments 004`: run a paper's experiment and write its README.

python -m experiments all               all papers; goes on where it was interrupted
python -m experiments 004 --report-only the README from the results that are there
python -m experiments all --quick       seconds instead of hours, into a temporary folder
python -m experiments summary           the table of docs/reproduction.md from all results
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from experiments.paper import folder_of, folders, load_paper
from experiments.records import read_results
from experiments.reporting import write_readme
from experiments.running import draw_figures, run_paper
from experiments.summary import write_summary

WRITTEN = ("published.csv", "deviations.md", "findings.md")  # by hand


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 1 if some runs failed."""
    args = _parser().parse_args(arguments)
    if args.papers == ["summary"]:
        write_summary()
        return 0
    wanted = folders() if "all" in args.papers else [folder_of(p) for p in args.papers]
    with tempfile.TemporaryDirectory() as scratch:
        failed = [_one(f, args, Path(scratch)) for f in wanted]
    return int(any(failed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "papers", nargs="+", metavar="PAPER", help="004, 004_mvplsa, all, or summary"
    )
    parser.add_argument("--quick", action="store_true", help="a few documents, one seed")
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at a time")
    return parser


def _one(folder: Path, args: argparse.Namespace, scratch: Path) -> bool:
    """Run and report one paper; whether runs failed."""
    paper, home = load_paper(folder), folder
    if args.quick:
        home = scratch / folder.name
        home.mkdir()
        for name in WRITTEN:
            if (folder / name).exists():
                shutil.copy(folder / name, home)
    if not args.report_only:
        run_paper(paper, home, quick=args.quick, n_jobs=args.jobs)
    results = read_results(home / "results.csv")
    draw_figures(paper, results, home)
    write_readme(paper, home)
    for run in results.failures:
        print(f"{folder.name}: {run.dataset}, {run.label} failed: {run.error}", file=sys.stderr)
    print(f"{folder.name}: {len(results)} runs, {home / 'README.md'}")
    return bool(results.failures)


if __name__ == "__main__":
    sys.exit(main())
