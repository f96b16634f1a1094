"""Measure what is missing, and write the page.

    python -m benchmarks.peers [--corpora 20newsgroups zipf-2.5M] [--topics 20 50 100] [--cpu 600]
    python -m benchmarks.peers --quick       a small corpus, into a temporary folder: two minutes
    python -m benchmarks.peers --page        only the page, from what was measured

Runs that stand in benchmarks/measured are not repeated: delete their rows to measure them anew.
20newsgroups is read from the folder that COVIEW_DATA names.
"""

import argparse
import tempfile
from pathlib import Path

from benchmarks.peers.corpora import CORPORA
from benchmarks.peers.measure import METHODS, Plan, measure
from benchmarks.peers.page import FULL, text_of, write_page

QUICK = Plan(("tiny",), (5,), repetitions=1, cpu_seconds=10)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=FULL.corpora)
    parser.add_argument("--topics", nargs="+", type=int, default=FULL.topics)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--repetitions", type=int, default=FULL.repetitions)
    parser.add_argument("--cpu", type=float, default=FULL.cpu_seconds, help="seconds of a run")
    parser.add_argument("--gb", type=float, default=FULL.gigabytes, help="memory of a run")
    parser.add_argument("--quick", action="store_true", help="a small corpus, results not kept")
    parser.add_argument("--page", action="store_true", help="write the page, measure nothing")
    return parser.parse_args()


def main() -> None:
    """Measure and write the page."""
    args = arguments()
    if args.quick:
        with tempfile.TemporaryDirectory() as folder:
            measure(QUICK, Path(folder))
            print(text_of(Path(folder), QUICK))
        return
    if not args.page:
        choice = (tuple(names) for names in (args.corpora, args.topics))
        bounds = {"cpu_seconds": args.cpu, "gigabytes": args.gb}
        measure(Plan(*choice, args.repetitions, tuple(args.methods), **bounds))
    write_page()


if __name__ == "__main__":
    main()
