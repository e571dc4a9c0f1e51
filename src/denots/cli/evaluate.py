"""`denots evaluate`: metrics of a model on a table with known answers."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denots.cli.messages import out, say
from denots.cli.predict import MaxFailed, Strict, stop_if_many_failed
from denots.errors import InvalidTarget

if TYPE_CHECKING:
    from denots.data.reading import Reading
    from denots.estimators import SeriesEstimator
    from denots.tasks import Scores


def evaluate(
    model: Annotated[Path, typer.Argument(help="Model folder of `denots fit` or of save().", show_default=False)],
    table: Annotated[Path, typer.Argument(help="Table with the columns of the fitted one.", show_default=False)],
    targets: Annotated[
        Path | None, typer.Option(help="A second table (id, target) instead of a repeated column.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    strict: Strict = False,
    max_failed: MaxFailed = 0.1,
) -> None:
    """Judge a model on a table, beside a trivial answer.

    The trivial answer is the class shares or the mean of the fitted table;
    for a forecaster, the last value seen, and the other simple forecasts
    stand beside it. A forecaster is asked for rows that
    are hidden from it as in training: the second half of each series and
    every second row of the first half. Series that cannot be read are left
    out and counted; those that cannot be solved get the trivial answer.

      denots evaluate model test.csv
      denots evaluate model test.csv --json
    """
    from denots.estimators import load_estimator

    estimator = load_estimator(model)
    reading = _read(estimator, table, targets)
    if strict:
        reading.check()
    scores = estimator.evaluate(reading)
    failed, n = scores.failed + len(reading.rejected), len(reading.ids)
    if as_json:
        say(json.dumps(_as_dict(estimator, scores, failed, n), indent=1))
    else:
        _print(scores, failed, n)
    stop_if_many_failed(failed, n, max_failed)


def _read(estimator: "SeriesEstimator", table: Path, targets: Path | None) -> "Reading":
    """The series of a table with their known answers."""
    from denots.data.table_file import read_table
    from denots.data.targets_table import add_targets

    schema = estimator.table_schema()
    frame = read_table(table, id=schema.id)
    if not estimator.task_.needs_target:
        return schema.scan(frame)
    if targets is not None:
        frame, schema = add_targets(frame, read_table(targets, id=schema.id), schema)
    if schema.target is None:
        schema = replace(schema, target="target")
    if schema.target not in frame.columns:
        raise InvalidTarget(
            f"{table} has no target column {schema.target!r}, so there is nothing to compare with; "
            "add it, or name a second table with --targets."
        )
    return schema.scan(frame, target=schema.target)


def _print(scores: "Scores", failed: int, n: int) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    table.add_column("metric", no_wrap=True)
    table.add_column("model", justify="right")
    table.add_column(scores.baseline, justify="right")
    for other in scores.others:
        table.add_column(other, justify="right")
    for name, (model, baseline) in scores.metrics.items():
        table.add_row(name, *map(_number, (model, baseline, *(found[name] for found in scores.others.values()))))
    out.print(table)
    say(f" {n} series, {failed} without an answer")


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


def _as_dict(estimator: "SeriesEstimator", scores: "Scores", failed: int, n: int) -> dict[str, Any]:
    metrics = {
        name: {
            part: None if math.isnan(value) else value
            for part, value in {
                **score._asdict(),
                **{other: found[name] for other, found in scores.others.items()},
            }.items()
        }
        for name, score in scores.metrics.items()
    }
    return {
        "task": estimator.task_.name,
        "series": n,
        "failed": failed,
        "baseline": scores.baseline,
        "metrics": metrics,
    }
