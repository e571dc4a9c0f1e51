"""What a model says of every series that it was asked about, and what became of each."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from denots.data.ranges import Ranges
from denots.data.reading import Reading
from denots.errors import InvalidSeries, SolverFailure, SolverWarning, UnusualSeries
from denots.registry import listed
from denots.shapes import BoolArray, FloatArray
from denots.systems import Fitted

OK = "ok"
UNSOLVED = "could not be integrated; look for extreme values in it, or fit with field 'anti' or a smaller depth"


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """One row for each series that was given, in that order.

    outputs: what the system says, NaN where there is no answer; `values` are the same in the user's terms.
    status: "ok", what is unusual about a series ("unusual: ..."), or why it has no answer.
    failed: the series without an answer.
    """

    ids: npt.NDArray[Any]
    outputs: Tensor
    values: FloatArray
    status: list[str]
    failed: BoolArray


def give_answers(fitted: Fitted, ranges: Ranges, reading: Reading, at: FloatArray | None = None) -> Answers:
    """Answer for each series by itself: one that cannot be read, or not be solved, harms no other.

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
    for row, remark in zip(rows, ranges.remarks(series), strict=True):
        if remark:
            status[row] = f"unusual: {remark}"
    questions, early = None, None
    if at is not None:
        if np.isinf(at).any():
            raise InvalidSeries("a query time is infinite; ask at finite times.")
        first = series.times[series.offsets[:-1]][:, None]
        asked = at[rows]
        early = asked < first
        # What is not asked, or asked too early, is asked at the end and not told.
        questions = torch.from_numpy(np.where(early | np.isnan(asked), series.ends[:, None], asked))
    found = fitted.outputs(series.without_row_target(), questions)
    answers = found.outputs.double()
    if at is not None and early is not None:
        answers[torch.from_numpy(early | np.isnan(at[rows]))] = torch.nan
        for own in np.flatnonzero(early.any(axis=1)):
            status[rows[own]] = f"asked before its first observation at {first[own, 0]:g}, where nothing is known"
    for row in rows[~found.ok.numpy()]:
        status[row], failed[row] = f"not solved: {UNSOLVED}", True
    outputs = torch.full((n, *answers.shape[1:]), torch.nan, dtype=torch.float64)
    outputs[torch.from_numpy(rows)] = answers
    return Answers(reading.ids, outputs, fitted.task.answer(outputs).numpy(), status, failed)


def tell_of_failures(answers: Answers, strict: bool) -> None:
    """Name all series without an answer in one warning, or with `strict` in one error."""
    groups: dict[str, list[str]] = {}
    for row in np.flatnonzero(answers.failed):
        kind, _, reason = answers.status[row].partition(": ")
        groups.setdefault(UNSOLVED if kind == "not solved" else reason, []).append(repr(answers.ids[row].item()))
    if not groups:
        return
    message = f"{int(answers.failed.sum())} of {len(answers.ids)} series have no answer: " + " ".join(
        _told(names, reason) for reason, names in groups.items()
    )
    if strict:
        raise SolverFailure(message)
    warnings.warn(message, SolverWarning, stacklevel=4)


def tell_of_unusual(answers: Answers) -> None:
    """Name the series that are unlike everything in training, in one warning."""
    odd = [row for row, status in enumerate(answers.status) if status.startswith("unusual: ")]
    if odd:
        first = answers.status[odd[0]].removeprefix("unusual: ")
        names = listed([repr(answers.ids[row].item()) for row in odd])
        warnings.warn(
            f"{len(odd)} of {len(answers.ids)} series are unlike the training data, so do not rely on their answers: {names}. "
            f"Series {answers.ids[odd[0]].item()!r}: {first}",
            UnusualSeries,
            stacklevel=4,
        )


def _told(names: Sequence[str], reason: str) -> str:
    return f"{listed(names)} ({reason})" if len(names) > 1 else f"{names[0]} ({reason})"
