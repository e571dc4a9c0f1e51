"""`denots evaluate`: metrics of a model on a table with known answers."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denots.cli.messages import out, say
from denots.cli.table_options import FittedTable, add_targets, read_fitted_table
from denots.errors import InvalidTarget

if TYPE_CHECKING:
    from denots.cli.scores import Scores
    from denots.data.series import SeriesSet


def evaluate(
    model: Annotated[Path, typer.Argument(help="Model folder that `denots fit` wrote.", show_default=False)],
    table: Annotated[Path, typer.Argument(help="Table with the columns of the fitted one.", show_default=False)],
    targets: Annotated[
        Path | None, typer.Option(help="A second table (id, target) instead of a repeated column.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Judge a model on a table, beside a trivial answer.

    The trivial answer is the class shares or the mean of the fitted table;
    for a forecaster, the last value seen. A forecaster is asked for rows that
    are hidden from it as in training: the second half of each series and
    every second row of the first half.

      denots evaluate model test.csv
      denots evaluate model test.csv --json
    """
    from dataclasses import replace

    from denots.data.table_file import read_table
    from denots.estimators import load_estimator

    estimator = load_estimator(model)
    fitted = read_fitted_table(model)
    options = fitted.options
    frame = read_table(table, id=options.id)
    if targets is not None:
        frame, options = add_targets(frame, targets, options)
    needs_target = estimator.model_.spec.task != "forecast"
    if needs_target and options.target not in frame.columns:
        raise InvalidTarget(
            f"{table} has no target column {options.target!r}, so there is nothing to compare with; "
            "add it, or name a second table with --targets."
        )
    series = options.read(frame, target=options.target if needs_target else None)
    scores = score(estimator, replace(fitted, options=options), series)
    if as_json:
        say(json.dumps(_as_dict(estimator, series, scores), indent=1))
    else:
        _print(series, scores)


def score(estimator: Any, fitted: FittedTable, series: "SeriesSet") -> "Scores":
    """Metrics of a fitted estimator on series with known answers."""
    import numpy as np

    from denots.cli.scores import score_classes, score_forecast, score_numbers
    from denots.data.hide import hide_for_forecasting

    task = estimator.model_.spec.task
    if task == "forecast":
        hidden = hide_for_forecasting(series)
        readout = estimator.model_.readout
        answers = estimator.predict(hidden.visible, hidden.at)
        return score_forecast(hidden, answers, readout.centre.numpy(), readout.spread.numpy())
    assert series.target is not None
    if task == "regression":
        from denots.estimators.targets import as_numbers

        return score_numbers(as_numbers(series.target)[:, 0], estimator.predict(series), fitted.trivial[0])
    shares = estimator.predict_proba(series)
    return score_classes(series.target, shares, estimator.classes_, np.array(fitted.trivial))


def _print(series: "SeriesSet", scores: "Scores") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table("metric", box=SIMPLE_HEAD)
    table.add_column("model", justify="right")
    table.add_column(scores.baseline, justify="right")
    for name, (model, baseline) in scores.metrics.items():
        table.add_row(name, _number(model), _number(baseline))
    out.print(table)
    say(f" {len(series)} series, {scores.failed} without an answer")


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


def _as_dict(estimator: Any, series: "SeriesSet", scores: "Scores") -> dict[str, Any]:
    metrics = {
        name: {part: None if math.isnan(value) else value for part, value in score._asdict().items()}
        for name, score in scores.metrics.items()
    }
    return {
        "task": estimator.model_.spec.task,
        "series": len(series),
        "failed": scores.failed,
        "baseline": scores.baseline,
        "metrics": metrics,
    }
