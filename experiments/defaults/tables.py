"""Means with their standard errors, and tables of them in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from experiments.defaults.results import Row, select

NOT_MEASURED = "Not measured yet."
EARLIER = "earlier"  # rows without a digest of the code

Key = tuple[str, str, str]  # dataset, setting, method
Groups = Mapping[Key, Mapping[int, float]]  # values by seed


@dataclass(frozen=True)
class Mean:
    """A mean and its standard error, 0 where there is one value only."""

    value: float
    error: float = 0.0

    @classmethod
    def of(cls, values: Iterable[float]) -> Mean:
        """Return the mean of the values of several seeds."""
        found = np.array(list(values))
        error = found.std(ddof=1) / np.sqrt(len(found)) if len(found) > 1 else 0.0
        return cls(float(found.mean()), float(error))

    def __sub__(self, other: Mean) -> Mean:
        return Mean(self.value - other.value, float(np.hypot(self.error, other.error)))

    def __mul__(self, factor: float) -> Mean:
        return Mean(factor * self.value, factor * self.error)

    def format(self, digits: int = 1, sign: str = "") -> str:
        """Return the mean with its error.

        >>> Mean(5.25, 0.5).format(), Mean(5.25).format(sign="+")
        ('5.2 ± 0.5', '+5.2')
        """
        spread = f" ± {self.error:.{digits}f}" if self.error else ""
        return f"{self.value:{sign}.{digits}f}{spread}"


def mean_of_means(means: Sequence[Mean]) -> Mean:
    """Return the mean over data sets, with the error that the seeds leave."""
    errors = np.array([mean.error for mean in means])
    value = float(np.mean([mean.value for mean in means]))
    return Mean(value, float(np.sqrt((errors**2).sum()) / len(means)))


def groups(rows: Iterable[Row], part: str, metric: str, scale: float = 1.0) -> Groups:
    """Return the values of one part and metric, by data set, setting and method, then by seed."""
    found: dict[Key, dict[int, float]] = {}
    for row in select(rows, part, metric):
        cell = row.cell
        by_seed = found.setdefault((cell.dataset, cell.setting, cell.method), {})
        by_seed[cell.seed] = scale * row.value
    return found


def means(found: Groups) -> dict[Key, Mean]:
    """Return the mean of each group over its seeds."""
    return {key: Mean.of(values.values()) for key, values in found.items()}


def paired_difference(first: Mapping[int, float], second: Mapping[int, float]) -> Mean | None:
    """Return the mean difference over the seeds that both have; None if there is none."""
    both = [seed for seed in first if seed in second]
    return Mean.of(first[seed] - second[seed] for seed in both) if both else None


def in_order(found: Iterable[str], order: Iterable[str]) -> list[str]:
    """Return the names that are there, in a given order; unknown ones at the end."""
    there, known = list(dict.fromkeys(found)), list(order)
    return [n for n in known if n in there] + [n for n in there if n not in known]


def shown(mean: Mean | None, digits: int = 1, sign: str = "") -> str:
    """Return the mean with its error, or a dash where there is none."""
    return "–" if mean is None else mean.format(digits, sign)


def seeds_line(rows: Sequence[Row], part: str, methods: Sequence[str]) -> str:
    """Say how many seeds each method has, and by which state of the code it was measured.

    >>> from experiments.defaults.results import Cell
    >>> row = Row(Cell("clusters", "cora", "", "km", 0), "nmi", 0.4, 1.0, "0a1b2c3d")
    >>> seeds_line([row], "clusters", ["km"])
    'Seeds: 1 of km. Code: 0a1b2c3d.'
    """
    seeds: dict[str, set[int]] = {}
    codes: dict[str, set[str]] = {}
    for row in rows:
        if row.cell.part == part and row.cell.method in methods:
            seeds.setdefault(row.cell.method, set()).add(row.cell.seed)
            codes.setdefault(row.cell.method, set()).add(row.code or EARLIER)
    there = in_order(seeds, methods)
    counts = {method: str(len(seeds[method])) for method in there}
    states = {method: " and ".join(sorted(codes[method])) for method in there}
    one_state = len(set(states.values())) == 1
    said = next(iter(states.values())) if one_state else of_methods(states)
    return f"Seeds: {of_methods(counts)}. Code: {said}."


def of_methods(found: Mapping[str, str]) -> str:
    """Say what methods have, those that have the same together.

    >>> of_methods({"km": "10", "auto": "10", "old": "3"})
    '10 of km, auto; 3 of old'
    """
    methods: dict[str, list[str]] = {}
    for method, what in found.items():
        methods.setdefault(what, []).append(method)
    return "; ".join(f"{what} of {', '.join(same)}" for what, same in methods.items())


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; the first column is text, the others are numbers.

    >>> print(markdown(["data", "NMI"], [["cora", "56.4"]]))
    | data | NMI |
    | --- | ---: |
    | cora | 56.4 |
    """
    lines = [list(header), ["---", *["---:"] * (len(header) - 1)], *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
