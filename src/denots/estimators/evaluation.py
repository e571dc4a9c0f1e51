"""Judge an estimator on series with known answers, in total, by groups and one by one."""

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from denots.data.reading import Reading, partly
from denots.data.series import SeriesSet
from denots.errors import InvalidOption, InvalidTarget, Rejected, SkippedSeries
from denots.estimators.conformal import limits
from denots.estimators.subgroups import Grouping, read_labels, static_column
from denots.registry import listed
from denots.shapes import IntArray
from denots.tasks import Scores, Task

if TYPE_CHECKING:
    from denots.estimators.estimator import SeriesEstimator


def evaluate(
    estimator: "SeriesEstimator", X: Any, y: Any, by: Any, confidence: float | None, coverage: float | None
) -> Scores:
    """All metrics of the task; `rows` of the result has every series that was given, those without an answer, too."""
    task, reading = estimator.task_, estimator.read(X, known=y is None)
    known = estimator.read_known(reading, y) if task.needs_target else reading.series
    unread = reading.rejected
    reading = judgeable(task, replace(reading, series=known))
    unknown = reading.rejected[len(unread) :]
    _tell_of_unknown(unknown, len(reading.ids))
    part = task.pose(reading.series)
    at = None if part.at is None else part.at.double().numpy()
    asked = partly(part.series, reading)
    answers = estimator._answers(asked, at)
    ends = None if coverage is None else limits(estimator, asked, coverage, None, at)
    n, own = len(reading.ids), _positions(reading, part.series.ids.tolist())
    groups = {} if by is None else _groups(estimator, X, by, reading, own)
    scores = task.scores(answers.outputs, part, confidence=confidence, groups=groups, limits=ends)
    status = np.full(n, "not judged: nothing of it can be hidden and asked for", dtype=object)
    status[own] = answers.status
    for words, lost in (("not read", unread), ("not judged", unknown)):
        status[_positions(reading, [bad.id for bad in lost])] = [f"{words}: {bad.reason}" for bad in lost]
    columns = {name: _spread(column, own, n) for name, column in scores.rows.items()}
    return scores._replace(rows={estimator.table_schema().id: reading.ids, **columns, "status": status})


def judgeable(task: Task, reading: Reading) -> Reading:
    """The series whose truth the task can read; the others are rejected with the reason, such as a class that it does not know."""
    series = reading.series
    try:
        task.pose(series)
    except InvalidTarget:
        reasons = [_reason(task, series, row) for row in range(len(series))]
        kept = [row for row, reason in enumerate(reasons) if reason is None]
        if not kept:
            raise
        lost = [
            Rejected(series.id(row), reason, InvalidTarget) for row, reason in enumerate(reasons) if reason is not None
        ]
        return replace(reading, series=series.select(kept), rejected=(*reading.rejected, *lost))
    return reading


def _reason(task: Task, series: SeriesSet, row: int) -> str | None:
    try:
        task.pose(series.select([row]))
    except InvalidTarget as error:
        return f"series {series.id(row)!r}: {error} Correct it or leave the series out; to learn it, fit again."
    return None


def _tell_of_unknown(lost: tuple[Rejected, ...], n: int) -> None:
    if lost:
        names = listed([repr(bad.id) for bad in lost])
        warnings.warn(
            f"{len(lost)} of {n} series are left out, because their known answers are none that the model could give: {names}. "
            f"{lost[0].reason[0].upper()}{lost[0].reason[1:]}",
            SkippedSeries,
            stacklevel=4,
        )


def _groups(estimator: "SeriesEstimator", X: Any, by: Any, reading: Reading, judged: IntArray) -> dict[str, IntArray]:
    """The judged series of each group, by a column of a table, by a static feature, or by one value each."""
    n = len(reading.ids)
    if not isinstance(by, str):
        column, by = np.asarray(by), str(getattr(by, "name", "by"))
        if column.shape != (n,):
            raise InvalidOption(f"values of shape {column.shape} cannot group {n} series; give one each.")
    elif hasattr(X, "columns"):
        column = read_labels(X, estimator.table_schema().id, by, reading.ids).to_numpy()
    else:
        own, known = reading.series, estimator.table_schema().categories
        static = static_column(np.asarray(own.static), own.static_names, known, by)
        column = _spread(static, _positions(reading, reading.series.ids.tolist()), n)
    return Grouping.of(column, by).members(column[judged])


def _positions(reading: Reading, ids: list[Any]) -> IntArray:
    """Where series stand among those that were given."""
    position = {name: row for row, name in enumerate(reading.ids.tolist())}
    return np.array([position[name] for name in ids], dtype=np.int64)


def _spread(column: npt.NDArray[Any], own: IntArray, n: int) -> npt.NDArray[Any]:
    """A column with one entry for each of n series, empty where there is none."""
    if len(own) == n and (own == np.arange(n)).all():
        return column
    found = np.full(n, np.nan) if column.dtype.kind in "iuf" else np.full(n, None, dtype=object)
    found[own] = column
    return found
