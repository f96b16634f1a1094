"""Run the papers' experiments and write their pages; import the data sets they use.

python -m experiments all               all papers; resumes after an interruption
python -m experiments 004 --report-only the README from the results that are there
python -m experiments 000 --plan ours --model VPLSA
                                        only this plan and model; other results stay
python -m experiments all --quick       seconds instead of hours, into a temporary folder
python -m experiments recheck           one cheap cell of each paper again, drawn by the date
python -m experiments summary           the table of docs/reproduction.md from all results
python -m experiments import NAME ARCHIVE
                                        a data set from its publisher's archive; --help says more
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from experiments.csv_files import read_results
from experiments.paper import folder_of, folders, load_paper
from experiments.paper_readme import write_readme
from experiments.reproduction_page import write_summary
from experiments.run_plans import draw_figures, recheck, run_paper

WRITTEN_BY_HAND = ("published.csv", "deviations.md", "findings.md")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code, 1 if some runs failed."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["import"]:
        return import_archive(given[1:])
    parser = _parser()
    args = parser.parse_args(given)
    if args.quick and (args.plan or args.model):
        parser.error("--quick runs all plans and models: its pages need them.")
    if args.papers == ["summary"]:
        write_summary()
        return 0
    if args.papers == ["recheck"]:
        changed = [_recheck(folder) for folder in folders()]
        return int(any(changed))
    wanted = folders() if "all" in args.papers else [folder_of(p) for p in args.papers]
    with tempfile.TemporaryDirectory() as scratch:
        failed = [_run_and_report(f, args, Path(scratch)) for f in wanted]
    return int(any(failed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "papers", nargs="+", metavar="PAPER", help="004, 004_mvplsa, all, recheck, or summary"
    )
    parser.add_argument("--quick", action="store_true", help="a few documents, one seed")
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    for what in ("plan", "model"):
        parser.add_argument(
            f"--{what}", action="append", default=[], metavar="NAME", help="only this; repeatable"
        )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at a time")
    return parser


def _run_and_report(folder: Path, args: argparse.Namespace, scratch: Path) -> bool:
    """Run and report one paper; return whether runs failed."""
    paper, home = load_paper(folder), folder
    if args.quick:
        home = scratch / folder.name
        home.mkdir()
        for name in WRITTEN_BY_HAND:
            if (folder / name).exists():
                shutil.copy(folder / name, home)
    if not args.report_only:
        only = {"plans": args.plan, "models": args.model}
        run_paper(paper, home, quick=args.quick, n_jobs=args.jobs, **only)
    results = read_results(home / "results.csv")
    draw_figures(paper, results, home)
    write_readme(paper, home)
    for run in results.failures:
        print(f"{folder.name}: {run.dataset}, {run.label} failed: {run.error}", file=sys.stderr)
    print(f"{folder.name}: {len(results)} runs, {home / 'README.md'}")
    return bool(results.failures)


def _recheck(folder: Path) -> bool:
    """Run a cell of a paper again; return whether it has changed."""
    try:
        cell, changes = recheck(
            load_paper(folder), read_results(folder / "results.csv"), date.today()
        )
    except FileNotFoundError as error:
        print(f"{folder.name}: not checked: {error}")
        return False
    print(f"{folder.name}: {cell}: {'; '.join(changes) or 'as recorded'}")
    return bool(changes)


# -- import ----------------------------------------------------------------------------------------


def import_archive(arguments: Sequence[str]) -> int:
    """Make a views folder from what the publisher of a data set offers; return the exit code."""
    from coview.datasets.registry import dataset
    from experiments.importers import differences, import_dataset

    args = _import_parser().parse_args(arguments)
    try:
        dataset(args.name)
    except ValueError as error:
        return _fail(error, 2)
    print(f"Reading {args.archive} ...", file=sys.stderr)
    try:
        views, folder = import_dataset(
            args.name, args.archive, args.out, overwrite=args.overwrite, source=args.source
        )
    except (ValueError, OSError, MemoryError) as error:
        return _fail(error, 1)
    print(f"{views}\nWritten to {folder}")
    notes = differences(args.name, views) if args.source == "en" else []
    if notes:
        print(f"Not as published: {'; '.join(notes)}.", file=sys.stderr)
    return 0


def _import_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments import",
        description="Make a views folder from what the publisher of a data set offers.",
        epilog="Example: python -m experiments import 20newsgroups 20news-bydate.tar.gz",
    )
    parser.add_argument("name", help="name of a data set, as `coview data list` shows it")
    parser.add_argument(
        "archive", type=Path, help="the publisher's archive, or a folder with its files"
    )
    parser.add_argument(
        "--out", type=Path, help="folder to make; by default where the loaders will look for it"
    )
    parser.add_argument(
        "--source",
        default="en",
        choices=["en", "fr", "gr", "it", "sp"],
        help="reuters: the language in which the stories were written; by default English",
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace a data set that was imported before"
    )
    return parser


def _fail(error: Exception, code: int) -> int:
    print(f"Error: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
