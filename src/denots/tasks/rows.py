"""Tell something of every row of a series, from what was known then."""

import abc
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from denots.data.series import SeriesSet, ragged_rows
from denots.errors import InvalidTarget
from denots.shapes import BoolArray, FloatArray, IntArray
from denots.tasks.scores import Comparison, Judge
from denots.tasks.task import Part, Task


@dataclass(frozen=True)
class RowTask(Task):
    """The question `of` asked at every row. Rows whose answer nobody knows have NaN and count nowhere.

    A part has a column for each row of its longest series; shorter ones are asked at their end again, without a known
    answer. All rows weigh alike, so that long series count for more.
    """

    of: Any

    kind: ClassVar[type[Task]]
    asks_times = True
    causal = True
    needs_target = False

    @classmethod
    def suits(cls, target: npt.NDArray[Any] | None) -> str | None:
        """A target of whole series never asks for it."""
        return None

    @classmethod
    def read(cls, *sets: SeriesSet) -> Self:
        return cls(cls.question([known_rows(series) for series in sets]))

    @classmethod
    @abc.abstractmethod
    def question(cls, labels: list[FloatArray]) -> Task:
        """What is asked, from the known labels of each set."""

    @abc.abstractmethod
    def encode(self, labels: FloatArray) -> FloatArray:
        """Known labels as they are learnt."""

    def pose(self, series: SeriesSet) -> Part:
        labels = row_labels(series)
        real = series.padded().mask
        target, at = np.full(real.shape, np.nan), np.repeat(series.ends[:, None], real.shape[1], axis=1)
        known = ~np.isnan(labels)
        encoded = np.full(len(labels), np.nan)
        encoded[known] = self.encode(labels[known])
        target[real], at[real] = encoded, series.times
        return Part(series, torch.from_numpy(target), torch.from_numpy(at))

    def check(self, part: Part) -> None:
        self.of.check(self.flat_part(part))

    def calibrated(self, train: Part) -> Self:
        return replace(self, of=self.of.calibrated(self.flat_part(train)))

    def weighted(self, train: Part, weights: Any) -> Self:
        return replace(self, of=self.of.weighted(self.flat_part(train), weights))

    def flat_part(self, part: Part) -> Part:
        """The known rows as if each were a series."""
        return Part(part.series, self.flat_target(part.target[~part.target.isnan()]))

    @abc.abstractmethod
    def flat_target(self, target: Tensor) -> Tensor:
        """Known targets as the question for single series has them."""

    def row_weights(self, target: Tensor) -> Tensor | None:
        """How much each known row counts; None where all count alike."""
        return None

    @property
    def outputs(self) -> int:
        return int(self.of.outputs)

    @property
    def metric_name(self) -> str:
        return str(self.of.metric_name)

    def loss(self, outputs: Tensor, target: Tensor) -> Tensor:
        known = ~target.isnan()
        if not known.any():
            return (outputs * 0).sum()
        return self.of.loss(outputs[known], self.flat_target(target[known]))

    def weighed_loss(self, outputs: Tensor, target: Tensor, weight: Tensor) -> Tensor:
        """The weighted mean over rows; see `known_weights`."""
        known = ~target.isnan()
        if not known.any():
            return (outputs * 0).sum()
        truth = self.flat_target(target[known])
        return self.of.weighed_loss(outputs[known], truth, self.known_weights(target, weight))

    def known_weights(self, target: Tensor, weight: Tensor) -> Tensor:
        """How much each known row counts: by itself or as its series, times the weight of its class."""
        known = ~target.isnan()
        own = (weight if weight.ndim == 2 else weight[:, None].expand_as(target))[known]
        of_class = self.row_weights(self.flat_target(target[known]))
        return own if of_class is None else own * of_class

    def metric(self, outputs: Tensor, target: Tensor) -> Tensor:
        known = ~target.isnan()
        return self.of.metric(outputs[known], self.flat_target(target[known]))

    def answer(self, outputs: Tensor) -> Tensor:
        flat = self.of.answer(outputs.reshape(-1, self.outputs))
        return flat.reshape(*outputs.shape[:-1], -1)

    def compare(self, outputs: Tensor, part: Part) -> Comparison:
        """The truth is the target as it was posed; a series without any answer has failed."""
        told = self.of.compare(
            outputs.reshape(-1, self.outputs), Part(part.series, self.flat_target(part.target.ravel()))
        )
        shape = (*part.target.shape, -1)
        failed = told.failed.reshape(part.target.shape).all(axis=1)
        return Comparison(part.target.numpy(), told.answers.reshape(shape), told.trivial.reshape(shape), failed)

    def judge(self, answers: FloatArray, truth: npt.NDArray[Any]) -> Judge:
        known = ~np.isnan(truth)
        flat = self.of.judge(answers[known], self.flat_target(torch.from_numpy(truth[known])).numpy())
        offsets = np.concatenate([[0], np.cumsum(known.sum(axis=1))]).astype(np.int64)
        whole = self.judge_series(answers, truth, known)

        def judge(rows: IntArray) -> dict[str, float]:
            return flat(ragged_rows(offsets, rows)[0]) | whole(rows)

        return judge

    def judge_series(self, answers: FloatArray, truth: FloatArray, known: BoolArray) -> Judge:
        """Further metrics that have one number a series."""
        return lambda rows: {}

    def facts(self) -> dict[str, str]:
        return self.of.facts()

    def rows(self, told: Comparison) -> dict[str, npt.NDArray[Any]]:
        """How many rows are known, and their mean error as the question for single series has it."""
        known = ~np.isnan(told.truth)
        flat = Comparison(
            self.flat_target(torch.from_numpy(told.truth[known])).numpy(),
            told.answers[known],
            told.trivial[known],
            np.zeros(int(known.sum()), dtype=bool),
        )
        owner, count = np.nonzero(known)[0], known.sum(axis=1)
        total = np.bincount(owner, np.abs(self.of.rows(flat)["error"]), minlength=len(known))
        mean = np.where((count > 0) & ~told.failed, total / np.maximum(count, 1), np.nan)
        return {"known": count, "error": mean}

    def columns(self, answers: FloatArray) -> dict[str, npt.NDArray[Any]]:
        return self.of.columns(answers.reshape(-1, answers.shape[-1]))

    def state(self) -> dict[str, Any]:
        return {"of": self.of.state()}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        return cls(cls.kind.restore(state["of"]))


def row_labels(series: SeriesSet) -> FloatArray:
    """The row target of a set."""
    if series.row_target is None:
        raise InvalidTarget(
            "there is nothing to learn or to judge by: the set has no row target. Name its column (row_target=..., "
            "--row-target), or give SeriesSet.from_arrays(..., row_target=...)."
        )
    return series.row_target


def known_rows(series: SeriesSet) -> FloatArray:
    """The labels of the rows that have one."""
    labels = row_labels(series)
    known = labels[~np.isnan(labels)]
    if not len(known):
        raise InvalidTarget("the row target is missing in every row; at least some rows need a known answer.")
    return known
