"""Start and stop a service."""

from __future__ import annotations

import logging
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import uvicorn

from coview.escaping import one_line
from coview.runners.native import one_native_thread
from coview.serving.app import ServiceState, make_app
from coview.serving.engine import ServedModel
from coview.serving.protocol import BoundedProtocol
from coview.serving.settings import ServiceSettings
from coview.views.checks import DataWarning

IDLE_SECONDS = 5  # that a connection is kept for a next request
MAX_HEADERS = 32 * 1024  # bytes


def serve(
    served: ServedModel,
    settings: ServiceSettings | None = None,
    tell: Callable[[str], None] | None = None,
) -> None:
    """Serve a model until SIGTERM or Ctrl-C; requests that have begun are answered.

    Parameters
    ----------
    served : ServedModel
    settings : ServiceSettings, optional
    tell : callable, optional
        Called with a sentence when the service listens, and when it is ready.
    """
    settings = settings or ServiceSettings()
    tell = tell or (lambda words: None)
    state = ServiceState(served, settings)
    listener = listen(settings)
    _write_log()
    # of documents of clients there would be one in the log for each, and they are remembered
    warnings.simplefilter("ignore", DataWarning)
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    tell(f"Listening on http://{shown}:{port} (description: /docs). Stop with Ctrl-C.")
    server = make_server(state)
    threading.Thread(target=_prepare, args=(state, server, tell), daemon=True).start()
    try:
        with one_native_thread():  # one thread for each request
            server.run(sockets=[listener])
    finally:
        state.pool.close()
    if server.failure is not None:
        raise server.failure


def make_server(state: ServiceState) -> GracefulServer:
    """Return the server of a service, with all limits set.

    Parameters
    ----------
    state : ServiceState
    """
    settings = state.settings
    protocol: Any = partial(BoundedProtocol, read_timeout=settings.read_timeout)
    config = uvicorn.Config(
        make_app(state),
        http=protocol,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # addresses of clients that anybody could claim
        limit_concurrency=settings.max_connections,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=int(settings.timeout + settings.read_timeout) + 1,
        h11_max_incomplete_event_size=MAX_HEADERS,
    )
    return GracefulServer(config, state)


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
        state.served.prepare()
    except Exception as error:
        server.failure = error
        server.should_exit = True
        return
    state.prepared = True
    tell("Ready.")


class GracefulServer(uvicorn.Server):
    """A server that says that it is not ready before it stops.

    Parameters
    ----------
    config : uvicorn.Config
    state : ServiceState
    """

    def __init__(self, config: uvicorn.Config, state: ServiceState) -> None:
        super().__init__(config)
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


def _write_log() -> None:
    """Write the log to standard error: requests, and what uvicorn warns of."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(OneLine("%(asctime)s %(levelname)s %(message)s"))
    for name, level in (("coview.serving", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
