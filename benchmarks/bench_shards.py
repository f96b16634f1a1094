"""Converting a table that is larger than the memory setting: peak memory and time.

    python benchmarks/bench_shards.py [--mb 1024] [--terms 1000000] [--memory 512MB] [--no-peer]

A CSV file of that size, with two columns of words drawn from a Zipf distribution, is converted to
a sharded folder in a stream (`coview.convert_table`). The peer reads it in memory with
`Views.from_table` and writes the same folder with `coview.write_shards`. Each is a process of its
own; the peak is that of all its memory (`VmHWM`), Python and libraries included. Linux only.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_memory import status
from bench_reading import COLUMNS, write


def convert(args):
    """Print CPU seconds, peak memory and the size of what was written."""
    import coview

    options = {"text": list(COLUMNS), "id": "id", "stop_words": None}
    start = time.process_time()
    if args.peer:
        views = coview.Views.from_table(args.read, **options)
        sharded = coview.write_shards(views, args.into)
    else:
        sharded = coview.convert_table(args.read, args.into, memory=args.memory, **options)
    seconds = time.process_time() - start
    peak = status("VmHWM")
    size = sum(entry["bytes"] for entry in sharded.manifest.files.values())
    print(seconds, peak, size, sharded.nonzeros, sum(sharded.widths), len(sharded.shards))


def run(path, folder, memory, peer):
    command = [sys.executable, __file__, "--read", str(path), "--into", str(folder)]
    command += ["--memory", memory] + ["--peer"] * peer
    start = time.perf_counter()
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [float(number) for number in out.split()], time.perf_counter() - start


def compare(args, folder):
    table = folder / "table.csv"
    write(table, args)
    size = table.stat().st_size
    print(
        "| how | table | CPU s | wall s | MB/s of CPU | peak memory | folder | non-zeros | terms |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    found = {}
    for name, peer in ((f"in a stream, {args.memory}", False), ("in memory", True)):
        if peer and args.no_peer:
            continue
        target = folder / f"{'peer' if peer else 'ours'}.shards"
        (seconds, peak, written, nonzeros, terms, _), wall = run(table, target, args.memory, peer)
        found[peer] = seconds, peak
        mb = [f"{number / 1e6:,.0f} MB" for number in (size, peak, written)]
        print(
            f"| {name} | {mb[0]} | {seconds:.0f} | {wall:.0f} | {size / 1e6 / seconds:.1f} "
            f"| {mb[1]} | {mb[2]} | {nonzeros / 1e6:,.0f}M | {terms:,.0f} |",
            flush=True,
        )
    if len(found) == 2:
        (ours, our_peak), (theirs, their_peak) = found[False], found[True]
        print(
            f"\nin memory / in a stream: time {theirs / ours:.2f}, peak {their_peak / our_peak:.2f}"
        )
        same = subprocess.run(
            ["diff", "-rq", str(folder / "ours.shards"), str(folder / "peer.shards")],
            capture_output=True,
            text=True,
        )
        print("the folders are the same to the byte" if not same.stdout else same.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mb", type=int, default=1024, help="size of the table")
    parser.add_argument("--terms", type=int, default=1_000_000)
    parser.add_argument("--memory", default="512MB")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--read", help=argparse.SUPPRESS)
    parser.add_argument("--into", help=argparse.SUPPRESS)
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.read:
        convert(args)
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(args, Path(folder))


if __name__ == "__main__":
    main()
