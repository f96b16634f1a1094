"""Counts far above and below what a float holds: fitted, folded in, or refused; never zeros."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.cases import Case
from tests.campaigns.dense import not_shares

VIEW = "wide"
CLOSE = 0.02  # mixtures of the same counts in another unit


def make(rng: np.random.Generator, folder: Path) -> Case:
    """Return counts in an extreme unit, to fit, to fold in, or as weights of views."""
    X = np.random.default_rng(int(rng.integers(5))).poisson(2.0, (12, 8)) + np.eye(12, 8) * 20
    factor = 10.0 ** float(rng.uniform(-60, 60))
    dtype = str(rng.choice(["float32", "float64"]))
    if rng.random() < 0.2:
        dtype, factor = "float64", 10.0 ** float(rng.uniform(-320, 305))
    way = str(rng.choice(["fit", "transform", "weights", "mixed"]))
    with np.errstate(all="ignore"):
        scaled = X * factor
    if way == "mixed":  # one document far away from the others
        scaled = np.vstack([X[:-1], scaled[-1:]])
    model = _model(dtype, way, factor)
    what = f"{way} in units of {factor:.0e}, {dtype}"

    def act() -> Any:
        data = {VIEW: X if way in ("transform", "weights") else scaled}
        fitted = model().fit(data)
        return fitted, fitted.transform({VIEW: X if way == "weights" else scaled})

    def judge(result: Any) -> str | None:
        fitted, mixtures = result
        wrong = not_shares(mixtures, (12, 2)) or not_shares(fitted.doc_topic_, (12, 2))
        wrong = wrong or not_shares(fitted.components_[VIEW], (2, 8), or_zero=way == "mixed")
        if wrong or way in ("weights", "mixed"):
            return wrong
        plain = fitted if way == "transform" else model().fit({VIEW: X})
        far = np.abs(mixtures - plain.transform({VIEW: X})).max()
        return f"mixtures differ by {far:.3f} from those in another unit" if far > CLOSE else None

    return Case(what, act, judge, (VIEW, "view_weights"))


def _model(dtype: str, way: str, factor: float) -> Any:
    from coview import LTM, PLSA

    kind: Any = LTM if way == "weights" else PLSA
    options: dict[str, Any] = {"view_weights": factor} if way == "weights" else {}
    common: dict[str, Any] = {"max_iter": 10, "random_state": 0, "dtype": dtype, "init": "random"}
    common["scaling"] = None  # else counts in another unit are measurements, which are scaled
    return lambda: kind(2, **common, **options)
