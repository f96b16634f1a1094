"""JSON of requests, read strictly: no NaN, no key twice, no text that is not Unicode."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from coview.serving.errors import RequestError

# half of a pair of surrogates, maybe: whether it is a whole pair is looked at where one is found
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def parse_json(body: bytes) -> Any:
    """Return the value of a JSON text; `RequestError` (400) says where it is wrong.

    Examples
    --------
    >>> parse_json(b'{"top": 3}')
    {'top': 3}
    >>> parse_json(b'{"top": }')
    Traceback (most recent call last):
        ...
    coview.serving.errors.RequestError: The body is no JSON: Expecting value, line 1, column 9.
    """
    try:
        value = json.loads(
            body.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_unique_keys
        )
    except UnicodeDecodeError as error:
        _refuse(f"it is not UTF-8 at byte {error.start:,}")
    except json.JSONDecodeError as error:
        _refuse(f"{error.msg}, line {error.lineno:,}, column {error.colno:,}")
    except RecursionError:
        _refuse("it is nested too deeply")
    except ValueError:  # an integer of thousands of digits
        _refuse("a number is too long")
    if _SURROGATE.search(body):
        _check_surrogates(value)
    return value


def _refuse(why: str) -> NoReturn:
    raise RequestError(400, "bad_json", f"The body is no JSON: {why}.") from None


def _refuse_constant(name: str) -> NoReturn:
    _refuse(f"{name} is no number")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        _refuse("a key stands twice in one object")
    return found


def _check_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        _refuse("a text has half of a surrogate pair")
