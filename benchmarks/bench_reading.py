"""Reading a large table of texts: peak memory and time, against pandas and CountVectorizer.

    python benchmarks/bench_reading.py [--mb 1024] [--terms 1000000] [--no-peer]

A CSV and a JSON Lines file of that size, with two columns of words drawn from a Zipf distribution,
are read with `Views.from_table`, each in a process of its own. The peer reads the CSV file with
`pandas.read_csv` and counts both columns with scikit-learn's `CountVectorizer`. Linux only.
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_memory import status

COLUMNS = ("en", "de")
LENGTH = 100  # words per cell


# -- the files ------------------------------------------------------------------------------------


def make_words(n_terms):
    """Return distinct words of three or more letters: shuffled numbers in base 22."""
    letters = "etaoinshrdlcumwfgypbvk"
    words = []
    for number in range(n_terms):
        number = (number + 500) * 7_919 % 10_000_019 + 10_000  # modulo a prime: all stay distinct
        word = ""
        while number:
            number, place = divmod(number, len(letters))
            word += letters[place]
        words.append(word)
    return words


def documents(n_bytes, n_terms, seed=0):
    """Yield rows of two texts until they have `n_bytes` bytes."""
    import numpy as np

    rng = np.random.default_rng(seed)
    words = np.array(make_words(n_terms), dtype=object)
    cumulated = np.cumsum(1.0 / (np.arange(n_terms) + 2.7) ** 1.05)
    written = 0
    while written < n_bytes:
        drawn = rng.random((500, len(COLUMNS), LENGTH)) * cumulated[-1]
        for row in words[np.searchsorted(cumulated, drawn)]:
            cells = [" ".join(cell) for cell in row]
            written += sum(map(len, cells))
            yield cells


def write(path, args):
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = documents(args.mb * 2**20, args.terms)
        if path.suffix == ".csv":
            writer = csv.writer(file)
            writer.writerow(("id", *COLUMNS))
            writer.writerows((number, *cells) for number, cells in enumerate(rows))
            return
        for number, cells in enumerate(rows):
            file.write(json.dumps({"id": number, **dict(zip(COLUMNS, cells, strict=True))}) + "\n")


# -- the readers ----------------------------------------------------------------------------------


def read_ours(path):
    from coview import Views

    views = Views.from_table(path, text=list(COLUMNS), id="id", stop_words=None)
    return list(views.matrices.values())


def read_peer(path):
    import pandas as pd
    from sklearn.feature_extraction.text import CountVectorizer

    frame = pd.read_csv(path)
    return [CountVectorizer(min_df=2, max_df=0.5).fit_transform(frame[c]) for c in COLUMNS]


def measure(args):
    """Print CPU seconds, peak memory above that of the imports, and the size of the matrices."""
    import pandas  # noqa: F401
    import sklearn.feature_extraction.text  # noqa: F401

    import coview.reading.columns  # noqa: F401

    before, start = status("VmRSS"), time.process_time()
    matrices = (read_peer if args.peer else read_ours)(args.read)
    seconds, peak = time.process_time() - start, status("VmHWM") - before
    size = sum(m.data.nbytes + m.indices.nbytes + m.indptr.nbytes for m in matrices)
    non_zeros, terms = sum(m.nnz for m in matrices), sum(m.shape[1] for m in matrices)
    print(f"{seconds} {peak} {size} {non_zeros} {terms}")


def run(path, peer=False):
    command = [sys.executable, __file__, "--read", str(path)] + ["--peer"] * peer
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [float(number) for number in out.split()]


# -- the report -----------------------------------------------------------------------------------


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mb", type=int, default=1024, help="size of each file")
    parser.add_argument("--terms", type=int, default=1_000_000)
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--read", help=argparse.SUPPRESS)
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.read:
        measure(args)
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(args, Path(folder))


def compare(args, folder):
    print("| reader | file | CPU s | MB/s | peak | matrices | peak / file | peak / matrices |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    results = {}
    for name, suffix, peer in (
        ("from_table, CSV", ".csv", False),
        ("pandas + CountVectorizer, CSV", ".csv", True),
        ("from_table, JSON Lines", ".jsonl", False),
    ):
        if peer and args.no_peer:
            continue
        path = folder / f"table{suffix}"
        if not path.exists():
            write(path, args)
        results[name] = run(path, peer)
        show(name, path.stat().st_size, *results[name])
    if not args.no_peer:
        ours, theirs, _ = results.values()
        print(f"\npeer / ours: time {theirs[0] / ours[0]:.1f}, peak {theirs[1] / ours[1]:.1f}")


def show(name, size, seconds, peak, matrices, non_zeros, terms):
    mb = [f"{number / 2**20:,.0f} MB" for number in (size, peak, matrices)]
    print(
        f"| {name} | {mb[0]} | {seconds:.0f} | {size / 2**20 / seconds:.1f} | {mb[1]} | {mb[2]} "
        f"({non_zeros / 1e6:.1f}M non-zeros, {terms:,.0f} terms) | {peak / size:.2f} "
        f"| {peak / matrices:.1f} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
