"""`denots evaluate`: metrics of a model on a table with known answers."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denots.cli.messages import complain, out, say
from denots.cli.predict import MaxFailed, Strict, stop_if_many_failed
from denots.cli.spare import spare
from denots.errors import InvalidOption, InvalidTarget

if TYPE_CHECKING:
    import pandas as pd

    from denots.data.reading import Reading
    from denots.estimators import SeriesEstimator
    from denots.tasks import Bin, Score, Scores, Task


def evaluate(
    model: Annotated[Path, typer.Argument(help="Model folder of `denots fit` or of save().", show_default=False)],
    table: Annotated[Path, typer.Argument(help="Table with the columns of the fitted one.", show_default=False)],
    targets: Annotated[
        Path | None, typer.Option(help="A second table (id, target) instead of a repeated column.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Judge groups of series, too, by a column that is constant within each.")
    ] = None,
    series: Annotated[
        Path | None, typer.Option(help="Write one row a series (truth, answer, error, status): .csv, .parquet ...")
    ] = None,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    coverage: Annotated[
        float | None, typer.Option(help="Judge sets or intervals of this coverage, too, such as 0.9.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    strict: Strict = False,
    max_failed: MaxFailed = 0.1,
) -> None:
    """Judge a model on a table, beside a trivial answer.

    The trivial answer is the class shares or the mean of the fitted table;
    for a forecaster, the last value seen, and the other simple forecasts
    stand beside it. Intervals come from series that are drawn again and
    again. For two classes, reliability sets the probability of the second
    one beside the share in which it came true. A forecaster is asked for rows that
    are hidden from it as in training: the second half of each series and
    every second row of the first half. Series that cannot be read, or whose
    class the model does not know, are left out and counted; those that cannot
    be solved get the trivial answer.

      denots evaluate model test.csv
      denots evaluate model test.csv --by ward --series each.csv
      denots evaluate model test.csv --json
    """
    from denots.data.table_file import check_destination
    from denots.estimators import load_estimator
    from denots.estimators.evaluation import judgeable

    if not 0 < confidence < 1:
        raise InvalidOption(f"--confidence lies between 0 and 1, such as 0.95; got {confidence:g}.")
    if series is not None:
        check_destination(series)
        spare("--series", series, table, model=model)
    estimator = load_estimator(model)
    frame, reading = read_judged(estimator, table, targets)
    kept = judgeable(estimator.task_, estimator.read(reading))
    if strict:
        kept.check()
    labels = _groups(estimator, frame, reading, by)
    scores = estimator.evaluate(reading, by=labels, confidence=confidence, coverage=coverage)
    failed, n = scores.failed + len(kept.rejected), len(kept.ids)
    if series is not None:
        _write(scores, series)
    if as_json:
        say(json.dumps(_as_dict(estimator, scores, failed, n, confidence), indent=1))
    else:
        _print(scores, confidence)
        _print_reliability(scores.reliability)
        _print_groups(scores, by or "", estimator.task_.metric_name, confidence)
        say(f" {n} series, {failed} without an answer")
    _remark(estimator.task_, scores)
    stop_if_many_failed(failed, n, max_failed)


def read_judged(estimator: "SeriesEstimator", table: Path, targets: Path | None) -> "tuple[pd.DataFrame, Reading]":
    """A table, and its series with their known answers."""
    from denots.data.table_file import read_table
    from denots.data.targets_table import add_targets

    schema = estimator.table_schema()
    frame = read_table(table, id=schema.id, texts=schema.texts)
    if not estimator.task_.needs_target:
        return frame, schema.scan(frame)
    if targets is not None:
        frame, schema = add_targets(frame, read_table(targets, id=schema.id), schema)
    if schema.target is None:
        schema = replace(schema, target=estimator.task_.parts or "target")
    missing = [name for name in schema.targets if name not in frame.columns]
    if missing:
        raise InvalidTarget(
            f"{table} has no target column {missing[0]!r}, so there is nothing to compare with; "
            "add it, or name a second table with --targets."
        )
    return frame, schema.scan(frame, target=schema.target)


def _groups(estimator: "SeriesEstimator", frame: "pd.DataFrame", reading: "Reading", by: str | None) -> Any:
    from denots.estimators.subgroups import read_labels

    return None if by is None else read_labels(frame, estimator.table_schema().id, by, reading.ids)


def _write(scores: "Scores", file: Path) -> None:
    import pandas as pd

    from denots.data.table_file import write_table

    write_table(pd.DataFrame(dict(scores.rows)), file)


def _print(scores: "Scores", confidence: float) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    table.add_column("metric", no_wrap=True)
    for heading in ("model", f"{confidence:.4g}", scores.baseline, *scores.others):
        table.add_column(heading, justify="right")
    for name, score in scores.metrics.items():
        others = (_number(found.get(name, math.nan)) for found in scores.others.values())
        table.add_row(name, _number(score.model), _interval(score), _number(score.baseline), *others)
    out.print(table)


def _remark(task: "Task", scores: "Scores") -> None:
    """Say it where the trivial answer would do as well, or better."""
    for name, sign in ((task.metric_name, 1), ("log loss", -1)):
        score = scores.metrics.get(name)
        if score is None or not sign * score.model <= sign * score.baseline:
            continue
        why = " It was fitted with weights of classes, which move probabilities." if _weighed(task) else ""
        complain(
            "note",
            f"by {name}, the model is no better on this table than {scores.baseline}: {score.model:.4g} against "
            f"{score.baseline:.4g}.{why}",
            "bold yellow",
        )


def _weighed(task: "Task") -> bool:
    from denots.tasks import Classification

    return isinstance(task, Classification) and len(set(task.weights)) > 1


def _print_reliability(bins: "Sequence[Bin]") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    if not bins:
        return
    table = Table(box=SIMPLE_HEAD)
    for heading in ("predicted", "observed", "0.95", "series"):
        table.add_column(heading, justify="right")
    for one in bins:
        table.add_row(
            _number(one.predicted), _number(one.observed), f"{one.low:.3f} to {one.high:.3f}", str(one.series)
        )
    say(" reliability: probabilities and how often they came true")
    out.print(table)


def _print_groups(scores: "Scores", by: str, metric: str, confidence: float) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    if not scores.groups:
        return
    table = Table(box=SIMPLE_HEAD)
    table.add_column(by, no_wrap=True)
    for heading in ("series", metric, f"{confidence:.4g}", scores.baseline):
        table.add_column(heading, justify="right")
    for name, group in scores.groups.items():
        score = group.metrics[metric]
        table.add_row(name, str(group.series), _number(score.model), _interval(score), _number(score.baseline))
    out.print(table)


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


def _interval(score: "Score") -> str:
    return "-" if math.isnan(score.low) else f"{score.low:.3f} to {score.high:.3f}"


def _as_dict(estimator: "SeriesEstimator", scores: "Scores", failed: int, n: int, confidence: float) -> dict[str, Any]:
    return {
        "task": estimator.task_.name,
        "series": n,
        "failed": failed,
        "baseline": scores.baseline,
        "confidence": confidence,
        "metrics": _metrics(scores),
        "reliability": [one._asdict() for one in scores.reliability],
        "groups": {
            name: {"series": group.series, "failed": group.failed, "metrics": _metrics(group)}
            for name, group in scores.groups.items()
        },
    }


def _metrics(scores: "Scores") -> dict[str, dict[str, float | None]]:
    """Every metric of the model and of others, with its interval where there is one; null where it is not defined."""
    found: dict[str, dict[str, float | None]] = {}
    for name, score in scores.metrics.items():
        told = {"model": score.model, "baseline": score.baseline}
        told |= {other: values.get(name, math.nan) for other, values in scores.others.items()}
        if not math.isnan(score.low):
            told |= {"low": score.low, "high": score.high}
        found[name] = {part: None if math.isnan(value) else value for part, value in told.items()}
    return found
