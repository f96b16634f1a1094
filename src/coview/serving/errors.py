"""What a client is told when a request cannot be answered: a status, a short code, words."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError
from starlette.exceptions import HTTPException

from coview.wording import printable

LONGEST = 1000  # characters of a message: names in it are the client's


class RequestError(Exception):
    """A request that is answered by an error.

    Parameters
    ----------
    status : int
        Status of HTTP.
    code : str
        One word for programs.
    message : str
        A sentence for people, without paths, names of classes or other inner things.
    headers : dict of str, optional
        More headers of the answer.
    """

    def __init__(
        self, status: int, code: str, message: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}

    @classmethod
    def of(cls, error: Exception) -> RequestError:
        """Return what a client is told of any error; of our own, nothing but where to look."""
        if isinstance(error, RequestError):
            return error
        if isinstance(error, ValidationError):
            found = error.errors(include_url=False, include_context=False, include_input=False)
            return cls(422, "invalid", validation_message(found))
        if isinstance(error, HTTPException):
            code = {404: "not_found", 405: "bad_method"}.get(error.status_code, "bad_request")
            return cls(error.status_code, code, f"{error.detail}.", dict(error.headers or {}))
        return cls(500, "internal", "Something went wrong here. The log has the request.")

    def body(self, request_id: str) -> bytes:
        """Return the JSON of the error, the same for every status.

        >>> RequestError(404, "not_found", "There is no such page.").body("7f")
        b'{"error": {"code": "not_found", "message": "There is no such page.", "request": "7f"}}'
        """
        message = printable(self.message, LONGEST)
        content = {"code": self.code, "message": message, "request": request_id}
        return json.dumps({"error": content}).encode()


def validation_message(errors: Any) -> str:
    """Return the first things that are wrong with a body, in words, without what it holds.

    >>> validation_message([{"loc": ("top",), "msg": "Input should be greater than 0"}])
    'top: Input should be greater than 0.'
    """
    parts = []
    for error in list(errors)[:3]:
        place = ".".join(str(part) for part in error["loc"])
        message = str(error["msg"]).removeprefix("Value error, ")
        parts.append(f"{printable(place)}: {message}" if place else message)
    more = len(errors) - len(parts)
    return "; ".join(parts) + (f"; and {more:,} more" if more > 0 else "") + "."
