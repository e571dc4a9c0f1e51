"""What a model says of every series that it was asked about, and what became of each."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from denots.data.ranges import Ranges
from denots.data.reading import Reading
from denots.errors import InvalidSeries, SolverFailure, SolverWarning, UnusualSeries
from denots.inference.told import Model
from denots.registry import listed
from denots.shapes import BoolArray, FloatArray, IntArray

OK = "ok"
UNSOLVED = "could not be integrated; look for extreme values in it, or fit with field 'anti' or a smaller depth"


class Outcome(NamedTuple):
    """One row for each series that was given, in that order.

    outputs: what the model says, NaN where there is no answer.
    status: "ok", what is unusual about a series ("unusual: ..."), or why it has no answer.
    failed: the series without an answer.
    first: the time of the first observation of each, NaN where it cannot be read; `of_questions` needs it.
    """

    ids: npt.NDArray[Any]
    outputs: FloatArray
    status: list[str]
    failed: BoolArray
    first: FloatArray


def ask(model: Model, ranges: Ranges, reading: Reading, at: FloatArray | None = None) -> Outcome:
    """Ask about each series by itself: one that cannot be read, or not be solved, harms no other.

    `at` has a row of times for each id of the reading; NaN is no question, and before its first
    observation a series has no answer.
    """
    series, n = reading.series, len(reading.ids)
    position = {name: row for row, name in enumerate(reading.ids.tolist())}
    rows = np.array([position[name] for name in series.ids.tolist()], dtype=np.int64)
    status = [OK] * n
    failed = np.zeros(n, dtype=bool)
    for bad in reading.rejected:
        status[position[bad.id]], failed[position[bad.id]] = f"not read: {bad.reason}", True
    seen = series if reading.whole is None else reading.whole
    for row, remark in zip(rows, ranges.remarks(seen, reading.texts), strict=True):
        if remark:
            status[row] = f"unusual: {remark}"
    questions, unasked = None, None
    first = np.full(n, np.nan)
    first[rows] = series.times[series.offsets[:-1]]
    if at is not None:
        if np.isinf(at).any():
            raise InvalidSeries("a query time is infinite; ask at finite times.")
        asked = at[rows]
        unasked = ~(asked >= first[rows, None])  # not at all, or too early: asked at the end and not told
        questions = np.where(unasked, series.ends[:, None], asked)
    found = model.outputs(series.without_row_target(), questions)
    answers = found.outputs.astype(np.float64)
    if unasked is not None:
        answers[unasked] = np.nan
    for row in rows[~found.ok]:
        status[row], failed[row] = f"not solved: {UNSOLVED}", True
    told = np.full((n, *answers.shape[1:]), np.nan)
    told[rows] = answers
    return Outcome(reading.ids, told, status, failed, first)


def of_questions(
    status: Sequence[str], failed: BoolArray, first: FloatArray, times: FloatArray, owners: IntArray
) -> npt.NDArray[Any]:
    """The status of single questions: that of the series which owns each, unless only this question came too early."""
    found = np.array(status, dtype=object)[owners]
    for own in np.flatnonzero((times < first[owners]) & ~failed[owners]):
        found[own] = f"asked before its first observation at {first[owners[own]]:g}, where nothing is known"
    return found


def tell_of_failures(ids: npt.NDArray[Any], status: Sequence[str], failed: BoolArray, strict: bool) -> None:
    """Name all series without an answer in one warning, or with `strict` in one error."""
    groups: dict[str, list[str]] = {}
    for row in np.flatnonzero(failed):
        kind, _, reason = status[row].partition(": ")
        groups.setdefault(UNSOLVED if kind == "not solved" else reason, []).append(repr(ids[row].item()))
    if not groups:
        return
    message = f"{int(failed.sum())} of {len(ids)} series have no answer: " + " ".join(
        _told(names, reason) for reason, names in groups.items()
    )
    if strict:
        raise SolverFailure(message)
    warnings.warn(message, SolverWarning, stacklevel=4)


def tell_of_unusual(ids: npt.NDArray[Any], status: Sequence[str]) -> None:
    """Name the series that are unlike everything in training, in one warning."""
    odd = [row for row, words in enumerate(status) if words.startswith("unusual: ")]
    if odd:
        first = status[odd[0]].removeprefix("unusual: ")
        names = listed([repr(ids[row].item()) for row in odd])
        warnings.warn(
            f"{len(odd)} of {len(ids)} series are unlike the training data, so do not rely on their answers: {names}. "
            f"Series {ids[odd[0]].item()!r}: {first}",
            UnusualSeries,
            stacklevel=4,
        )


def _told(names: Sequence[str], reason: str) -> str:
    return f"{listed(names)} ({reason})" if len(names) > 1 else f"{names[0]} ({reason})"
