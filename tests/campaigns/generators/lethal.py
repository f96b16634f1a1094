"""Inputs with known ends, by which the campaign itself is tested; no part of a campaign."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaigns.cases import Case, Generator


def _generator(act: Callable[[], Any], judge: Callable[[Any], str | None]) -> Generator:
    def make(rng: np.random.Generator, folder: Path) -> Case:
        return Case("an input", act, judge, ("x",), memory=100 << 20)

    return Generator(make, "", "", 1, seconds=2.0)


def _refuse(error: BaseException) -> Callable[[], None]:
    def act() -> None:
        raise error

    return act


def _fine(_: Any) -> str | None:
    return None


LETHAL: dict[str, Generator] = {
    "dies": _generator(lambda: os.kill(os.getpid(), signal.SIGSEGV), _fine),
    "hangs": _generator(lambda: time.sleep(60), _fine),
    "fine": _generator(lambda: 1, _fine),
    "wrong": _generator(lambda: 1, lambda found: "it is 1"),
    "refused": _generator(_refuse(ValueError("x is wrong")), _fine),
    "unnamed": _generator(_refuse(ValueError("something is wrong")), _fine),
    "foreign": _generator(_refuse(UnicodeDecodeError("x", b"", 0, 1, "x")), _fine),
    "hungry": _generator(lambda: np.ones(300 << 20, np.uint8).sum(), _fine),
}
