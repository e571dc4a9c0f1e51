"""The process of a server: its socket, its signals, its end."""

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from denots.errors import InvalidOption
from denots.server.app import create_app
from denots.server.desk import Desk
from denots.server.keeper import Keeper
from denots.server.limits import Limits

PATIENCE = 5  # seconds beyond the limit of a request in which those that run may still end
CONNECTIONS = 1000  # that are open at a time, idle ones too


class _Server(uvicorn.Server):
    """Leaves signals alone: here SIGHUP means to reload, and an end that was asked for is no failure."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def serve(
    folder: Path,
    *,
    host: str,
    port: int,
    limits: Limits,
    token: str | None,
    watch: float | None,
    started: Callable[[str], None],
) -> None:
    """Serve a model until SIGTERM or SIGINT; what is being answered then is answered still.

    Args:
        port: 0 takes any that is free.
        started: is told the address as soon as requests are taken.
    """
    keeper = Keeper(folder)
    opened = _opened(host, port)
    app = create_app(keeper, limits, token=token, watch=watch)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        limit_concurrency=CONNECTIONS,
        timeout_graceful_shutdown=int(limits.seconds) + PATIENCE,
    )
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    asyncio.run(_serve(_Server(config), app.state.desk, opened, started))


async def _serve(server: uvicorn.Server, desk: Desk, opened: socket.socket, started: Callable[[str], None]) -> None:
    loop = asyncio.get_running_loop()
    reloads: set[asyncio.Task[None]] = set()  # a task that nobody holds may be forgotten before it ends

    def reload() -> None:
        task = asyncio.create_task(desk.keeper.reload())
        reloads.add(task)
        task.add_done_callback(reloads.discard)

    def stop() -> None:
        desk.closing.set()
        server.handle_exit(signal.SIGINT, None)  # asked twice, it waits for nothing

    loop.add_signal_handler(signal.SIGHUP, reload)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    host, port = opened.getsockname()[:2]
    started(f"http://{f'[{host}]' if ':' in host else host}:{port}")
    await server.serve(sockets=[opened])


def _opened(host: str, port: int) -> socket.socket:
    """The socket on which requests arrive; it listens at once, so that whoever is told the address can connect."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise InvalidOption(
            f"port {port} of {host} cannot be opened ({error.strerror or error}); choose another one with --port or --host."
        ) from error
