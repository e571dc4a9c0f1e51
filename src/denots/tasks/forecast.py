"""Tell the values of all channels at times between and beyond the observations."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from denots.data.hide import hide_for_forecasting, reveal
from denots.data.history import History
from denots.data.series import SeriesSet
from denots.errors import InvalidSeries
from denots.metrics import r2
from denots.shapes import FloatArray
from denots.tasks.scale import Scale, check_magnitude
from denots.tasks.simple_forecasts import (
    LAST,
    Questions,
    Smoothing,
    learn_smoothing,
    memories_of,
    restore_smoothing,
    simple_forecasts,
    smoothing_state,
)
from denots.tasks.task import Part, Score, Scores, Task


@dataclass(frozen=True)
class Forecast(Task):
    """Mean squared error and R2 over all answered queries. The trivial answer is the last value seen.

    The target has one more column than there are channels: 1 where a query lies beyond the
    observations, 0 between them. Both kinds weigh the same in the loss, however many there are.
    NaN in the target is a query without an answer.
    """

    channels: tuple[str, ...]
    scale: Scale
    smoothing: tuple[Smoothing, ...] = ()  # of each channel, for the simple forecasts; none before training

    name = "forecast"
    learns = "numbers"
    asks_times = True
    needs_target = False

    @classmethod
    def suits(cls, target: npt.NDArray[Any] | None) -> str | None:
        return "there is no target" if target is None else None

    @classmethod
    def read(cls, *sets: SeriesSet) -> "Forecast":
        channels = sets[0].channels
        return cls(channels, Scale.unit(len(channels)))

    def pose(self, series: SeriesSet) -> Part:
        hidden = hide_for_forecasting(series)
        return Part(hidden.visible, torch.from_numpy(hidden.target), torch.from_numpy(hidden.at))

    def check(self, part: Part) -> None:
        answers = part.target[..., :-1].numpy()
        if np.isnan(answers).all():
            raise InvalidSeries(
                "nothing is left to ask for when half of each series is hidden; give series of at least two rows."
            )
        check_magnitude(answers, "a channel")

    def calibrated(self, train: Part) -> "Forecast":
        asked, answers = _questions(train), train.target[..., :-1].double().numpy()
        scale, memories = Scale.of(train.target[..., :-1]), memories_of(train.series)
        smoothing = tuple(
            learn_smoothing(History.of(train.series, c), asked, answers[..., c].ravel(), memories, mean)
            for c, mean in enumerate(scale.centre)
        )
        return replace(self, scale=scale, smoothing=smoothing)

    @property
    def outputs(self) -> int:
        return len(self.channels)

    @property
    def metric_name(self) -> str:
        return "R2"

    def loss(self, outputs: Tensor, target: Tensor) -> Tensor:
        truth = self.scale.shrink(target[..., :-1], outputs.dtype)
        beyond = (target[..., -1:] > 0.5).expand_as(truth)
        # Unanswered queries leave before any arithmetic: a zero gradient times NaN is NaN.
        masks = (~truth.isnan() & beyond, ~truth.isnan() & ~beyond)
        means = [mse_loss(outputs[mask], truth[mask]) for mask in masks if mask.any()]
        return torch.stack(means).mean() if means else (outputs * 0).sum()

    def metric(self, outputs: Tensor, target: Tensor) -> Tensor:
        truth = self.scale.shrink(target[..., :-1], outputs.dtype)
        asked = ~truth.isnan()
        return r2(outputs.nan_to_num()[asked], truth[asked])

    def answer(self, outputs: Tensor) -> Tensor:
        return self.scale.stretch(outputs)

    def scores(self, outputs: Tensor, part: Part) -> Scores:
        """R2 at the hidden rows, in total, between and beyond the observations; then the error of each channel beyond.

        For R2, channels are on the scale of the training data, so that each weighs alike; an error is in
        the unit of its channel. Before its first observation a channel has no last value; there every
        simple forecast is the training mean.
        """
        simple = self.simple(part)
        trivial = simple.pop(LAST)
        given = self.answer(outputs.double()).numpy()
        told = np.where(np.isnan(given), trivial, given)
        judged = {name: self._judged(answers, part) for name, answers in simple.items()}
        model, baseline = self._judged(told, part), self._judged(trivial, part)
        metrics = {name: Score(value, baseline[name]) for name, value in model.items()}
        return Scores(LAST, int(np.isnan(given).any(axis=(1, 2)).sum()), metrics, judged)

    def simple(self, part: Part) -> dict[str, FloatArray]:
        """What each simple forecast answers [n, K, C], by its name; before training the last value only."""
        if part.at is None:
            raise InvalidSeries("a forecast is judged at query times; this part has none.")
        if not self.smoothing:
            last = last_values(part.series, part.at.numpy())
            return {LAST: np.where(np.isnan(last), self.scale.centre, last)}
        found = [
            simple_forecasts(History.of(part.series, c), _questions(part), one) for c, one in enumerate(self.smoothing)
        ]
        return {name: np.stack([one[name] for one in found], axis=1).reshape(*part.at.shape, -1) for name in found[0]}

    @staticmethod
    def complete(part: Part) -> SeriesSet:
        """The series of a part before anything was hidden."""
        if part.at is None:
            raise InvalidSeries("a forecast is learnt at query times; this part has none.")
        return reveal(part.series, part.at.numpy(), part.target[..., :-1].numpy())

    def _judged(self, answers: FloatArray, part: Part) -> dict[str, float]:
        truth = part.target[..., :-1].double().numpy()
        asked = ~np.isnan(truth)
        beyond = asked & (part.target[..., -1:].numpy() > 0.5)
        scaled_truth, scaled = (
            self.scale.shrink(torch.from_numpy(table), torch.float64).numpy() for table in (truth, answers)
        )
        metrics = {
            name: _r2(scaled_truth[rows], scaled[rows])
            for name, rows in (("R2", asked), ("R2 between", asked & ~beyond), ("R2 beyond", beyond))
        }
        for c, channel in enumerate(self.channels):
            rows = beyond[..., c]
            wrong = answers[..., c][rows] - truth[..., c][rows]
            metrics[f"RMSE {channel} beyond"] = float(np.sqrt(np.mean(wrong**2))) if len(wrong) else float("nan")
        return metrics

    def columns(self, answers: FloatArray) -> dict[str, npt.NDArray[Any]]:
        return {channel: answers[:, k] for k, channel in enumerate(self.channels)}

    def state(self) -> dict[str, Any]:
        return {
            "channels": list(self.channels),
            "scale": self.scale.state(),
            "smoothing": smoothing_state(self.smoothing),
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> "Forecast":
        smoothing = restore_smoothing(state.get("smoothing", []))  # a model saved before has none
        return cls(tuple(map(str, state["channels"])), Scale.restore(state["scale"]), smoothing)

    def table(self, target: Tensor) -> FloatArray:
        scaled = self.scale.shrink(target[..., :-1], torch.float64)
        return scaled.reshape(-1, self.outputs).numpy()


def last_values(series: SeriesSet, at: FloatArray) -> FloatArray:
    """The latest value of each channel at each query [n, K, C], NaN before its first one."""
    found = np.full((*at.shape, len(series.channels)), np.nan)
    for row, one in enumerate(series):
        for channel in range(len(series.channels)):
            seen = ~np.isnan(one.values[:, channel])
            position = np.searchsorted(one.times[seen], at[row], side="right") - 1
            known = position >= 0
            found[row, known, channel] = one.values[seen, channel][position[known]]
    return found


def _questions(part: Part) -> Questions:
    """Every query of a part, all rows of its series being seen."""
    if part.at is None:
        raise InvalidSeries("a forecast is asked at query times; this part has none.")
    n, k = part.at.shape
    return Questions(np.repeat(np.arange(n), k), part.at.double().numpy().ravel(), np.repeat(part.series.ends, k))


def _r2(target: FloatArray, answers: FloatArray) -> float:
    from sklearn.metrics import r2_score

    return float(r2_score(target, answers)) if len(target) > 1 else float("nan")
