"""Parameters: checks with the same words everywhere, and shared descriptions of the models' own.

Nothing here imports numpy at the top, so that plans and commands are checked before it is loaded.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_NO_DEFAULT = object()
LARGEST = 2**63  # what NumPy and the kernels count with is smaller


def check_int(name: str, value: Any, low: int, what: str = "") -> int:
    """Return an integer of at least `low` that a machine can count to; booleans are refused."""
    if isinstance(value, Integral) and not isinstance(value, bool) and low <= int(value) < LARGEST:
        return int(value)
    raise ValueError(f"{name} must be an integer of at least {low}{what}; got {shown(value)}.")


def check_real(name: str, value: Any, low: float = 0.0, high: float = math.inf) -> float:
    """Return a finite number in [low, high]."""
    number = _number(value)
    if math.isfinite(number) and low <= number <= high:
        return number
    bounds = f"of at least {low:g}" if math.isinf(high) else f"between {low:g} and {high:g}"
    raise ValueError(f"{name} must be a finite number {bounds}; got {shown(value)}.")


# Numbers that are multiplied with counts or added to them. Beyond these nothing else matters in
# the precision of a model, and a little further on sums are not finite.
LARGEST_FACTOR = 1e15
LARGEST_STRENGTH = 1e30
LARGEST_FOLD_IN = 1_000_000  # iterations of a new document


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


def check_fold_in(max_iter: Any, tol: Any) -> tuple[int, float]:
    """Check when the folding in of a document ends: in any case within a lifetime."""
    most = check_int("fold_in_max_iter", max_iter, 1)
    if most > LARGEST_FOLD_IN:
        raise ValueError(f"fold_in_max_iter must be at most {LARGEST_FOLD_IN:,}; got {most:,}.")
    return most, check_real("fold_in_tol", tol)


def check_positive(name: str, value: Any) -> float:
    """Return a finite number above 0."""
    number = _number(value)
    if math.isfinite(number) and number > 0:
        return number
    raise ValueError(f"{name} must be a finite number above 0; got {shown(value)}.")


def check_inner_share(name: str, value: Any) -> float:
    """Return a number above 0 and below 1."""
    number = _number(value)
    if 0 < number < 1:
        return number
    raise ValueError(f"{name} must be between 0 and 1 (0.05 is 5 %); got {shown(value)}.")


def _number(value: Any) -> float:
    """Return a real number as a float, NaN for anything else; booleans are not numbers."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:  # an integer or a fraction beyond all floats
        return math.inf


def shown(value: Any) -> str:
    """Return a value for a message: in short where it is long.

    >>> shown("x"), shown(10**5000)
    ("'x'", 'an integer of 16,610 bits')
    """
    if isinstance(value, int) and abs(value) >= LARGEST:
        return f"an integer of {value.bit_length():,} bits"
    text = " ".join(repr(value).split())
    return text if len(text) <= 200 else f"{text[:200]}..."


@contextmanager
def plain_numbers(estimator: Any) -> Iterator[None]:
    """Give an estimator Python's own numbers while it is fitted, and those it was given after it.

    A number of NumPy brings its width along: 20 * np.int8(100) is an OverflowError. The parameters
    of an estimator must stay what they are, for scikit-learn's `clone`.
    """
    given = {n: v for n, v in estimator.get_params(deep=False).items() if isinstance(v, Real)}
    plain = {n: int(v) if isinstance(v, Integral) else _number(v) for n, v in given.items()}
    plain = {n: v for n, v in plain.items() if type(given[n]) not in (bool, int, float)}
    vars(estimator).update(plain)
    try:
        yield
    finally:
        vars(estimator).update({name: given[name] for name in plain})


def check_choice(name: str, value: Any, choices: Iterable[Any]) -> Any:
    """Return one of a few values."""
    choices = list(choices)
    for choice in choices:
        if value is choice or (isinstance(value, str) and value == choice):
            return value
    listed = ", ".join(repr(c) for c in choices)
    raise ValueError(f"{name} must be one of {listed}; got {shown(value)}.")


def check_dtype(value: Any) -> np.dtype:
    """Return the type float32 or float64."""
    import numpy as np

    try:
        dtype = np.dtype(value)
    except Exception:  # of texts, NumPy raises several kinds
        dtype = None
    if dtype in (np.float32, np.float64):
        return dtype
    raise ValueError(f"dtype must be float32 or float64; got {shown(value)}.")


def check_n_jobs(value: Any) -> int | None:
    """Return None or an integer other than 0; `effective_threads` makes a number of it."""
    if value is None:
        return None
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if whole and int(value) != 0 and abs(int(value)) < LARGEST:
        return int(value)
    raise ValueError(f"n_jobs must be None or an integer other than 0; got {shown(value)}.")


def check_verbose(value: Any) -> int:
    """Return how much is shown: an integer of at least 0, or a truth value."""
    return int(value) if isinstance(value, bool) else check_int("verbose", value, 0)


def check_view_name(value: Any) -> str | None:
    """Return the name of a view, or None."""
    if value is None or isinstance(value, str):
        return value
    raise ValueError(f"view must be the name of a view or None; got {shown(value)}.")


def check_estimator(name: str, value: Any) -> Any:
    """Return an estimator: what can be fitted, and is not a class."""
    if not isinstance(value, type) and callable(getattr(value, "fit", None)):
        return value
    raise TypeError(f"{name} must be an estimator such as LinkPLSA(); got {shown(value)}.")


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
        return _fresh_seed()
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**bits))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return check_int("random_state", random_state, 0, ", a Generator, a RandomState or None")


def _fresh_seed() -> int:
    """Return a seed nobody chose."""
    import numpy as np

    return int(np.random.SeedSequence().generate_state(1)[0])


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
