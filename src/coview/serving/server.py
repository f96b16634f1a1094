"""Start and stop a service."""

from __future__ import annotations

import json
import logging
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from types import FrameType
from typing import Any

import uvicorn

from coview.escaping import one_line
from coview.runners.native import one_native_thread
from coview.serving.app import ServiceState, make_app
from coview.serving.engine import ServedModel
from coview.serving.guard import log
from coview.serving.settings import ServiceSettings
from coview.views.checks import DataWarning
from coview.wording import printable

IDLE_SECONDS = 5  # that a connection is kept for a next request
MAX_HEADERS = 32 * 1024  # bytes
FACTS = ("request", "client", "method", "route", "status", "ms")  # of a request, in the log


def serve(
    models: Mapping[str, Callable[[], ServedModel]],
    settings: ServiceSettings | None = None,
    tell: Callable[[str], None] | None = None,
) -> None:
    """Serve models until SIGTERM or Ctrl-C; requests that have begun are answered.

    On SIGHUP all models are read again; those of before answer until the new ones are ready, and
    go on if these cannot be read.

    Parameters
    ----------
    models : dict of callables
        By name, what reads a model. The first is asked where no name is given.
    settings : ServiceSettings, optional
    tell : callable, optional
        Called with a sentence when the service listens, and when it is ready.
    """
    settings = settings or ServiceSettings()
    tell = tell or (lambda words: None)
    state = ServiceState({name: read() for name, read in models.items()}, settings)
    listener = listen(settings)
    _write_log(settings.log_format)
    # of documents of clients there would be one in the log for each, and they are remembered
    warnings.simplefilter("ignore", DataWarning)
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    tell(f"Listening on http://{shown}:{port} (description: /docs). Stop with Ctrl-C.")
    server = GracefulServer(state)
    threading.Thread(target=_prepare, args=(state, server, tell), daemon=True).start()
    if hasattr(signal, "SIGHUP"):  # Windows has none
        reloading = threading.Lock()
        signal.signal(
            signal.SIGHUP,
            lambda *_: threading.Thread(
                target=reload, args=(state, models, reloading), daemon=True
            ).start(),
        )
    try:
        with one_native_thread():  # one thread for each request
            server.run(sockets=[listener])
    finally:
        state.pool.close()
    if server.failure is not None:
        raise server.failure


def reload(
    state: ServiceState,
    models: Mapping[str, Callable[[], ServedModel]],
    one_at_a_time: AbstractContextManager[Any],
) -> None:
    """Read all models again and take them when they are ready; keep the old ones otherwise."""
    with one_at_a_time:
        try:
            new = {name: read() for name, read in models.items()}
            for served in new.values():
                served.prepare()
        except Exception as error:
            log.error(
                "The models were not read again, the old ones stay: %s", printable(error, 500)
            )
            return
        state.models.update(new)
        log.info("The models were read again.")


def listen(settings: ServiceSettings) -> socket.socket:
    """Return a socket that listens on the address of the settings."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen()  # who comes before the server takes over waits
    except OSError as error:
        listener.close()
        raise ValueError(
            f"{settings.host}, port {settings.port}, cannot be listened on: {error.strerror}. "
            "Choose another port; 0 takes a free one."
        ) from error
    return listener


def _prepare(state: ServiceState, server: GracefulServer, tell: Callable[[str], None]) -> None:
    """Make the model ready, beside the server, which answers its probes meanwhile."""
    try:
        for served in state.models.values():
            served.prepare()
    except Exception as error:
        server.failure = error
        server.should_exit = True
        return
    state.prepared = True
    tell("Ready.")


class GracefulServer(uvicorn.Server):
    """uvicorn with all limits set, which says that it is not ready before it stops.

    Parameters
    ----------
    state : ServiceState
    """

    def __init__(self, state: ServiceState) -> None:
        settings = state.settings
        protocol: Any = state.connections
        super().__init__(
            uvicorn.Config(
                make_app(state),
                http=protocol,
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,  # addresses of clients that anybody could claim
                timeout_keep_alive=IDLE_SECONDS,
                timeout_graceful_shutdown=int(settings.timeout + settings.read_timeout) + 1,
                h11_max_incomplete_event_size=MAX_HEADERS,
            )
        )
        self._state = state
        self.failure: Exception | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: at once on Ctrl-C; after SIGTERM when balancers may have seen `/readyz`."""
        again, self._state.stopping = self._state.stopping, True
        drain = self._state.settings.drain
        if drain and sig == signal.SIGTERM and not again:
            timer = threading.Timer(drain, self._stop)
            timer.daemon = True
            timer.start()
        else:
            self.force_exit = again and sig == signal.SIGINT
            self._stop()

    def _stop(self) -> None:
        self.should_exit = True


# -- the log ---------------------------------------------------------------------------------------


class OneLine(logging.Formatter):
    """Lines of a log that nothing within them can break or color."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line."""
        return one_line(super().format(record))


class JsonLines(logging.Formatter):
    """Lines of a log as JSON objects, for programs."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one object; of a request, what is known of it."""
        facts = {name: vars(record)[name] for name in FACTS if name in vars(record)}
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        said = {"time": when, "level": record.levelname, "message": record.getMessage()}
        return json.dumps({**said, **facts})


def _write_log(log_format: str) -> None:
    """Write the log to standard error: requests, and what uvicorn warns of."""
    handler = logging.StreamHandler(sys.stderr)
    lines = OneLine("%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(JsonLines() if log_format == "json" else lines)
    for name, level in (("coview.serving", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
