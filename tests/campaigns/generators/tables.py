"""Tables in files: CSV, TSV, JSON Lines and Parquet, plain and gzipped, sound and damaged."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.cases import Case, Expected, must_be_refused
from tests.campaigns.damage import damage_file
from tests.campaigns.dense import Unreadable, file_bytes, in_child, is_simple, words_of

WORDS = [
    *("apple", "Bread", "river", "x1", "42", "naïve", "Straße", "café", "мост", "РЕКА", "λόγος"),
    *("a", "=1+1", "'quoted'", '"double"', "comma,", "tab\tbed", "semi;colon", "under_score", "-"),
    *("<b>bold</b>", "\x1b[31mred", "long" * 40, "ÄÖÜ", "Ελλάδα", "\u00a0space", "and\nnext"),
]
SUFFIXES = [".csv", ".csv", ".tsv", ".jsonl", ".csv.gz", ".jsonl.gz", ".parquet", ".json", ".tab"]
NAMES = ("table", "body")

Cells = list[tuple[str, str | None, str | None]]  # id, text, label


def make(rng: np.random.Generator, folder: Path) -> Case:
    """Return a table with an id, a text and a label in each row."""
    path = folder / f"table{rng.choice(SUFFIXES)}"
    if rng.random() < 0.12:
        return _crafted(rng, path)
    cells = _cells(rng)
    _write(path, cells)
    what = f"{''.join(path.suffixes)} of {len(cells)} rows"
    original = _counted(cells)
    if rng.random() < 0.5:
        return _case(f"{what}, {damage_file(path, rng)}", path, None, original)
    some = any(words for _, words, _ in original)
    return _case(what, path, original, original, "right" if some else "refused")


def _case(what: str, path: Path, truth: Any, original: Any, expect: Expected = "either") -> Case:
    def act() -> Any:
        from coview import Views

        return Views.from_table(
            path, text="body", id="id", label="kind", languages=None, stop_words=None,
            min_df=1, max_df=1.0,
        )  # fmt: skip

    def judge(views: Any) -> str | None:
        found = _found(views)
        if found == original:  # the damage was where nothing is kept
            return None
        if truth is not None:
            return f"found {found} instead of {truth}"
        try:
            read = _counted(_read(path))
        except Unreadable as error:
            return f"accepted, though unreadable: {error}"
        return _differ(found, read)

    return Case(what, act, judge, NAMES, expect)


def _differ(found: Any, read: Any) -> str | None:
    """Compare documents whose texts are simple; the others by their ids and labels."""
    if [row[0] for row in found] != [row[0] for row in read]:
        return "other ids"
    for one, two in zip(found, read, strict=True):
        if two[1] is not None and one[1] != two[1]:
            return f"{one} instead of {two}"
        if one[2] != two[2]:
            return f"the label {one[2]!r} instead of {two[2]!r}"
    return None


def _found(views: Any) -> list[tuple[str, Any, str | None]]:
    """Return id, words and label of each document of coview's reading."""
    matrix, terms = views["body"], views.features["body"]
    labels, names = views.labels, views.label_names
    rows = []
    for row, name in enumerate(views.ids):
        at = slice(matrix.indptr[row], matrix.indptr[row + 1])
        words = {terms[c]: int(v) for c, v in zip(matrix.indices[at], matrix.data[at], strict=True)}
        label = labels[row]
        known = None if label == -1 else names[label] if names is not None else str(label)
        rows.append((name, words, known))
    return rows


def _counted(cells: Cells) -> list[tuple[str, Any, str | None]]:
    """Return id, words and label of each row; None for the words of a text that is not simple."""
    return [
        (
            name,
            dict(Counter(words_of(text or ""))) if is_simple(text or "") else None,
            label or None,
        )
        for name, text, label in cells
    ]


# -- writing ---------------------------------------------------------------------------------------


def _cells(rng: np.random.Generator) -> Cells:
    n_rows = int(rng.integers(1, 12))
    cells: Cells = []
    for i in range(n_rows):
        words = [WORDS[w] for w in rng.integers(0, len(WORDS), int(rng.integers(0, 9)))]
        text = " ".join(words) if rng.random() < 0.9 else None
        cells.append((f"d{i}", text, str(rng.choice(["red", "blue", ""])) or None))
    return cells


