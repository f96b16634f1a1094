"""What coview gives people without any setting, measured; writes README.md.

python -m experiments.defaults                          all parts, or what is left of them
python -m experiments.defaults clusters --methods auto  one part, one method
python -m experiments.defaults --report-only            the README from the results that are there

Data sets are read from the folder COVIEW_DATA.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from experiments.defaults.parts import PARTS, cells
from experiments.defaults.report import write_readme
from experiments.defaults.results import HERE, run, write_sorted


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is not there yet, and write the page; return 1 if some cells failed."""
    args = _checked(_parser(), arguments)
    results, failed = args.folder / "results.csv", []
    if not args.report_only:
        for part in args.parts or PARTS:
            wanted = cells(part, args.seeds, args.datasets, args.methods)
            failed += run(wanted, results, again=args.again)
        write_sorted(results)
    write_readme(args.folder)
    return int(bool(failed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments.defaults", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--datasets", type=_names, default=[], metavar="A,B")
    parser.add_argument("--methods", type=_names, default=[], metavar="A,B")
    parser.add_argument("--again", action="store_true", help="also what is there already")
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    parser.add_argument("--folder", type=Path, default=HERE, help="of results.csv and README.md")
    return parser


def _names(text: str) -> list[str]:
    return text.split(",")


def _checked(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None
) -> argparse.Namespace:
    args = parser.parse_args(arguments)
    known = {
        "parts": set(PARTS),
        "datasets": {name for part in PARTS.values() for name in part.datasets},
        "methods": {name for part in PARTS.values() for name in part.known},
    }
    for what, names in known.items():
        unknown = set(getattr(args, what)) - names
        if unknown:
            parser.error(f"There are no {what} {sorted(unknown)}; there are {sorted(names)}.")
    return args


if __name__ == "__main__":
    raise SystemExit(main())
