"""What all commands share: whether to show tracebacks, and errors of usage."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass
class State:
    """Settings of this run of the program."""

    debug: bool = False


STATE = State()


class UsageError(ValueError):
    """The command was not written as it should be: exit code 2."""


def refuse_options(context: Any, names: Iterable[str], why: str) -> None:
    """Refuse options that would have no effect: whoever gives one believes that it has."""
    sources = {name: context.get_parameter_source(name) for name in names}
    given = [n for n, source in sources.items() if source and source.name == "COMMANDLINE"]
    if given:
        listed = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise UsageError(f"{why}: leave out {listed}.")
