"""Rows over one connection as they come, each answered at once: lines of JSON in both directions."""

import asyncio
import logging
import math
import secrets
from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from denots.errors import InvalidOption
from denots.estimators.rows import RowPredictor
from denots.processors import one_thread
from denots.registry import lookup
from denots.server.asked import read_number
from denots.server.body import NDJSON, READ
from denots.server.desk import Desk
from denots.server.problem import Problem
from denots.server.served import Served
from denots.stream.lines import Lines, Splitter, encoded
from denots.stream.stream import Stream

RULES = {
    "lag": "how late a row of a series may be, compared with its latest one",
    "rows": "rows that are kept of a series, the latest ones",
    "expire": "a series is forgotten so long after its latest row",
}
TOGETHER = 200  # lines that are answered at a time
LINES_A_LOOK = 1000  # after so many, what is kept is counted

log = logging.getLogger("denots.server")


def begin_stream(served: Served, request: Request) -> Stream:
    """The stream that a request asks for, if there is one by this model."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if "ndjson" not in kind or kind not in READ:
        raise Problem("unsupported", f"a stream is lines of JSON; send them as Content-Type: {NDJSON}.")
    if request.headers.get("content-encoding", "identity") != "identity":
        raise Problem("unsupported", "packed requests are not read; send the lines as they are.")
    if not isinstance(served.estimator, RowPredictor):
        raise InvalidOption(
            f"this model ({served.estimator.task_.name}) answers about whole series; a stream needs a model of rows, which does not "
            "look ahead (denots fit --row-target)."
        )
    return served.estimator.stream(**_rules(request.query_params))


def _rules(query: Mapping[str, str]) -> dict[str, Any]:
    for name in query:
        lookup(RULES, name, "parameter")
    given: dict[str, Any] = {name: read_number(text, name) for name, text in query.items()}
    if "rows" in given:
        given["rows"] = math.floor(given["rows"])
    return given


class Live:
    """The response to a stream: it begins at once, goes on as long as lines come, and a problem is its last line.

    While an answer is made or not taken, no further line is read.
    """

    def __init__(self, desk: Desk, served: Served, stream: Stream) -> None:
        self.desk, self.served, self.stream = desk, served, stream
        self._lines, self._counted = Lines(stream), 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self.desk.streaming():
            await self._respond(receive, send)

    async def _respond(self, receive: Receive, send: Send) -> None:
        headers = {
            "Content-Type": NDJSON,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Connection": "close",
            "Denots-Model": self.served.digest,
        }
        coded = [(name.lower().encode(), text.encode()) for name, text in headers.items()]
        await send({"type": "http.response.start", "status": 200, "headers": coded})
        try:
            await self._converse(receive, send)
        except Problem as problem:
            await self._tell(send, encoded([{"problem": problem.body()}]))
        except (ConnectionError, TimeoutError):
            return  # there is nobody to tell
        except Exception as error:
            number = secrets.token_hex(4)
            log.exception("error %s: %r", number, error)
            words = f"this is a fault of the server; its log tells more under error {number}."
            await self._tell(send, encoded([{"problem": Problem("failed", words).body()}]))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _converse(self, receive: Receive, send: Send) -> None:
        splitter, more = Splitter(), True
        while more:
            message = await self._next(receive)
            if message["type"] == "http.disconnect":
                raise ConnectionError
            more = message.get("more_body", False)
            lines = splitter.lines(message.get("body", b"")) + ([] if more else splitter.last())
            for first in range(0, len(lines), TOGETHER):
                await self._answer(lines[first : first + TOGETHER], send)

    async def _answer(self, lines: list[bytes | None], send: Send) -> None:
        most = self.desk.limits.seconds
        try:
            async with asyncio.timeout(most):
                told = await self.desk.aside(partial(self._answered, lines))
        except TimeoutError as error:
            words = f"the answers to {len(lines)} lines took longer than {most:g} seconds; ask about fewer series at a time."
            raise Problem("timed-out", words) from error
        await self._tell(send, told)
        self._check_kept()

    def _answered(self, lines: list[bytes | None]) -> bytes:
        self.desk.metrics.events(len(lines))
        with one_thread():
            return encoded(self._lines.answered(lines))

    async def _next(self, receive: Receive) -> Message:
        """What comes next; a connection on which nothing does is not kept without end."""
        coming = asyncio.ensure_future(receive())
        ending = asyncio.ensure_future(self.desk.closing.wait())
        done, left = await asyncio.wait(
            {coming, ending}, timeout=self.desk.limits.idle, return_when=asyncio.FIRST_COMPLETED
        )
        for task in left:
            task.cancel()
        if coming in done:
            return coming.result()
        if ending in done:
            raise Problem("not-ready", "the server ends; begin the stream again with another.")
        raise Problem("too-slow", f"nothing came for {self.desk.limits.idle:g} seconds; begin the stream again.")

    async def _tell(self, send: Send, text: bytes) -> None:
        """A client that does not take its answers is left after a while."""
        async with asyncio.timeout(self.desk.limits.seconds):
            await send({"type": "http.response.body", "body": text, "more_body": True})

    def _check_kept(self) -> None:
        if self._lines.events - self._counted < LINES_A_LOOK and len(self.stream) <= self.desk.limits.rows:
            return
        self._counted, kept, most = self._lines.events, self.stream.kept, self.desk.limits.rows
        if kept > most:
            raise Problem(
                "too-large",
                f"{kept} rows of {len(self.stream)} series are to be remembered, more than {most}; let series expire (?expire=...), "
                "keep fewer rows (?rows=...), or share the series among streams.",
            )
