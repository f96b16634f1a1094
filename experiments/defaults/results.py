"""The file of measurements: one row for each cell and metric, appended as soon as it is known.

Each row says by which state of the code it was measured: `code` is a digest of the sources that
decide a fit (`code_digest`). Rows that were measured before there was that column have none.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from functools import cache
from pathlib import Path

import coview

HERE = Path(__file__).parent
RESULTS = HERE / "results.csv"
# folders and files of coview that decide a fit
DECISIVE = ("baselines", "em", "ensemble", "graphs", "kernels", "models")
DECISIVE_FILES = ("automatic.py", "base.py", "classifier.py", "label_guess.py", "new_documents.py")


@dataclass(frozen=True)
class Cell:
    """One measurement: a part of the evaluation, a data set, a method and a seed.

    `setting` says how the data were changed, or the number of topics, where a part has several.
    """

    part: str
    dataset: str
    setting: str
    method: str
    seed: int


@dataclass(frozen=True)
class Row:
    """A value that was measured, the CPU seconds that the cell took, and by which code."""

    cell: Cell
    metric: str
    value: float
    cpu_seconds: float
    code: str = ""


COLUMNS = (*(f.name for f in fields(Cell)), "metric", "value", "cpu_seconds", "code")
Values = Mapping[str, float]  # by metric
Work = Callable[[], tuple[Values, float]]  # measures a cell: values, CPU seconds


@cache
def code_digest() -> str:
    """Return eight digits that change when sources that decide a fit do."""
    folder, digest = Path(coview.__file__).parent, hashlib.sha256()
    files = [folder / name for name in DECISIVE_FILES]
    files += [file for name in DECISIVE for file in (folder / name).rglob("*.py")]
    for file in sorted(files):
        digest.update(file.relative_to(folder).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()[:8]


def read_rows(path: Path = RESULTS) -> list[Row]:
    """Return all rows of a file, in its order; none if it is not there."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [_row(fields) for fields in csv.DictReader(file)]


def _row(given: Mapping[str, str]) -> Row:
    part, dataset, setting, method = (given[n] for n in COLUMNS[:4])
    cell = Cell(part, dataset, setting, method, int(given["seed"]))
    value, seconds = float(given["value"]), float(given["cpu_seconds"])
    return Row(cell, given["metric"], value, seconds, given.get("code") or "")


def append_rows(
    cell: Cell, values: Values, cpu_seconds: float, path: Path = RESULTS, code: str = ""
) -> None:
    """Add a row for each metric of a cell; the first of a file comes after its header."""
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        for metric, value in values.items():
            numbers = f"{value:.6g}", f"{cpu_seconds:.3g}"
            writer.writerow([*astuple(cell), metric, *numbers, code])


def write_sorted(path: Path = RESULTS) -> None:
    """Bring the rows of a file into a fixed order, so that two runs can be compared."""
    rows = sorted(read_rows(path), key=lambda row: (astuple(row.cell), row.metric))
    path.unlink(missing_ok=True)
    for row in rows:
        append_rows(row.cell, {row.metric: row.value}, row.cpu_seconds, path, row.code)


def run(
    cells: Iterable[tuple[Cell, Work]], path: Path = RESULTS, *, again: bool = False
) -> list[Cell]:
    """Measure the cells that are not in the file; return those that failed.

    With `again` the rows of these cells that are there are dropped first.
    """
    cells = list(cells)
    if again:
        _drop({cell for cell, _ in cells}, path)
    known = {row.cell for row in read_rows(path)}
    failed = []
    for cell, work in cells:
        if cell in known:
            continue
        shown = " ".join(map(str, filter(None, astuple(cell)[:4])))
        try:
            values, seconds = work()
        except Exception as error:
            failed.append(cell)
            print(f"{shown}, seed {cell.seed}: {type(error).__name__}: {error}", flush=True)
            continue
        append_rows(cell, values, seconds, path, code_digest())
        numbers = ", ".join(f"{metric} {value:.4g}" for metric, value in values.items())
        print(f"{shown}, seed {cell.seed}: {numbers} ({seconds:.1f} s)", flush=True)
    return failed


def _drop(cells: set[Cell], path: Path) -> None:
    kept = [row for row in read_rows(path) if row.cell not in cells]
    path.unlink(missing_ok=True)
    for row in kept:
        append_rows(row.cell, {row.metric: row.value}, row.cpu_seconds, path, row.code)


def select(rows: Iterable[Row], part: str, metric: str) -> Iterator[Row]:
    """Yield the rows of one part and metric."""
    return (row for row in rows if row.cell.part == part and row.metric == metric)
