"""JSON of requests, read strictly: no NaN, no key twice, no text that is not Unicode."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from coview.serving.errors import RequestError

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
# half of a pair of surrogates, maybe: whether it is a whole pair is looked at where one is found
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def count_containers(body: bytes | bytearray, most: int) -> int:
    """Return how many objects and lists a JSON text has; of no more than `most`, a bound.

    >>> count_containers(b'{"a": ["[[", {}]}', most=1)
    3
    """
    found = body.count(b"{") + body.count(b"[")
    if found <= most:
        return found
    outside = _STRING.sub(b"", body)
    return outside.count(b"{") + outside.count(b"[")


def parse_json(body: bytes | bytearray) -> Any:
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
        if _SURROGATE.search(body):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        _refuse(f"it is not UTF-8 at byte {error.start:,}")
    except UnicodeEncodeError:
        _refuse("a text has half of a surrogate pair")
    except json.JSONDecodeError as error:
        _refuse(f"{error.msg}, line {error.lineno:,}, column {error.colno:,}")
    except RecursionError:
        _refuse("it is nested too deeply")
    except ValueError:  # an integer of thousands of digits
        _refuse("a number is too long")
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
