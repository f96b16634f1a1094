"""Seed words on the command line: a file of them, or words given as options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coview.cli.options import UsageError

FORM = '{"sport": {"en": ["goal", "coach"]}}'


def read_seeds(file: Path | None, words: list[str]) -> dict[Any, Any] | None:
    """Return the seeds of a file and of options as the models take them; None if there are none.

    A topic whose name is a whole number is the topic of that number, since keys in these files are
    texts.
    """
    if file is None and not words:
        return None
    by_name: dict[str, Any] = {} if file is None else _read_file(file)
    for given in words:
        _add(by_name, given)
    return {int(t) if t.isdecimal() else t: found for t, found in by_name.items()}


def _read_file(path: Path) -> dict[str, Any]:
    import json
    import tomllib

    readers = {".json": json.loads, ".toml": tomllib.loads}
    if path.suffix.lower() not in readers:
        raise UsageError(f"--seeds takes a .json or .toml file; got {path.name}.")
    if not path.is_file():
        raise UsageError(f"There is no file {path} of seeds.")
    try:
        found = readers[path.suffix.lower()](path.read_text("utf-8"))
    except ValueError as error:  # of both formats, and of texts that are not UTF-8
        raise UsageError(f"{path} cannot be read as {path.suffix[1:].upper()}: {error}") from error
    if not isinstance(found, dict):
        raise UsageError(f"{path} must have words by topic and view, such as {FORM}.")
    return found


def _add(seeds: dict[str, Any], given: str) -> None:
    """Add words given as TOPIC:VIEW=WORD,WORD, or TOPIC=WORD,WORD for the only view."""
    where, equals, listed = given.partition("=")
    topic, colon, view = where.rpartition(":") if ":" in where else (where, "", "")
    words = [word.strip() for word in listed.split(",") if word.strip()]
    if not topic or not equals or not words or (colon and not view):
        raise UsageError(
            f"--seed-words must be TOPIC:VIEW=WORDS, such as sport:en=goal,coach; got {given!r}."
        )
    if not colon:
        fresh = seeds.setdefault(topic, words) is words
        taken = not fresh
    else:
        by_view = seeds.setdefault(topic, {})
        taken = not isinstance(by_view, dict) or by_view.setdefault(view, words) is not words
    if taken:
        raise UsageError(f"Words of {where!r} are given twice.")
