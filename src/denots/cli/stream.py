"""`denots stream`: answers to rows as they come in, a line of JSON each."""

import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from denots.cli.spare import spare
from denots.errors import InvalidOption


def stream(
    model: Annotated[Path, typer.Argument(help="Model folder of `denots fit --row-target`.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File for the answers. Default: standard output.")
    ] = None,
    lag: Annotated[float, typer.Option(min=0, help="How late a row of a series may be.")] = 0.0,
    rows: Annotated[int, typer.Option(min=1, help="Rows that are kept of a series, the latest ones.")] = 10_000,
    expire: Annotated[float | None, typer.Option(help="Forget a series so long after its latest row.")] = None,
    snapshot: Annotated[
        Path | None, typer.Option(help="File that keeps what is known; if it is there, the stream goes on from it.")
    ] = None,
    every: Annotated[
        int,
        typer.Option(min=1, help="Write the snapshot after so many lines, if that takes a tenth of the time at most."),
    ] = 1000,
) -> None:
    """Read rows from standard input as they come, and answer each of them.

    A line is {"id": "ann", "time": 3.5, "values": {"pulse": 71}}; a new series
    may have "static" and "start", too. {"now": 4} asks for all series, with
    "ids" for some. Times are numbers on the clock of the series. Each line is
    answered by a line with its number, or by one with the error; the stream
    goes on.

    With --snapshot, a stream that was stopped or killed goes on when it is
    given the same input again. Then -o FILE has every answer once. On a pipe
    some may come again, with the same "answer", which counts them.

      denots stream model --lag 2 < events.ndjson > answers.ndjson
      denots stream model --snapshot state -o answers.ndjson < events.ndjson
    """
    from denots.estimators import RowPredictor, load_estimator
    from denots.stream.journal import Journal

    estimator = load_estimator(model)
    if not isinstance(estimator, RowPredictor):
        raise InvalidOption(
            f"{model} answers about whole series; a stream needs a model of rows (denots fit --row-target)."
        )
    check_files(out, snapshot, model)
    running = estimator.stream(lag=lag, rows=rows, expire=math.inf if expire is None else expire)
    Journal(running, out=out, kept=snapshot, every=every).run(chunks(sys.stdin.fileno()))


def check_files(out: Path | None, snapshot: Path | None, model: Path) -> None:
    """Refuse to write over the rows that are read, answers over a snapshot, or either into the model."""
    read = os.fstat(sys.stdin.fileno())
    for name, file in (("--out", out), ("--snapshot", snapshot)):
        spare(name, file, model=model)
        if file is not None and file.exists() and os.path.samestat(file.stat(), read):
            raise InvalidOption(f"{name} {file} is the input; give another name, or its rows would be lost.")
    if out is not None and snapshot is not None and out.resolve() == snapshot.resolve():
        raise InvalidOption(f"--out and --snapshot are one file, {out}; give each its own.")


def chunks(source: int) -> Iterator[list[bytes | None]]:
    """Whole lines, as many as have come by the time that the last ones are answered."""
    from denots.stream.lines import Splitter

    splitter = Splitter()
    while block := os.read(source, 1 << 16):
        if lines := splitter.lines(block):
            yield lines
    if lines := splitter.last():
        yield lines
