"""What a fitted system says of every series that it was asked about, and what became of each."""

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor

from denots.data.ranges import Ranges
from denots.data.reading import Reading
from denots.inference.answering import ask, of_questions
from denots.shapes import BoolArray, FloatArray, IntArray
from denots.systems import Fitted
from denots.systems.system import Plain


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """One row for each series that was given, in that order.

    outputs: what the system says, NaN where there is no answer; `values` are the same in the user's terms.
    status, failed, first: as in `inference.answering.Outcome`.
    """

    ids: npt.NDArray[Any]
    outputs: Tensor
    values: FloatArray
    status: list[str]
    failed: BoolArray
    first: FloatArray

    def status_of(self, times: FloatArray, owners: IntArray) -> npt.NDArray[Any]:
        """The status of questions at these times, each about the series in that place."""
        return of_questions(self.status, self.failed, self.first, times, owners)


def give_answers(fitted: Fitted, ranges: Ranges, reading: Reading, at: FloatArray | None = None) -> Answers:
    """Answer for each series by itself, at its end or at the times of `inference.answering.ask`."""
    found = ask(Plain(fitted), ranges, reading, at)
    outputs = torch.from_numpy(found.outputs)
    values = fitted.task.answer(outputs).numpy()
    return Answers(found.ids, outputs, values, found.status, found.failed, found.first)
