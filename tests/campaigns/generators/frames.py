"""Frames of pandas and polars: types, names of columns, indexes, missing values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.cases import Case, Expected
from tests.campaigns.dense import difference

VIEW = "wide"
EXACT = 2**53
PANDAS = ["int64", "int8", "uint64", "float64", "float32", "bool", "Int64", "Float64", "boolean"]
POLARS = ["Int64", "Int8", "UInt64", "Float64", "Float32", "Boolean"]
NOT_NUMBERS = ["text", "date", "category", "list"]

Column = tuple[str, list[Any]]


def make(rng: np.random.Generator, folder: Path) -> Case:
    """Return a frame given as a matrix, or by names of columns to `from_dataframe`."""
    library = str(rng.choice(["pandas", "polars"]))
    n_rows, n_columns = int(rng.integers(1, 9)), int(rng.integers(1, 6))
    columns = [_column(rng, library, n_rows) for _ in range(n_columns)]
    names, naming = _names(rng, library, n_columns)
    frame = _frame(library, columns, names, rng)
    expected = _expected(columns, naming, library)
    by_name = naming == "texts" and rng.random() < 0.3
    what = f"{library}: {', '.join(kind for kind, _ in columns)}; columns are {naming}"

    def act() -> Any:
        from coview import Views

        if by_name:
            return Views.from_dataframe(frame, counts={VIEW: names})
        return Views({VIEW: frame})

    def judge(views: Any) -> str | None:
        if expected == "refused" and not by_name:
            return "it was accepted"
        return _judge(views, columns, names if naming == "texts" else None, by_name)

    either = by_name and expected == "refused"
    return Case(what, act, judge, (VIEW,), "either" if either else expected)


def _judge(views: Any, columns: list[Column], names: Any, by_name: bool) -> str | None:
    features = views.features[VIEW]
    if names is not None and (features is None or list(features) != list(names)):
        return f"the features are {features}, not {names}"
    dense = np.array([[_number(v) for v in values] for _, values in columns]).T
    if by_name:  # a row without any number is a document without the view
        dense[np.isnan(dense).all(axis=1)] = 0
    return difference(views[VIEW], dense, rtol=1e-6)


def _number(value: Any) -> float:
    return np.nan if value is None or isinstance(value, str | list) else float(value)


def _column(rng: np.random.Generator, library: str, n_rows: int) -> Column:
    """Return the type and the values of a column."""
    if rng.random() < 0.06:
        return str(rng.choice(NOT_NUMBERS)), ["x"] * n_rows
    kind = str(rng.choice(PANDAS if library == "pandas" else POLARS))
    values: list[Any]
    if kind.lower().startswith("bool"):
        values = [bool(v) for v in rng.integers(0, 2, n_rows)]
    elif "float" in kind.lower():
        values = [float(np.float32(v)) for v in rng.random(n_rows) * 9]
    else:
        values = [int(v) for v in rng.integers(0, 100, n_rows)]
        if kind.lower().endswith("int64") and rng.random() < 0.1:
            values[0] = EXACT + int(rng.integers(0, 3))
    if rng.random() < 0.08 and (library == "polars" or kind[0].isupper() or "float" in kind):
        values[int(rng.integers(n_rows))] = None
    elif "float" in kind.lower() and rng.random() < 0.08:
        values[0] = float(rng.choice([np.nan, np.inf, -1.0]))
    return kind, values


def _names(rng: np.random.Generator, library: str, n: int) -> tuple[list[Any], str]:
    texts = [f"c{i}" for i in range(n)]
    if library == "polars" or rng.random() < 0.4:
        return texts, "texts"
    ways: dict[str, list[Any]] = {
        "numbers": list(range(n)),
        "years": [1990 + i for i in range(n)],
        "repeated numbers": [7] * n,
        "repeated texts": ["a"] * n,
        "mixed": [*texts[1:], 5],
        "pairs": [("a", i) for i in range(n)],
    }
    naming = str(rng.choice(sorted(ways)))
    # one column cannot repeat or be mixed
    return ways[naming], "numbers" if n == 1 and naming in ("repeated numbers", "mixed") else naming


def _frame(library: str, columns: list[Column], names: list[Any], rng: np.random.Generator) -> Any:
    if library == "polars":
        return _polars_frame(columns, names)
    import pandas as pd

    n_rows = len(columns[0][1])
    index = [None, [f"d{i}" for i in range(n_rows)], list(range(5, 5 + n_rows))][rng.integers(3)]
    series = [pd.Series(_pandas_values(k, v), index=index) for k, v in columns]
    frame = pd.concat(series, axis=1)
    frame.columns = pd.MultiIndex.from_tuples(names) if isinstance(names[0], tuple) else names
    return frame


def _pandas_values(kind: str, values: list[Any]) -> Any:
    import pandas as pd

    if kind == "date":
        return pd.to_datetime(["2020-01-01"] * len(values))
    if kind == "list":
        return pd.Series([[1]] * len(values)).to_numpy()
    if kind == "category":
        return pd.Categorical(values)
    return pd.array(values, dtype=object if kind == "text" else kind)


def _polars_frame(columns: list[Column], names: list[Any]) -> Any:
    import datetime

    import polars as pl

    n_rows = len(columns[0][1])
    odd = {
        "text": pl.Series(["x"] * n_rows),
        "date": pl.Series([datetime.date(2020, 1, 1)] * n_rows),
        "category": pl.Series(["x"] * n_rows, dtype=pl.Categorical),
        "list": pl.Series([[1]] * n_rows),
    }
    made = [
        odd[kind] if kind in odd else pl.Series(values, dtype=getattr(pl, kind))
        for kind, values in columns
    ]
    return pl.DataFrame(dict(zip(names, made, strict=True)))


def _expected(columns: list[Column], naming: str, library: str) -> Expected:
    if naming in ("repeated texts", "mixed") and len(columns) > 1:
        return "refused"
    if naming == "pairs":
        return "either"
    values = [v for _, column in columns for v in column]
    if any(kind in NOT_NUMBERS or None in column for kind, column in columns):
        return "refused"
    if any(not np.isfinite(v) or (isinstance(v, int) and abs(v) >= EXACT) for v in values):
        return "refused"
    return "either" if min(values) < 0 else "right"
