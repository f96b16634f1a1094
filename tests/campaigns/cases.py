"""What an input of the campaign is, and what can become of it."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

# What may become of an input, in the order of the report; only the first two are good.
VERDICTS = {
    "right": "accepted, and what came of it passed the comparison of its kind (below)",
    "refused": "refused with an error of coview's own, whose words name the input",
    "silently wrong": "accepted, but what came of it did not pass",
    "wrongly refused": "refused although nothing is wrong with it",
    "foreign error": "an error of a type that coview does not document, or that names nothing",
    "memory": "took more memory than an input of its size may",
    "hang": "did not end within its time, twice",
    "death": "ended the interpreter",
    "broken": "the campaign itself failed to make or judge it",
}
GOOD = ("right", "refused")

Expected = Literal["right", "refused", "either"]


@dataclass(frozen=True)
class Case:
    """One input.

    Attributes
    ----------
    what : str
        The input in a few words, for the report.
    act : callable
        Gives the input to coview and returns what came of it.
    judge : callable
        Returns None if what `act` returned is right, else what is wrong with it.
    names : tuple of str
        The words of a refusal must hold one of these: the file, the view, the parameter.
    expect : {"right", "refused", "either"}
        "right": a sound input, which must not be refused. "refused": a damaged one, which must be.
    memory : int
        Bytes that the input may take at most.
    """

    what: str
    act: Callable[[], Any]
    judge: Callable[[Any], str | None]
    names: tuple[str, ...]
    expect: Expected = "either"
    memory: int = 1 << 30


@dataclass(frozen=True)
class Generator:
    """A kind of input.

    Attributes
    ----------
    make : callable
        Makes an input from a random generator and an empty folder for its files.
    what : str
        The kind in words, for the report.
    judged : str
        What an accepted input is compared with, for the report.
    inputs : int
        How many inputs of this kind a whole campaign has.
    seconds : float
        After this time an input hangs.
    """

    make: Callable[[np.random.Generator, Path], Case]
    what: str
    judged: str
    inputs: int
    seconds: float = 60.0


@dataclass(frozen=True)
class Outcome:
    """What became of an input."""

    generator: str
    number: int
    verdict: str
    what: str = ""
    detail: str = ""


def rng_of(seed: int, generator: str, number: int) -> np.random.Generator:
    """Return the random numbers of one input, whatever was run before it."""
    return np.random.default_rng([seed, zlib.crc32(generator.encode()), number])


def must_be_refused(what: str) -> Callable[[Any], str]:
    """Return a judge of inputs that nothing right can come of."""
    return lambda _: f"{what} was accepted"
