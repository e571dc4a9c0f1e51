"""What a model alone can say: what it answers, which data it has seen, what was tried, how it learnt."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from denots.data.ranges import Ranges
from denots.estimators.estimator import SeriesEstimator
from denots.pages.chart import Chart, Line, gallery
from denots.pages.document import facts, number, table
from denots.registry import listed

BOARD = ("system", "metric", "±", "loss", "seconds", "weight", "")


def model_facts(model: SeriesEstimator) -> str:
    """What it answers, and how."""
    schema, task = model.table_schema(), model.task_
    options = {name: value for name, value in model.system_.options.items() if value is not None}
    told = {
        "task": task.name,
        "system": f"{model.system_.name}: {model.system_.description}",
        "options": ", ".join(f"{name} {value}" for name, value in options.items()) or "none",
        "numbers learnt": f"{model.fitted_.parameters:,}",
        "trivial answer": task.baseline,
        "columns": f"id {schema.id}, time {schema.time}" + (f" in {model.time_unit_}" if model.time_unit_ else ""),
        "channels": listed(model.channels_),
    }
    if model.static_names_:
        told["static features"] = listed(model.static_names_)
    return facts(told)


def data_facts(model: SeriesEstimator) -> str:
    """Counts, spans and channels of the data that the model was fitted on, as far as it keeps them."""
    seen, unit = model.ranges_, f" {model.time_unit_}" if model.time_unit_ else ""
    series, rows = seen.counts.tolist()
    told = {} if math.isnan(series) else {"series": f"{series:,.0f} with {rows:,.0f} rows"}
    told |= {
        "rows a series": _spread(seen.lengths.tolist()),
        "spans": _spread(seen.spans.tolist()) + unit,
        "steps": f"{_spread(seen.gaps.tolist())}{unit}, the median step of each series",
    }
    return facts(told | model.task_.facts()) + _channels(seen)


def _channels(seen: Ranges) -> str:
    rows = []
    for name, share, values in zip(seen.channels, seen.observed.tolist(), seen.values.tolist(), strict=True):
        missing = "" if math.isnan(share) else f"{1 - share:.1%}"
        rows.append((name, missing, *map(number, values)))
    return table(("channel", "missing", "lowest", "1 %", "99 %", "highest"), rows, "channels in training")


def board(model: SeriesEstimator) -> str:
    """What was tried, each judged by series that it had not seen."""
    rows = model.leaderboard_
    if not rows:
        tried = {name: score for name, score in model.scores_.items() if not math.isnan(score)}
        words = f"One system was fitted, so there is no choice to show. {_validated(model)}"
        if len(tried) < 2:
            return f"<p>{words}</p>"
        return f"<p>{_validated(model)}</p>" + table(
            ("tried", model.task_.metric_name),
            [(name, f"{score:.4f}") for name, score in tried.items()],
            "what was tried",
        )
    weights: dict[str, float] = next((row["weights"] for row in rows if "weights" in row), {})
    told = [_tried(row, weights) for row in rows]
    seen = next((row["series"] for row in rows if "series" in row), 0)
    note = (
        f"{model.task_.metric_name} (larger is better) and loss (smaller is better) on series that each had not learnt from, "
        f"here {seen}; ± is one standard error over series. The blend gives the answers."
    )
    return f'<p class="soft">{note}</p>' + table(BOARD, told, "leaderboard")


def _tried(row: dict[str, Any], weights: dict[str, float]) -> tuple[str, ...]:
    name = str(row["system"])
    if "score" not in row:
        return (name, "", "", "", "", "", str(row.get("note", "")))
    weight = f"{weights[name]:.3f}" if name in weights else ""
    told = (f"{row['score']:.4f}", f"{row['spread']:.4f}", f"{row['loss']:.4f}", f"{row['seconds']:.1f}")
    return (name, *told, weight, "")


def _validated(model: SeriesEstimator) -> str:
    score = model.validation_score_
    if score is None or math.isnan(score):
        return "No series were held back to judge it by."
    return (
        f"Its {model.task_.metric_name} on {model.validation_size_} series that it had not learnt from is {score:.4f}."
    )


def learning_curve(model: SeriesEstimator) -> str:
    """Loss and metric by epoch; nothing where a system has no epochs."""
    rows = model.fitted_.curve
    if not rows:
        return ""
    epochs = np.array([row["epoch"] for row in rows]) + 1.0
    losses = {"training": "loss", "validation": "val_loss"}
    charts = [
        Chart("Loss.", "epoch", "loss", _curves(rows, epochs, losses)),
        Chart(
            "Metric on validation series.",
            "epoch",
            model.task_.metric_name,
            _curves(rows, epochs, {"validation": "val_metric"}),
        ),
    ]
    return gallery(chart for chart in charts if chart.lines)


def _curves(rows: Sequence[dict[str, float]], epochs: Any, columns: dict[str, str]) -> tuple[Line, ...]:
    found = {name: np.array([row.get(column, math.nan) for row in rows]) for name, column in columns.items()}
    return tuple(Line(name, epochs, values) for name, values in found.items() if np.isfinite(values).any())


def _spread(three: Sequence[float]) -> str:
    low, middle, high = map(number, three)
    return f"{low} to {high} (median {middle})" if low else "unknown"
