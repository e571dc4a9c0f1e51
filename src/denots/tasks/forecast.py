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
from denots.pages.chart import Picture
from denots.shapes import BoolArray, FloatArray, IntArray
from denots.tasks.forecast_pictures import channel_pictures, horizon_chart
from denots.tasks.intervals import around, bounds, held_between
from denots.tasks.scale import Scale, Units, check_magnitude
from denots.tasks.scores import NAN, Comparison, Held, Judge
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
from denots.tasks.task import Part, Task


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
    baseline = LAST
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

    def in_units(self, units: Units) -> "Forecast":
        return replace(self, scale=replace(self.scale, units=units))

    def calibrated(self, train: Part) -> "Forecast":
        asked, answers = _questions(train), train.target[..., :-1].double().numpy()
        scale, memories = Scale.of(train.target[..., :-1], self.scale.units), memories_of(train.series)
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
        return r2(self.scale.filled(outputs)[asked], truth[asked])

    def answer(self, outputs: Tensor) -> Tensor:
        return self.scale.stretch(outputs)

    def compare(self, outputs: Tensor, part: Part) -> Comparison:
        """The truth is the target as it was posed. Before its first observation a channel has no last value; there
        every simple forecast is the training mean.
        """
        simple = self.simple(part)
        trivial = simple.pop(LAST)
        given = self.answer(outputs.double()).numpy()
        failed = np.isnan(given).any(axis=(1, 2))
        return Comparison(
            part.target.double().numpy(), np.where(np.isnan(given), trivial, given), trivial, failed, simple
        )

    def judge(self, answers: FloatArray, truth: npt.NDArray[Any]) -> Judge:
        """R2 at the hidden rows, in total, between and beyond the observations; then the errors of each channel beyond.

        For R2, channels are on the scale of the training data, so that each weighs alike; an error is in
        the unit of its channel.
        """
        asked = ~np.isnan(truth[..., :-1])
        beyond = asked & (truth[..., -1:] > 0.5)
        wrong = np.where(beyond, answers - truth[..., :-1], 0.0)
        parts = {"R2": asked, "R2 between": asked & ~beyond, "R2 beyond": beyond}
        scaled, given = (self._scaled(table) for table in (truth[..., :-1], answers))
        # Sums of each series: any choice of series is then judged without touching their rows again.
        sums = {name: _sums(scaled, given, rows) for name, rows in parts.items()}
        counts, squares, sizes = beyond.sum(axis=1), np.square(wrong).sum(axis=1), np.abs(wrong).sum(axis=1)

        def judge(rows: IntArray) -> dict[str, float]:
            found = {name: _r2(*table[rows].sum(axis=0).tolist()) for name, table in sums.items()}
            n, square, size = (table[rows].sum(axis=0).tolist() for table in (counts, squares, sizes))
            for c, channel in enumerate(self.channels):
                found[f"RMSE {channel} beyond"] = float(np.sqrt(square[c] / n[c])) if n[c] else NAN
                found[f"MAE {channel} beyond"] = size[c] / n[c] if n[c] else NAN
            return found

        return judge

    def pictures(self, told: Comparison, part: Part) -> tuple[Picture, ...]:
        """How errors grow with the time ahead, beside the trivial answer and the best other one; then channels."""
        if part.at is None:
            raise InvalidSeries("a forecast is judged at query times; this part has none.")
        truth = told.truth[..., :-1]
        forecasts = {"model": told.answers, self.baseline: told.trivial, **told.others}
        errors = {name: self._scaled(answers) - self._scaled(truth) for name, answers in forecasts.items()}
        best = sorted(told.others, key=lambda name: float(np.nanmean(np.square(errors[name]))))[:1]
        shown = {name: errors[name] for name in ("model", self.baseline, *best)}
        ahead = part.at.double().numpy() - part.series.ends[:, None]
        charts = horizon_chart(ahead, shown, ~np.isnan(truth), part.series.time_unit)
        return (*charts, *channel_pictures(self.channels, told.answers, truth))

    def rows(self, told: Comparison) -> dict[str, npt.NDArray[Any]]:
        """How much was asked, and the root mean squared error in units of the training spread."""
        truth = told.truth[..., :-1]
        asked = (~np.isnan(truth)).sum(axis=(1, 2))
        square = np.nansum(np.square(self._scaled(told.answers) - self._scaled(truth)), axis=(1, 2))
        known = (asked > 0) & ~told.failed
        return {"asked": asked, "error": np.where(known, np.sqrt(square / np.maximum(asked, 1)), np.nan)}

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

    def _scaled(self, table: FloatArray) -> FloatArray:
        """In units of the training spread, however channels are learnt."""
        return replace(self.scale, units="standardised").shrink(torch.from_numpy(table), torch.float64).numpy()

    def columns(self, answers: FloatArray) -> dict[str, npt.NDArray[Any]]:
        return {channel: answers[:, k] for k, channel in enumerate(self.channels)}

    def nonconformity(self, answers: FloatArray, truth: npt.NDArray[Any]) -> FloatArray:
        """A row for each question, a column for each channel."""
        return np.abs(truth[..., :-1] - answers).reshape(-1, self.outputs)

    def region(self, answers: FloatArray, limits: FloatArray) -> FloatArray:
        return around(answers, limits)

    def region_columns(self, region: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
        return bounds(self.columns, region)

    def held(self, region: npt.NDArray[Any], truth: npt.NDArray[Any]) -> Held:
        """Sizes are in units of the training spread."""
        ends = [self._scaled(np.ascontiguousarray(region[..., end])) for end in (0, 1)]
        return held_between(np.stack(ends, axis=-1), self._scaled(truth[..., :-1]))

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


def _sums(truth: FloatArray, answers: FloatArray, asked: BoolArray) -> FloatArray:
    """For each series [n, 4]: how much was asked, the sum of the truth and of its squares, and of squared errors."""
    parts = (np.ones_like(truth), truth, np.square(truth), np.square(answers - truth))
    return np.stack([np.where(asked, part, 0.0).sum(axis=(1, 2)) for part in parts], axis=1)


def _r2(n: float, total: float, squares: float, errors: float) -> float:
    if n < 2:
        return NAN
    variation = squares - total * total / n
    if variation <= 1e-12 * squares:  # all the same, but for rounding
        return float(errors <= 1e-12 * squares)
    return 1 - errors / variation
