"""A small table that a model can read, made of what it has seen in training."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from denots.data.schema import TableSchema
from denots.data.stamps import SECONDS
from denots.estimators.estimator import SeriesEstimator

if TYPE_CHECKING:
    import pandas as pd

NAMES, ROWS = ("first", "second"), 4
BEGIN = datetime(2026, 3, 1, 8)


def example_of(estimator: SeriesEstimator) -> "pd.DataFrame":
    """Two series over a usual span, with usual values and a hole, in the columns of the fitted table."""
    import pandas as pd

    schema = estimator.table_schema()
    n = len(NAMES) * ROWS
    span = usual_span(estimator)
    times = [_stamp(float(f"{k * span / (ROWS - 1):.4g}"), schema) for k in range(ROWS)]
    table: dict[str, Any] = {schema.id: np.repeat(NAMES, ROWS), schema.time: times * len(NAMES)}
    if schema.start is not None:
        table[schema.start] = [times[0]] * n
    known = schema.categories or {}
    table |= {name: [known[name][0]] * n if name in known else [None] * n for name in schema.static}
    values = {name: _values(estimator, name, known.get(name), n) for name in schema.channels or ()}
    if schema.variable is None or schema.value is None:
        return pd.DataFrame(table | values)
    fixed = pd.DataFrame(table)
    parts = [fixed.assign(**{schema.variable: name, schema.value: own}) for name, own in values.items()]
    return pd.concat(parts, ignore_index=True).dropna(subset=[schema.value])


def usual_span(estimator: SeriesEstimator) -> float:
    """The median span of the training series, or one where none has two rows."""
    return float(np.nan_to_num(estimator.ranges_.spans[1])) or 1.0


def _values(estimator: SeriesEstimator, name: str, categories: tuple[str, ...] | None, n: int) -> list[Any]:
    if categories is not None:
        return [categories[k % len(categories)] for k in range(n)]
    low, high = estimator.ranges_.values[estimator.channels_.index(name), 1:3]
    if np.isnan(low):
        return [None] * n
    found = [float(f"{value:.4g}") for value in np.linspace(low, high, n)]
    return [None if k == 1 else value for k, value in enumerate(found)]


def _stamp(time: float, schema: TableSchema) -> Any:
    """A time as the model reads it: a number, or a date where the table says how dates are written."""
    if schema.time_format is None:
        return time
    return (BEGIN + timedelta(seconds=time * SECONDS[schema.time_unit or "s"])).strftime(schema.time_format)
