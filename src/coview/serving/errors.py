"""What a client is told when a request cannot be answered: a status, a short code, words."""

from __future__ import annotations

import json


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


def error_body(code: str, message: str, request_id: str) -> bytes:
    """Return the JSON of an error, the same for every status.

    >>> error_body("not_found", "There is no such page.", "7f")
    b'{"error": {"code": "not_found", "message": "There is no such page.", "request": "7f"}}'
    """
    content = {"error": {"code": code, "message": message, "request": request_id}}
    return json.dumps(content).encode()
