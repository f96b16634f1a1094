"""The settings of a service: where it listens, who may ask, and how much."""

from __future__ import annotations

import ipaddress
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from coview.params import check_int, check_real

TOKEN_VARIABLE = "COVIEW_TOKEN"
MIN_TOKEN = 16  # characters: shorter ones can be guessed
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class ServiceSettings:
    """How a model is served.

    Parameters
    ----------
    host : str, default="127.0.0.1"
        Address to listen on.
    port : int, default=8000
        0 takes a free one.
    token : str, optional
        What clients send as ``Authorization: Bearer TOKEN``. Required unless `host` is loopback.
    allowed_hosts : tuple of str
        Names that clients may call the service by (header ``Host``); "*" is any. Required unless
        `host` is loopback, where the names of loopback are the default: a page of another site
        that points its own name to this machine is refused.
    max_body : int, default=10 MB
        Bytes of a request.
    max_documents : int, default=1000
        Documents of a request.
    timeout : float, default=30
        Seconds until the answer of a request is given up (504).
    read_timeout : float, default=10
        Seconds for the headers, for the body, and for a client to take its answer.
    workers : int, default=2
        Requests that are worked on at once, each in one thread.
    max_requests : int, default=64
        Requests that wait or are worked on; more are sent away (503).
    max_connections : int, default=512
        Open connections. A further one takes the place of one that waits for its client: the
        oldest of the address that has the most.
    rate : float, default=100
        Requests a second of one address, twice as many at once (429); 0 is no limit.
    drain : float, default=0
        Seconds between SIGTERM and the end of listening, in which ``/readyz`` already says no.
    log_format : {"text", "json"}, default="text"
        Lines for people, or an object for each line.

    Examples
    --------
    >>> ServiceSettings(port=0).hosts
    ('localhost', '127.0.0.1', '[::1]')
    >>> ServiceSettings(host="0.0.0.0")
    Traceback (most recent call last):
        ...
    ValueError: 0.0.0.0 is open to other machines: a token is needed, in the environment ...
    """

    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = field(default=None, repr=False)
    allowed_hosts: tuple[str, ...] = ()
    max_body: int = 10 * MEGABYTE
    max_documents: int = 1000
    timeout: float = 30.0
    read_timeout: float = 10.0
    workers: int = 2
    max_requests: int = 64
    max_connections: int = 512
    rate: float = 100.0
    drain: float = 0.0
    log_format: str = "text"

    def __post_init__(self) -> None:
        check_int("port", self.port, 0)
        for name in ("max_body", "max_documents", "workers", "max_requests", "max_connections"):
            check_int(name, getattr(self, name), 1)
        for name in ("timeout", "read_timeout", "rate", "drain"):
            check_real(name, getattr(self, name), 0.0)
        if self.log_format not in ("text", "json"):
            raise ValueError(f"log_format must be 'text' or 'json'; got {self.log_format!r}.")
        if self.port > 65535:
            raise ValueError(f"port must be at most 65535; got {self.port}.")
        if self.timeout <= 0 or self.read_timeout <= 0:
            raise ValueError("timeout and read_timeout must be more than 0 seconds.")
        self._check_access()

    def _check_access(self) -> None:
        if self.token is not None:
            check_token(self.token)
        if is_loopback(self.host):
            return
        if self.token is None:
            raise ValueError(
                f"{self.host} is open to other machines: a token is needed, in the environment "
                f"variable {TOKEN_VARIABLE} or in a file (--token-file)."
            )
        if not self.allowed_hosts:
            raise ValueError(
                f"{self.host} is open to other machines: say by which names they may call it "
                "(--allowed-host NAME, repeatable; '*' for any)."
            )

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names that clients may call the service by."""
        return self.allowed_hosts or LOOPBACK_HOSTS


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches an address.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_token(token: str) -> str:
    """Return a token that is long enough and can stand in a header."""
    if len(token) < MIN_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError(
            f"The token must have at least {MIN_TOKEN} printable ASCII characters and no spaces. "
            'Make one with: python -c "import secrets; print(secrets.token_urlsafe(32))"'
        )
    return token


def read_token(path: Path | None) -> str | None:
    """Return the token of a file, else that of the environment, None if there is none."""
    if path is None:
        return os.environ.get(TOKEN_VARIABLE) or None
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise ValueError(
            f"{path} can be read by other users: allow only yourself, such as by chmod 600."
        )
    return check_token(path.read_text(encoding="utf-8").strip())
