"""`Why`: the reasons for a model that was chosen automatically."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from textwrap import fill
from typing import Any

WIDTH = 88  # of the printed sentences


@dataclass(frozen=True, repr=False)
class Why:
    """Why a model is as it is, in words and numbers, and how to fit it by hand.

    Attributes
    ----------
    sentences : tuple of str
        The reasons.
    numbers : dict
        What they rest on, as plain data: of each view, of the clusterings, of the fit.
    python : str
        The line that fits the same model, to the bit, to the same `views` (and `labels`).
    command : str
        The command that does.
    """

    sentences: tuple[str, ...]
    numbers: dict[str, Any]
    python: str
    command: str

    @property
    def by_hand(self) -> str:
        """How to do the same by hand, as text."""
        return (
            f"The same by hand, in Python:\n  {self.python}\n"
            f"and on the command line:\n  {self.command}"
        )

    def __str__(self) -> str:
        return f"{as_list(self.sentences)}\n{self.by_hand}"

    __repr__ = __str__  # what an interactive session shows

    def as_data(self) -> dict[str, Any]:
        """Return all of it as plain data, for JSON."""
        return {**asdict(self), "sentences": list(self.sentences)}


def as_list(sentences: tuple[str, ...] | list[str]) -> str:
    """Return sentences as lines of a list, wrapped.

    >>> print(as_list(["One view.", "Two topics."]))
    - One view.
    - Two topics.
    """
    kept = (s.replace(" %", "\xa0%") for s in sentences)  # no line begins with a percent sign
    lines = (fill(s, WIDTH, initial_indent="- ", subsequent_indent="  ") for s in kept)
    return "\n".join(lines).replace("\xa0%", " %")
