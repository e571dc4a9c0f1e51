"""Requests that came at the same time, answered together by one thread."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from denots.data.reading import Reading
from denots.server.asked import Asked
from denots.server.served import Served
from denots.server.told import Told


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    served: Served
    asked: Asked
    reading: Reading
    answer: "asyncio.Future[Told]"

    @property
    def rows(self) -> int:
        return len(self.reading.series.times)

    def goes_with(self, other: "_Waiting") -> bool:
        return self.served is other.served and self.asked == other.asked


class Batcher:
    """Who asks the same of the same model within a window is answered with one call.

    While a call runs, others gather. Answers do not depend on who else is asked about, so this decides about time only.

    Args:
        window: seconds for which the first request waits for others.
        rows: observations in one call; a single request may have more.
        tell: is told how many series each call answers.
    """

    def __init__(self, window: float, rows: int, tell: Callable[[int], None]) -> None:
        self.window, self.rows, self.tell = window, rows, tell
        self._queue: deque[_Waiting] = deque()
        self._arrived = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="answers")

    async def ask(self, served: Served, asked: Asked, reading: Reading) -> Told:
        """The answers for the series of one request; cancelled, it is no longer waited for."""
        waiting = _Waiting(served, asked, reading, asyncio.get_running_loop().create_future())
        self._queue.append(waiting)
        self._arrived.set()
        return await waiting.answer

    async def run(self) -> None:
        """Answer until cancelled."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                await self._arrived.wait()
                if sum(waiting.rows for waiting in self._queue) < self.rows:
                    await asyncio.sleep(self.window)
                batch = self._taken()
                if batch:
                    await loop.run_in_executor(self._thread, self._answer, batch, loop)
        finally:
            self._thread.shutdown(wait=False)

    def _taken(self) -> list[_Waiting]:
        """Those that go with the first one, as many as one call may have; the others stay, in their order."""
        batch: list[_Waiting] = []
        left: deque[_Waiting] = deque()
        rows = 0
        for waiting in self._queue:
            if waiting.answer.done():  # nobody waits for it any more
                continue
            if not batch or (waiting.goes_with(batch[0]) and rows + waiting.rows <= self.rows):
                batch.append(waiting)
                rows += waiting.rows
            else:
                left.append(waiting)
        self._queue = left
        if not left:
            self._arrived.clear()
        return batch

    def _answer(self, batch: Sequence[_Waiting], loop: asyncio.AbstractEventLoop) -> None:
        """In the thread: answer together, or one by one where that fails, so that only the cause of a failure fails."""
        try:
            told = batch[0].served.answer([waiting.reading for waiting in batch], batch[0].asked)
        except Exception as error:
            if len(batch) == 1:
                loop.call_soon_threadsafe(_settle, batch[0].answer, error)
                return
            for waiting in batch:
                self._answer([waiting], loop)
            return
        self.tell(sum(len(waiting.reading.ids) for waiting in batch))
        for waiting, own in zip(batch, told, strict=True):
            loop.call_soon_threadsafe(_settle, waiting.answer, own)


def _settle(answer: "asyncio.Future[Told]", found: Told | Exception) -> None:
    if answer.done():
        return
    if isinstance(found, Exception):
        answer.set_exception(found)
    else:
        answer.set_result(found)
