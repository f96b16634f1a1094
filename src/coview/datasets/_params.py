"""Checks of the parameters of the data sets: what was expected, what was found."""

import numbers
from collections.abc import Iterable, Mapping

import numpy as np


def check_count(name: str, value: int) -> None:
    """A whole number of at least one."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")


def check_positive(name: str, value: float) -> None:
    """A finite number above zero."""
    if not _is_number(value) or not 0 < value < np.inf:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}.")


def check_share(name: str, value: float) -> None:
    """A number from 0 to 1."""
    if not _is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{name} must be a number from 0 to 1, got {value!r}.")


def by_view(
    name: str, value: float | Mapping[str, float], views: Iterable[str], default: float
) -> dict[str, float]:
    """The value of a parameter for each view; a view that a dict does not name gets the default."""
    views = list(views)
    if not isinstance(value, Mapping):
        return dict.fromkeys(views, value)
    unknown = sorted(set(value) - set(views))
    if unknown:
        raise ValueError(f"{name} names views {unknown}, but the views are {views}.")
    return {view: value.get(view, default) for view in views}


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
