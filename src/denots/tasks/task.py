"""What is asked of series: how a target is read, learnt, judged and told."""

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float
from torch import Tensor, nn

from denots.data.series import SeriesSet
from denots.errors import InvalidOption, InvalidTarget
from denots.pages.chart import Picture
from denots.rowwise import linear_rows
from denots.shapes import FloatArray, IntArray
from denots.tasks.scale import Units
from denots.tasks.scores import Bin, Comparison, Held, Judge, Scores, judge_both, judge_held, score


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Series as a task poses them: what is seen, what is to be told, and when it is asked for.

    weight: how much each series counts, or each question about it; None where all count alike.
    groups: a number for each series; no fold or split parts those of one group.
    """

    series: SeriesSet
    target: Tensor
    at: Tensor | None = None
    weight: Tensor | None = None
    groups: IntArray | None = None

    def __post_init__(self) -> None:
        # What is to be told is no part of what is seen.
        object.__setattr__(self, "series", self.series.without_row_target())

    def __len__(self) -> int:
        return len(self.series)

    def select(self, rows: IntArray) -> "Part":
        chosen = torch.from_numpy(rows)
        at, weight = (None if each is None else each[chosen] for each in (self.at, self.weight))
        groups = None if self.groups is None else self.groups[rows]
        return Part(self.series.select(rows), self.target[chosen], at, weight, groups)


class Head(nn.Linear):
    """A linear map of states whose result for a series does not depend on its batch."""

    def forward(self, states: Float[Tensor, "*B H"]) -> Tensor:
        return linear_rows(states, self.weight, self.bias)


class Task(abc.ABC):
    """One kind of question, with what was learnt of its target; a value that is never changed.

    A subclass is a frozen dataclass whose fields are plain values, so that it can be written as JSON.
    Everything that learns works on `outputs`, raw numbers whose meaning only the task knows: logits,
    or values in units of the target's spread. Larger metrics are better.

    learns: "classes" (one class number a series) or "numbers" (a column for each output; NaN is not
        asked for). This is all that a system without a gradient has to know.
    asks_times: whether answers are given at query times instead of once a series.
    causal: whether an answer at a time may use nothing that came later.
    fewest: series that the metric needs at least.
    baseline: the trivial answer in words.
    """

    name: ClassVar[str]
    baseline: ClassVar[str]
    learns: ClassVar[Literal["classes", "numbers"]]
    asks_times: ClassVar[bool] = False
    causal: ClassVar[bool] = False
    needs_target: ClassVar[bool] = True
    fewest: ClassVar[int] = 1

    @classmethod
    @abc.abstractmethod
    def suits(cls, target: npt.NDArray[Any] | None) -> str | None:
        """Why a target asks for this task, in words; None where it does not."""

    @classmethod
    @abc.abstractmethod
    def read(cls, *sets: SeriesSet) -> "Task":
        """The task that the targets of these sets ask for: what it knows of them before any training."""

    @abc.abstractmethod
    def pose(self, series: SeriesSet) -> Part:
        """Series with known answers as questions: the target encoded, or what has to be told hidden."""

    @abc.abstractmethod
    def check(self, part: Part) -> None:
        """Refuse what cannot be learnt: one class only, a constant, nothing to ask for."""

    @abc.abstractmethod
    def calibrated(self, train: Part) -> "Task":
        """The same task with what is learnt from the training part before any training: the scale of a target."""

    def in_units(self, units: Units) -> "Task":
        """The same task, to be calibrated so that its numbers are learnt in these units."""
        if units == "standardised":
            return self
        raise InvalidOption(f"{self.name} has no numbers that could be learnt {units}; leave the option out.")

    @property
    @abc.abstractmethod
    def outputs(self) -> int:
        """How many raw numbers an answer is made of."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of answers that are judged one by one, too; none where there is one."""
        return ()

    @property
    @abc.abstractmethod
    def metric_name(self) -> str: ...

    @abc.abstractmethod
    def loss(self, outputs: Tensor, target: Tensor) -> Tensor: ...

    def weighed_loss(self, outputs: Tensor, target: Tensor, weight: Tensor) -> Tensor:
        """The weighted mean of the losses of each series by itself."""
        each = torch.vmap(self.loss)(outputs[:, None], target[:, None])
        weight = weight.to(each.dtype)
        return (weight * each).sum() / weight.sum()

    @abc.abstractmethod
    def metric(self, outputs: Tensor, target: Tensor) -> Tensor:
        """The metric over a whole split; outputs of failed series are NaN and count as wrong."""

    @abc.abstractmethod
    def answer(self, outputs: Tensor) -> Tensor:
        """What a user asked for: probabilities, or values in the target's own unit."""

    @abc.abstractmethod
    def compare(self, outputs: Tensor, part: Part) -> Comparison:
        """Answers beside the truth and beside the trivial answer, which a series without an answer is given."""

    @abc.abstractmethod
    def judge(self, answers: FloatArray, truth: npt.NDArray[Any]) -> Judge:
        """The metrics of answers in a comparison, over whichever series are asked for."""

    @abc.abstractmethod
    def rows(self, told: Comparison) -> dict[str, npt.NDArray[Any]]:
        """A comparison as columns of a table with one row a series: the truth, the answer, the error."""

    @abc.abstractmethod
    def columns(self, answers: FloatArray) -> dict[str, npt.NDArray[Any]]:
        """Answers as columns of a table; empty cells where there is none."""

    @abc.abstractmethod
    def state(self) -> dict[str, Any]:
        """Plain values from which `restore` makes the same task."""

    @classmethod
    @abc.abstractmethod
    def restore(cls, state: dict[str, Any]) -> "Task": ...

    def nonconformity(self, answers: FloatArray, truth: npt.NDArray[Any]) -> FloatArray | None:
        """How badly the truth fits each answer, a row for each and a column for each part; NaN where it is not known.

        None where the task has no sets or intervals.
        """
        return None

    def region(self, answers: FloatArray, limits: FloatArray) -> npt.NDArray[Any]:
        """What fits answers no worse than the limits: a set or an interval; everything where there is no answer."""
        raise InvalidOption(f"{self.name} has no sets or intervals; leave the coverage out.")

    def region_columns(self, region: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
        """Sets or intervals as columns of a table."""
        raise InvalidOption(f"{self.name} has no sets or intervals; leave the coverage out.")

    def held(self, region: npt.NDArray[Any], truth: npt.NDArray[Any]) -> Held:
        """Which truths lie in their set or interval."""
        raise InvalidOption(f"{self.name} has no sets or intervals; leave the coverage out.")

    def facts(self) -> dict[str, str]:
        """What is known of the target in training, in words."""
        return {}

    def pictures(self, told: Comparison, part: Part) -> tuple[Picture, ...]:
        """What there is to see of answers beside the truth."""
        return ()

    def reliability(self, told: Comparison) -> tuple[Bin, ...]:
        """Predicted beside observed shares, where answers are probabilities."""
        return ()

    def scores(
        self,
        outputs: Tensor,
        part: Part,
        *,
        confidence: float | None = None,
        groups: Mapping[str, IntArray] | None = None,
        limits: FloatArray | None = None,
    ) -> Scores:
        """Everything by which answers are judged, beside the trivial answer.

        Args:
            confidence: of the intervals; None leaves them out.
            groups: the series of each group, which is judged by itself, too.
            limits: of sets or intervals, whose coverage and size are then judged, too.
        """
        told = self.compare(outputs, part)
        others = {name: self.judge(answers, told.truth) for name, answers in told.others.items()}
        model, trivial = self.judge(told.answers, told.truth), self.judge(told.trivial, told.truth)
        if limits is not None:
            found = self.held(self.region(self.answer(outputs).numpy(), limits), told.truth).without(told.failed)
            model = judge_both(model, judge_held(found, self.parts))
            trivial = judge_both(trivial, judge_held(found.without(np.ones_like(told.failed)), self.parts))

        def judged(rows: IntArray) -> Scores:
            return Scores(
                self.baseline,
                int(told.failed[rows].sum()),
                score(model, trivial, rows, confidence),
                {name: judge(rows) for name, judge in others.items()},
                len(rows),
            )

        return judged(np.arange(len(told.truth)))._replace(
            reliability=self.reliability(told),
            groups={name: judged(rows) for name, rows in (groups or {}).items()},
            rows=self.rows(told),
        )

    def head(self, state_size: int) -> nn.Module:
        """What turns states into outputs; trained with the model."""
        return Head(state_size, self.outputs)

    def strata(self, part: Part) -> npt.NDArray[Any] | None:
        """Labels whose shares a random split keeps; None splits freely."""
        return None

    def weighted(self, train: Part, weights: Any) -> "Task":
        """The same task with a weight for each class, or "balanced": rare ones count as much as common ones."""
        raise InvalidOption(f"{self.name} knows no classes to weigh; leave the option out.")

    def table(self, target: Tensor) -> FloatArray:
        """The target as systems without a gradient learn it: class numbers, or a column for each output."""
        return target.numpy()


def known_target(series: SeriesSet) -> npt.NDArray[Any]:
    """The target of a set as an array, one entry a series, none missing and all of one kind."""
    target = series.target
    if target is None:
        raise InvalidTarget(
            "this estimator requires y to be passed, but the target y is None; give y, or a SeriesSet with a target."
        )
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    if target.dtype.kind == "O":
        kinds = sorted({type(value).__name__ for value in target.flat})
        if len(kinds) > 1:
            raise InvalidTarget(f"targets mix {' and '.join(kinds)}; make them all numbers or all text.")
        target = np.array(target.tolist())
    if target.dtype.kind == "f":
        bad = np.argwhere(~np.isfinite(target.reshape(len(target), -1)))
        if len(bad):
            row = int(bad[0, 0])
            raise InvalidTarget(
                f"the target of series {series.id(row)!r} is {target[row]}; every series needs a finite target, so leave it out of fit."
            )
    return target
