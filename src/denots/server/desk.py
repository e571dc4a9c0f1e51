"""Where requests are taken in: how many, how large and how long they may be, and what becomes of them."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request

from denots.data.reading import Reading
from denots.server.asked import Asked
from denots.server.batcher import Batcher
from denots.server.body import read_body
from denots.server.keeper import Keeper
from denots.server.limits import Limits
from denots.server.metrics import Metrics
from denots.server.problem import Problem
from denots.server.served import Served
from denots.server.told import Told

SMALL = 20_000  # bytes that are read or written within a millisecond or two
READERS = 2  # threads that read tables and write answers beside the one that answers
T = TypeVar("T")


class Desk:
    """Takes requests up to its limits; nothing that one of them brings holds up another for longer than it may last."""

    def __init__(self, keeper: Keeper, limits: Limits, metrics: Metrics) -> None:
        self.keeper, self.limits, self.metrics = keeper, limits, metrics
        self.batcher = Batcher(limits.window, limits.rows, metrics.batch)
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="tables")
        self._taken = self._streams = 0
        self.closing = asyncio.Event()  # set when the server is told to end

    @property
    def full(self) -> bool:
        return self._taken >= self.limits.waiting

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Within the block a request is being served; it ends in time."""
        if self.full:
            words = (
                f"{self._taken} requests are being answered, as many as this server takes at a time; try again soon."
            )
            raise Problem("too-many-requests", words)
        self._taken += 1
        self.metrics.waiting.set(self._taken)
        try:
            async with asyncio.timeout(self.limits.seconds):
                yield
        except TimeoutError as error:
            words = f"the answer took longer than {self.limits.seconds:g} seconds; ask about fewer series at a time."
            raise Problem("timed-out", words) from error
        finally:
            self._taken -= 1
            self.metrics.waiting.set(self._taken)

    @asynccontextmanager
    async def streaming(self) -> AsyncIterator[None]:
        """Within the block a stream is open."""
        if self._streams >= self.limits.streams:
            words = f"{self._streams} streams are open, as many as this server takes at a time; try again later."
            raise Problem("too-many-requests", words)
        self._streams += 1
        self.metrics.streams.set(self._streams)
        try:
            yield
        finally:
            self._streams -= 1
            self.metrics.streams.set(self._streams)

    async def read(self, request: Request, served: Served) -> Reading:
        """What a model can read of the table that a request brings."""
        content = await self._content(request)
        media = request.headers.get("content-type", "")
        schema = served.estimator.table_schema()
        return await self.aside(
            lambda: served.estimator.read(read_body(content, media, schema, self.limits)), len(content)
        )

    async def answer(self, served: Served, asked: Asked, reading: Reading) -> Told:
        """A row for each series, or for each time of a forecast, with its status."""
        answers = await self.batcher.ask(served, asked, reading)
        self.metrics.answered(answers)
        return answers

    async def aside(self, work: Callable[[], T], size: float = math.inf) -> T:
        """Do work on so many bytes in a thread, so that the server goes on listening; on few, it is sooner done than handed on."""
        if size <= SMALL:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._readers, work)

    def close(self) -> None:
        self._readers.shutdown(wait=False)

    async def _content(self, request: Request) -> bytes:
        """The body, refused as soon as it is known to be too large, and not waited for without end."""
        most = self.limits.bytes
        if request.headers.get("content-encoding", "identity") != "identity":
            raise Problem("unsupported", "packed requests are not read; send the table as it is.")
        told = request.headers.get("content-length", "0")
        if told.isdigit() and int(told) > most:
            raise _too_large(int(told), most)
        parts, size = [], 0
        try:
            async with asyncio.timeout(self.limits.seconds / 2):
                async for part in request.stream():
                    size += len(part)
                    if size > most:
                        raise _too_large(size, most)
                    parts.append(part)
        except TimeoutError as error:
            words = f"after {self.limits.seconds / 2:g} seconds there were {size} bytes and no end; send the request faster."
            raise Problem("too-slow", words) from error
        except ClientDisconnect as error:
            raise Problem("malformed", f"the connection ended after {size} bytes of the request.") from error
        return b"".join(parts)


def _too_large(size: int, most: int) -> Problem:
    return Problem(
        "too-large", f"the request has {size} bytes or more, and {most} are read; send it in parts, by series."
    )
