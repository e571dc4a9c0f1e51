"""`denots stream`: answers to rows as they come in, a line of JSON each."""

import json
import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denots.errors import DenotsError, InvalidEvent, InvalidOption

if TYPE_CHECKING:
    from denots.stream import Stream

LONGEST = 1 << 20  # bytes of a line


def stream(
    model: Annotated[Path, typer.Argument(help="Model folder of `denots fit --row-target`.", show_default=False)],
    lag: Annotated[float, typer.Option(min=0, help="How late a row of a series may be.")] = 0.0,
    rows: Annotated[int, typer.Option(min=1, help="Rows that are kept of a series, the latest ones.")] = 10_000,
    expire: Annotated[float | None, typer.Option(help="Forget a series so long after its latest row.")] = None,
    snapshot: Annotated[
        Path | None, typer.Option(help="File that keeps what is known; if it is there, the stream goes on from it.")
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="Write the snapshot after so many lines.")] = 1000,
) -> None:
    """Read rows from standard input as they come, and answer each of them.

    A line is {"id": "ann", "time": 3.5, "values": {"pulse": 71}}; a new series
    may have "static" and "start", too. {"now": 4} asks for all series. Times are
    numbers on the clock of the series. Each line is answered by a line with its
    number, or by one with the error; the stream goes on. With --snapshot, a
    stream that was stopped or killed goes on when it is given the same input
    again: lines that the snapshot has seen are passed over.

      denots stream model --lag 2 < events.ndjson > answers.ndjson
      denots stream model --snapshot state < events.ndjson >> answers.ndjson
    """
    from denots.estimators import RowPredictor, load_estimator
    from denots.stream.snapshot import Snapshot

    estimator = load_estimator(model)
    if not isinstance(estimator, RowPredictor):
        raise InvalidOption(
            f"{model} answers about whole series; a stream needs a model of rows (denots fit --row-target)."
        )
    running = estimator.stream(lag=lag, rows=rows, expire=math.inf if expire is None else expire)
    done = 0
    if snapshot is not None and snapshot.exists():
        kept = Snapshot.read(snapshot)
        running.restore(kept)
        done = int(kept.values["lines"])
    written = number = done

    def keep() -> None:
        if snapshot is not None:
            taken = running.snapshot()
            taken._replace(values={**taken.values, "lines": number}).write(snapshot)

    try:
        for first, lines in numbered(chunks(sys.stdin.fileno()), done):
            for answer in answered(running, first, lines):
                sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
            number = first + len(lines) - 1
            if number - written >= every:
                keep()
                written = number
    finally:
        keep()


def chunks(source: int) -> Iterator[list[bytes]]:
    """Whole lines, as many as have come by the time that the last ones are answered."""
    rest = b""
    while block := os.read(source, 1 << 16):
        *lines, rest = (rest + block).split(b"\n")
        if len(rest) > LONGEST:
            raise InvalidEvent(f"a line is longer than {LONGEST} bytes; a row has a line of its own.")
        if lines:
            yield lines
    if rest:
        yield [rest]


def numbered(source: Iterator[list[bytes]], done: int) -> Iterator[tuple[int, list[bytes]]]:
    """Lines with the number of the first, from 1, without those that are done."""
    number = 1
    for lines in source:
        kept = lines[max(0, done + 1 - number) :]
        if kept:
            yield number + len(lines) - len(kept), kept
        number += len(lines)


def answered(running: "Stream", first: int, lines: list[bytes]) -> Iterator[dict[str, Any]]:
    """An answer to each line, in order; rows are answered together as long as none changes the answer to another."""
    waiting: dict[str | int, tuple[int, float]] = {}

    def flush() -> list[dict[str, Any]]:
        told = running.ask([(id, time) for id, (_, time) in waiting.items()]) if waiting else []
        numbers = [number for number, _ in waiting.values()]
        waiting.clear()
        return [as_line(number, answer) for number, answer in zip(numbers, told, strict=True)]

    for number, line in enumerate(lines, first):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
            if not isinstance(event, dict):
                raise InvalidEvent(f"a line is an object with id, time and values; got {event!r:.60}.")
            if "now" in event:
                yield from flush()
                yield from (as_line(number, answer) for answer in running.now(event["now"]))
                continue
            if event.get("id") in waiting:
                yield from flush()
            take(running, event)
            waiting[event["id"]] = (number, event["time"])
        except (DenotsError, ValueError, TypeError, RecursionError) as error:
            yield from flush()
            yield {"event": number, "error": str(error)}
    yield from flush()


def take(running: "Stream", event: dict[str, Any]) -> None:
    unknown = sorted(set(event) - {"id", "time", "values", "static", "start"})
    missing = sorted({"id", "time", "values"} - set(event))
    if unknown or missing:
        what = f"{unknown[0]!r} is unknown" if unknown else f"{missing[0]!r} is missing"
        raise InvalidEvent(f"a row has id, time and values, and may have static and start; {what}.")
    running.push(event["id"], event["time"], event["values"], static=event.get("static"), start=event.get("start"))
    running.forget(event["time"])


def as_line(number: int, answer: Any) -> dict[str, Any]:
    return {"event": number, "id": answer.id, "time": answer.time, **answer.columns, "status": answer.status}
