"""Run one input and say what became of it."""

from __future__ import annotations

import os
import tempfile
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.campaigns.cases import Case, Outcome, rng_of
from tests.campaigns.generators import ALL
from tests.process_memory import process_memory

# the types that coview documents; of these classes and not of their subclasses, which json, numpy,
# pyarrow and scikit-learn have many of
DOCUMENTED = {
    *(ValueError, TypeError, KeyError, MemoryError, ImportError, RuntimeError),
    *(OSError, FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError),
    *(PermissionError,),
}
OWN_MODULES = ("coview.", "experiments.")
LONGEST_DETAIL = 400


def run_input(
    generator: str, number: int, seed: int, about: Callable[[str], None] = lambda what: None
) -> Outcome:
    """Make an input, give it to coview and judge what came of it; `about` hears what it is."""
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        try:
            case = ALL[generator].make(rng_of(seed, generator, number), Path(folder))
        except Exception:
            return Outcome(generator, number, "broken", "", traceback.format_exc()[-2000:])
        about(case.what)
        verdict, detail = _run(case)
    return Outcome(generator, number, verdict, case.what, detail[:LONGEST_DETAIL])


def _run(case: Case) -> tuple[str, str]:
    before = _forget_peak()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = case.act()
    except BaseException as error:
        verdict, detail = _judge_error(error, case)
    else:
        verdict, detail = _judge_result(result, case)
    taken = _peak() - before
    if verdict in ("right", "refused") and taken > case.memory:
        return "memory", f"{taken / 1e6:,.0f} MB, then {verdict}: {detail}"
    return verdict, detail


def _judge_result(result: Any, case: Case) -> tuple[str, str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wrong = case.judge(result)
    except Exception:
        return "broken", traceback.format_exc()[-2000:]
    return ("silently wrong", wrong) if wrong else ("right", "")


def _judge_error(error: BaseException, case: Case) -> tuple[str, str]:
    words = f"{type(error).__name__}: {error}"
    if not is_documented(error):
        return "foreign error", f"{words} ({_place(error)})"
    if not any(name in str(error) for name in case.names):
        return "foreign error", f"{words} (names none of {', '.join(case.names)}; {_place(error)})"
    if case.expect == "right":
        return "wrongly refused", words
    return "refused", words


def is_documented(error: BaseException) -> bool:
    """Return whether an error is of a type that coview's documentation names."""
    kind = type(error)
    return kind in DOCUMENTED or kind.__module__.startswith(OWN_MODULES) or _is_unfitted(kind)


def _is_unfitted(kind: type) -> bool:
    return (kind.__module__, kind.__name__) == ("sklearn.exceptions", "NotFittedError")


def _place(error: BaseException) -> str:
    """Return the innermost line of coview that an error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}coview{os.sep}" in frame.filename]
    if not ours:
        return "outside coview"
    return f"{ours[-1].filename.rpartition(f'{os.sep}coview{os.sep}')[2]}:{ours[-1].lineno}"


# -- memory ---------------------------------------------------------------------------------------


def _forget_peak() -> int:
    """Let the kernel begin anew with the largest size of this process; return its present size."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _peak() -> int:
    return _status("VmHWM")


def _status(field: str) -> int:
    """Return a number of bytes from /proc; 0 where there is none, so that nothing is measured."""
    with suppress(OSError):
        return process_memory(field)
    return 0
