"""Numbers of topics on the command line: 20, a range such as 5:40 to choose from, or a list."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from coview.cli.options import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from coview.selection.topics import TopicSelection
    from coview.views.container import Views


def parse_number_or_range(text: str) -> int | list[int]:
    """Return a number of topics, or the candidates of a range, from 20, 5:40 or 5:40:5."""
    return _parse_range(text) if ":" in text else _parse_number(text, "20, or 5:40 to choose")


def parse_numbers(text: str) -> list[int]:
    """Return numbers of topics from 10, 5,10,20 or 5:20:5; double ones once."""
    if ":" in text:
        return _parse_range(text)
    numbers = [_parse_number(part, "10, 5,10,20 or 5:20:5") for part in text.split(",")]
    return list(dict.fromkeys(numbers))


def _parse_number(text: str, examples: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise UsageError(f"--topics must be such as {examples}; got {text!r}.")
    return number


def _parse_range(text: str) -> list[int]:
    from coview.selection.topics import parse_topics

    try:
        return parse_topics(text)
    except ValueError as error:
        raise UsageError(f"--topics: {error}") from error


def compare_topics(
    views: Views, candidates: Sequence[int], seed: int, quiet: bool
) -> TopicSelection:
    """Compare numbers of topics without labels, with a progress bar on a terminal."""
    from coview.selection.topics import select_topics

    show = not quiet and sys.stderr.isatty()
    several = [k for k in candidates if k > 1]  # one topic has nothing to compare
    return select_topics(views, several, random_state=seed, verbose=int(show))
