"""A stream that is spoken to in lines of JSON: a row or a question each, answered by lines."""

import json
from collections.abc import Sequence
from typing import Any

from denots.errors import DenotsError, InvalidEvent
from denots.stream.stream import Answer, Stream

LONGEST = 1 << 20  # bytes of a line
ROW, ASKED = {"id", "time", "values"}, {"now"}
ROW_MAY, ASKED_MAY = {"static", "start"}, {"ids"}


class Lines:
    """Answers lines in order, each with its number, from 1, and the number of the line that it answers.

    Rows of different series that came together are answered together, which changes no answer: what is said depends on the
    lines alone, not on how many came at a time.
    """

    def __init__(self, stream: Stream, events: int = 0, answers: int = 0) -> None:
        self.stream, self.events, self.answers = stream, events, answers
        self._waiting: dict[str | int, tuple[int, float]] = {}

    def answered(self, lines: Sequence[bytes | None]) -> list[dict[str, Any]]:
        """Answers to all of these lines; None stands for one that was too long to be kept."""
        told: list[dict[str, Any]] = []
        for line in lines:
            self.events += 1
            if line is not None and not line.strip():
                continue
            try:
                self._take(_parsed(line), told)
            except (DenotsError, ValueError, TypeError, RecursionError) as error:
                self._flush(told)
                told.append(self._numbered(self.events, {"error": str(error)}))
        self._flush(told)
        return told

    def _take(self, event: dict[str, Any], told: list[dict[str, Any]]) -> None:
        if "now" in event:
            _check_names(event, ASKED, ASKED_MAY, "a question has now, and may have ids")
            self._flush(told)
            ids = event.get("ids")
            if ids is not None and not isinstance(ids, list):
                raise InvalidEvent(f"ids are a list; got {ids!r:.60}.")
            told += [self._line(self.events, answer) for answer in self.stream.now(event["now"], ids)]
            return
        _check_names(event, ROW, ROW_MAY, "a row has id, time and values, and may have static and start")
        id, time = event["id"], event["time"]
        if id in self._waiting:
            self._flush(told)
        self.stream.push(id, time, event["values"], static=event.get("static"), start=event.get("start"))
        if self.stream.expires(time):
            self._flush(told)  # before those that it is about are forgotten
            self.stream.forget(time)
        self._waiting[id] = (self.events, time)

    def _flush(self, told: list[dict[str, Any]]) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            answers = self.stream.ask([(id, time) for id, (_, time) in waiting.items()])
            told += [self._line(number, answer) for (number, _), answer in zip(waiting.values(), answers, strict=True)]

    def _line(self, event: int, answer: Answer) -> dict[str, Any]:
        return self._numbered(event, {"id": answer.id, "time": answer.time, **answer.columns, "status": answer.status})

    def _numbered(self, event: int, told: dict[str, Any]) -> dict[str, Any]:
        self.answers += 1
        return {"answer": self.answers, "event": event, **told}


def encoded(told: Sequence[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(line)}\n" for line in told).encode()


def _parsed(line: bytes | None) -> dict[str, Any]:
    if line is None:
        raise InvalidEvent(f"a line is longer than {LONGEST} bytes; a row has a line of its own.")
    try:
        event = json.loads(line)
    except ValueError as error:
        raise InvalidEvent(
            f'a line is no JSON ({error}); a row is {{"id": "ann", "time": 3.5, "values": {{"pulse": 71}}}}.'
        ) from error
    if not isinstance(event, dict):
        raise InvalidEvent(f"a line is an object with id, time and values; got {event!r:.60}.")
    return event


def _check_names(event: dict[str, Any], needed: set[str], allowed: set[str], words: str) -> None:
    names = event.keys()
    if not (needed <= names <= needed | allowed):
        unknown, missing = sorted(names - needed - allowed), sorted(needed - names)
        what = f"{unknown[0]!r} is unknown" if unknown else f"{missing[0]!r} is missing"
        raise InvalidEvent(f"{words}; {what}.")


class Splitter:
    """Pieces of text into whole lines; of one that is longer than LONGEST, None."""

    def __init__(self) -> None:
        self._rest, self._skips = b"", False

    def lines(self, piece: bytes) -> list[bytes | None]:
        """The lines that have ended with this piece."""
        *whole, self._rest = (self._rest + piece).split(b"\n")
        lines: list[bytes | None] = [line if len(line) <= LONGEST else None for line in whole]
        if lines and self._skips:
            lines[0], self._skips = None, False
        if len(self._rest) > LONGEST:
            self._rest, self._skips = b"", True
        return lines

    def last(self) -> list[bytes | None]:
        """What stands behind the last end of a line."""
        if self._skips:
            return [None]
        return [self._rest] if self._rest else []
