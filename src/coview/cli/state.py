"""What all commands share: whether to show tracebacks, and errors of usage."""

from dataclasses import dataclass


@dataclass
class State:
    """Settings of this run of the program."""

    debug: bool = False


STATE = State()


class UsageError(ValueError):
    """The command was not written as it should be: exit code 2."""
