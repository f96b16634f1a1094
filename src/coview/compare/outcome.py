"""What a cell gives back, and how time is taken."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """Measures of one fit.

    Attributes
    ----------
    values : dict of dict of float
        By part ("" if there is only one; "image->text" and the like in searches) and metric.
    seconds : float
        Wall time of the fit alone.
    iterations : int or None
    documents : int
    """

    values: dict[str, dict[str, float]]
    seconds: float
    iterations: int | None
    documents: int


def timed(work: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    """What the work returns, and the seconds it took."""
    start = time.perf_counter()
    found = work(*args)
    return found, time.perf_counter() - start
