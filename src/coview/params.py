"""Parameters: checks with the same words everywhere, and shared descriptions of the models' own.

Nothing here imports numpy at the top, so that plans and commands are checked before it is loaded.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_NO_DEFAULT = object()


def check_int(name: str, value: Any, low: int, what: str = "") -> int:
    """Return an integer of at least `low`; booleans are refused."""
    if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= low:
        return int(value)
    raise ValueError(f"{name} must be an integer of at least {low}{what}; got {value!r}.")


def check_real(name: str, value: Any, low: float = 0.0, high: float = math.inf) -> float:
    """Return a finite number in [low, high]."""
    number = _number(value)
    if math.isfinite(number) and low <= number <= high:
        return number
    bounds = f"of at least {low:g}" if math.isinf(high) else f"between {low:g} and {high:g}"
    raise ValueError(f"{name} must be a finite number {bounds}; got {value!r}.")


# Numbers that are multiplied with counts or added to them. Beyond these nothing else matters in
# the precision of a model, and a little further on sums are not finite.
LARGEST_FACTOR = 1e15
LARGEST_STRENGTH = 1e30


def check_factor(name: str, value: Any, most: float = LARGEST_FACTOR) -> float:
    """Return a finite number of at least 0 that counts can be multiplied with.

    >>> check_factor("ensemble", 1e300)
    Traceback (most recent call last):
        ...
    ValueError: ensemble must be at most 1e+15, beyond which nothing else counts; got 1e+300.
    """
    number = check_real(name, value)
    if number <= most:
        return number
    raise ValueError(
        f"{name} must be at most {most:g}, beyond which nothing else counts; got {value!r}."
    )


def check_positive(name: str, value: Any) -> float:
    """Return a finite number above 0."""
    number = _number(value)
    if math.isfinite(number) and number > 0:
        return number
    raise ValueError(f"{name} must be a finite number above 0; got {value!r}.")


def check_inner_share(name: str, value: Any) -> float:
    """Return a number above 0 and below 1."""
    number = _number(value)
    if 0 < number < 1:
        return number
    raise ValueError(f"{name} must be between 0 and 1 (0.05 is 5 %); got {value!r}.")


def _number(value: Any) -> float:
    """Return a real number as a float, NaN for anything else; booleans are not numbers."""
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan


def check_choice(name: str, value: Any, choices: Iterable[Any]) -> Any:
    """Return one of a few values."""
    choices = list(choices)
    for choice in choices:
        if value is choice or (isinstance(value, str) and value == choice):
            return value
    listed = ", ".join(repr(c) for c in choices)
    raise ValueError(f"{name} must be one of {listed}; got {value!r}.")


def check_dtype(value: Any) -> np.dtype:
    """Return the type float32 or float64."""
    import numpy as np

    try:
        dtype = np.dtype(value)
    except TypeError:
        dtype = None
    if dtype in (np.float32, np.float64):
        return dtype
    raise ValueError(f"dtype must be float32 or float64; got {value!r}.")


def check_n_jobs(value: Any) -> int | None:
    """Return None or an integer other than 0; `effective_threads` makes a number of it."""
    if value is None or (isinstance(value, Integral) and int(value) != 0):
        return value if value is None else int(value)
    raise ValueError(f"n_jobs must be None or an integer other than 0; got {value!r}.")


def by_view(name: str, value: Any, views: Sequence[str], default: Any = _NO_DEFAULT) -> list[Any]:
    """Return a value for each view, from one for all or a dict by view name.

    A dict has to name all views, unless there is a default for those that it leaves out.

    >>> by_view("noise", {"text": 0.5}, ["text", "image"], default=0.0)
    [0.5, 0.0]
    """
    if not isinstance(value, Mapping):
        return [value] * len(views)
    if not set(value) <= set(views) or (default is _NO_DEFAULT and len(value) < len(views)):
        raise ValueError(f"{name} names the views {sorted(value)}; the data have {sorted(views)}.")
    return [value.get(view, default) for view in views]


def seed_of(random_state: Any, *, bits: int = 32) -> int:
    """Return one integer that determines all randomness.

    An integer is returned as it is; from a Generator (`bits` bits) or a RandomState a number is
    drawn; None takes fresh entropy.
    """
    import numpy as np

    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**bits))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return check_int("random_state", random_state, 0, ", a Generator, a RandomState or None")


def seed_of_run(rng: np.random.Generator) -> int:
    """Return the seed of the fit that spawned a generator, plus the number of its restart.

    So what a restart makes by other estimators is what a user makes by them with that seed.

    >>> import numpy as np
    >>> own, first, second = np.random.SeedSequence(7).spawn(3)  # as `fit` does
    >>> [seed_of_run(np.random.default_rng(s)) for s in (own, first, second)]
    [7, 7, 8]
    """
    sequence: Any = rng.bit_generator.seed_seq
    return int(sequence.entropy) + max(sum(sequence.spawn_key[-1:]) - 1, 0)


def complete_docstring(own: str, common: str, parameters: Sequence[str]) -> str:
    """Put the base class's descriptions in place of the placeholders in a model's docstring.

    Parameters come in the order of the signature, the model's own attributes before the common.
    What a model describes itself is kept.
    """
    own, common = inspect.cleandoc(own), inspect.cleandoc(common)
    described = _entries(common, "Parameters") | _entries(own, "Parameters")
    in_order = [described[name] for name in parameters if name in described]
    attributes = _entries(own, "Attributes")
    attributes |= {n: e for n, e in _entries(common, "Attributes").items() if n not in attributes}
    for title, entries in ("Parameters", in_order), ("Attributes", attributes.values()):
        written = _section(own, title)
        own = own.replace(written, "\n".join(entries)) if written else own
    return own


def _section(doc: str, title: str) -> str:
    """Return the text of a section of a numpydoc docstring, without the blank line at its end."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=\n\n|\Z)", doc, re.DOTALL | re.MULTILINE)
    return found.group(1) if found else ""


def _entries(doc: str, title: str) -> dict[str, str]:
    """Return the entries of a section by name, without the placeholder."""
    entries = re.split(r"\n(?=\S)", _section(doc, title))
    return {entry.split(" : ")[0]: entry for entry in entries if " : " in entry}