def _write(path: Path, cells: Cells) -> None:
    if path.suffix == ".parquet":
        _write_parquet(path, cells)
        return
    if ".json" in path.name:
        rows = [{"id": a, "body": b, "kind": c} for a, b, c in cells]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    else:
        out = io.StringIO()
        writer = csv.writer(out, delimiter="," if ".csv" in path.name else "\t")
        writer.writerows([("id", "body", "kind"), *((a, b or "", c or "") for a, b, c in cells)])
        text = out.getvalue()
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def _write_parquet(path: Path, cells: Cells) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = zip(("id", "body", "kind"), zip(*cells, strict=True), strict=True)
    pq.write_table(
        pa.table({name: pa.array(values, pa.string()) for name, values in columns}), path
    )


# -- an independent reading ------------------------------------------------------------------------


def _read(path: Path) -> Cells:
    try:
        if path.suffix == ".parquet":
            return in_child(lambda: _read_parquet(path))
        text = file_bytes(path).decode("utf-8-sig")
        return _read_json(text) if ".json" in path.name else _read_csv(text, path)
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(str(error)) from error


def _read_parquet(path: Path) -> Cells:
    import pyarrow.parquet as pq

    rows = pq.read_table(path).to_pylist()
    return [(row["id"], row["body"], _stripped(row["kind"])) for row in rows]


def _read_json(text: str) -> Cells:
    rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    return [(str(row["id"]), row.get("body"), _stripped(row.get("kind"))) for row in rows]


def _read_csv(text: str, path: Path) -> Cells:
    delimiter = "," if ".csv" in path.name else "\t"
    lines = io.StringIO(text, newline="")
    rows = [row for row in csv.reader(lines, delimiter=delimiter, strict=True) if row]
    header = rows[0]
    if len(set(header)) < len(header) or any(len(row) != len(header) for row in rows):
        raise Unreadable("columns")
    at = [header.index(name) for name in ("id", "body", "kind")]
    return [(row[at[0]], row[at[1]], _stripped(row[at[2]])) for row in rows[1:]]


def _stripped(label: Any) -> str | None:
    return None if label is None else str(label).strip()


# -- crafted tables --------------------------------------------------------------------------------


def _crafted(rng: np.random.Generator, path: Path) -> Case:
    """Return a table that is well-formed as bytes but makes no sense."""
    what = str(rng.choice(sorted(CRAFTED)))
    suffix, text = CRAFTED[what]
    path = path.with_name(f"table{suffix}")
    content = text()
    data = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(data) if suffix.endswith(".gz") else data)
    case = _case(f"{suffix}: {what}", path, None, None, "refused")
    return Case(case.what, case.act, must_be_refused(what), NAMES, "refused", memory=300 << 20)


HEAD = "id,body,kind\n"
CRAFTED: dict[str, tuple[str, Callable[[], str | bytes]]] = {
    "a quote never closed": (".csv", lambda: HEAD + 'a,"bread and water,red\n' * 5),
    "rows of different lengths": (".csv", lambda: HEAD + "a,bread\n"),
    "a column named twice": (".csv", lambda: "id,body,body\na,b c,d\n"),
    "no text column": (".csv", lambda: "id,other,kind\na,bread,red\n"),
    "an id twice": (".csv", lambda: HEAD + "a,bread,red\na,water,red\n"),
    "an empty id": (".csv", lambda: HEAD + ",bread,red\n"),
    "nothing": (".csv", lambda: ""),
    "names only": (".csv", lambda: HEAD),
    "another encoding": (".csv", lambda: (HEAD + "a,naïve Straße,red\n").encode("latin-1")),
    "UTF-16": (".csv", lambda: (HEAD + "a,bread,red\n").encode("utf-16")),
    "not JSON": (".jsonl", lambda: '{"id": "a", "body": bread}\n'),
    "a list for a row": (".jsonl", lambda: '["a", "bread", "red"]\n'),
    "NaN": (".jsonl", lambda: '{"id": "a", "body": NaN, "kind": "red"}\n'),
    "deep nesting": (".jsonl", lambda: '{"id": "a", "body": ' + "[" * 100_000 + "\n"),
    "a number for a text": (".jsonl", lambda: '{"id": "a", "body": 5, "kind": "red"}\n'),
    "a number for an id, with a fraction": (".jsonl", lambda: '{"id": 0.5, "body": "bread"}\n'),
    "not a gzip file": (".csv.gz", lambda: b""),
    "text that unfolds a thousandfold": (".csv.gz", lambda: HEAD + "a," + "x" * (200 << 20)),
    "not a Parquet file": (".parquet", lambda: "PAR1 and nothing else PAR1"),
}
