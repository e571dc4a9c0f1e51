"""What a forecast can be told from: a row of numbers for each question, from nothing but what was seen by then."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from denots.data.history import History
from denots.data.series import SeriesSet
from denots.shapes import BoolArray, FloatArray, IntArray
from denots.tasks.scale import Scale
from denots.tasks.simple_forecasts import (
    RECENT,
    Questions,
    Smoothing,
    interpolated,
    neighbours,
    recent_slope,
    simple_forecasts,
)

LAGS = 5  # values told one by one


class Told(NamedTuple):
    """The simple forecasts of a channel, and what else is known of it.

    near: in units of the channel, on the same level as the forecasts: former values and running means.
    facts: ages, spreads, counts and slopes, which have no level.
    unit: how much the channel varies, in this series and among all.
    between: whether the channel was seen after the question, too.
    """

    simple: dict[str, FloatArray]
    near: FloatArray
    facts: FloatArray
    unit: FloatArray
    between: BoolArray

    def select(self, rows: BoolArray) -> "Told":
        simple = {name: given[rows] for name, given in self.simple.items()}
        return Told(simple, self.near[rows], self.facts[rows], self.unit[rows], self.between[rows])


class Features(NamedTuple):
    """A row of numbers for each question; trees read the first `columns` of them. Departures are told in `unit`."""

    table: FloatArray
    columns: int
    unit: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Faded:
    """At each observation of a channel, means and spreads over several memories, and their weights [N, M]."""

    mean: FloatArray
    spread: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, history: History, memories: FloatArray) -> "_Faded":
        weight, total, square = (
            history.decayed(amounts, memories)
            for amounts in (np.ones_like(history.values), history.values, history.values**2)
        )
        mean = total / weight
        return cls(mean, np.sqrt(np.maximum(square / weight - mean**2, 0.0)), weight)


class Knowledge:
    """Series with channels on the scale of the task, and what is known of them at any time."""

    def __init__(self, series: SeriesSet, scale: Scale, memories: FloatArray) -> None:
        values = (series.values.astype(np.float64) - np.array(scale.shift)) / np.array(scale.factor)
        self.series = replace(series, values=values)
        self.memories = memories
        self.histories = [History.of(self.series, c) for c in range(len(series.channels))]
        self._faded = [_Faded.of(history, memories) for history in self.histories]

    def told(self, channel: int, asked: Questions, smoothing: Smoothing) -> Told:
        """The history of one channel up to each question."""
        history, faded = self.histories[channel], self._faded[channel]
        owner = asked.owner
        position = history.latest(owner, np.minimum(asked.time, asked.limit))
        pairs = [history.at(owner, position - lag) for lag in range(RECENT)]
        ages = asked.time[:, None] - np.stack([time for time, _ in pairs], axis=1)
        values = np.stack([value for _, value in pairs], axis=1)
        _, _, after, following = neighbours(history, asked)
        known = history.known(owner, position)
        count = np.where(known, position - history.offsets[owner] + 1, 0)
        mean, spread, weight = (_gathered(table, position, known) for table in (faded.mean, faded.spread, faded.weight))
        line = interpolated(history, asked)
        near = np.column_stack([values[:, :LAGS], mean, following, line])
        slopes = [recent_slope(values[:, :k], ages[:, :k]) for k in (2, 3, RECENT)]
        facts = np.column_stack([ages[:, :LAGS], after - asked.time, spread, weight, count, *slopes])
        unit = np.sqrt(1.0 + np.nan_to_num(spread[:, -1]) ** 2)
        return Told(simple_forecasts(history, asked, smoothing), near, facts, unit, ~np.isnan(after))

    def brief(self, channel: int, asked: Questions) -> FloatArray:
        """What other channels are told of one: its latest value, age and running means."""
        history, faded = self.histories[channel], self._faded[channel]
        position = history.latest(asked.owner, np.minimum(asked.time, asked.limit))
        time, value = history.at(asked.owner, position)
        mean = _gathered(faded.mean, position, history.known(asked.owner, position))[:, 1::2]
        return np.column_stack([value, asked.time - time, mean, value - mean[:, -1]])

    def common(self, asked: Questions) -> FloatArray:
        """What all channels share: when is asked, how far beyond the last row, and static features."""
        since, ahead = asked.time - self.series.start[asked.owner], np.maximum(asked.time - asked.limit, 0.0)
        static = self.series.static
        return np.column_stack([since, ahead] if static is None else [since, ahead, static[asked.owner]])

    def features(self, channel: int, asked: Questions, told: Told, base: FloatArray) -> Features:
        """What is known of the channel as departures from its simple forecast, then of the others.

        The columns behind are for linear models, which cannot know by themselves that values mean less as they age.
        """
        near = (told.near - base[:, None]) / told.unit[:, None]
        others = [self.brief(c, asked) for c in range(len(self.histories)) if c != channel]
        trees = np.column_stack([base, told.unit, near, told.facts, self.common(asked), *others])
        fading = np.exp(-told.facts[:, :1] / self.memories[len(self.memories) // 2])
        return Features(np.column_stack([trees, near * fading]), trees.shape[1], told.unit)

    def at(self, times: FloatArray, most: int) -> Iterator[Questions]:
        """Every query [n, K], all rows being seen, at most so many at once."""
        n, k = times.shape
        owner, time = np.repeat(np.arange(n), k), times.ravel()
        for first in range(0, n * k, most):
            part = slice(first, first + most)
            yield Questions(owner[part], time[part], self.series.ends[owner[part]])


def _gathered(table: FloatArray, position: IntArray, known: BoolArray) -> FloatArray:
    if not len(table):
        return np.full((len(position), table.shape[1]), np.nan)
    return np.where(known[:, None], table[np.where(known, position, 0)], np.nan)
