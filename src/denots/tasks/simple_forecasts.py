"""Forecasts that need no model: what everybody would try first, and every model must beat."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from denots.data.history import History
from denots.data.series import SeriesSet
from denots.shapes import BoolArray, FloatArray, IntArray

RECENT = 8  # values in the mean of the last eight, and in the slope of the trend
PRIORS = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
MEMORIES = 7
LAST, RECENT_MEAN, RUNNING_MEAN, DAMPED_TREND, INTERPOLATION = (
    "last value",
    "mean of the last eight",
    "running mean",
    "damped trend",
    "interpolation",
)


class Questions(NamedTuple):
    """Which series is asked, for what time, and until when it was seen; an array [Q] each."""

    owner: IntArray
    time: FloatArray
    limit: FloatArray

    def select(self, rows: BoolArray) -> "Questions":
        return Questions(self.owner[rows], self.time[rows], self.limit[rows])


@dataclass(frozen=True)
class Smoothing:
    """What the simple forecasts of one channel learn.

    mean: of the channel, in training.
    memory: after which an observation weighs 1/e of a new one in the running mean.
    prior: how many new observations the training mean weighs there; it takes over as the others fade.
    damping: after which the trend has faded to 1/e; 0 is no trend.
    """

    mean: float
    memory: float
    prior: float
    damping: float


def memories_of(series: SeriesSet) -> FloatArray:
    """Memories from the usual gap between rows to the usual span of a series."""
    gaps = np.diff(series.times)[np.diff(series.owner()) == 0]
    spans = series.spans[series.spans > 0]
    longest = float(np.median(spans)) if len(spans) else 1.0
    shortest = min(float(np.median(gaps)), longest) if len(gaps) else longest
    return np.geomspace(shortest, longest, MEMORIES)


def learn_smoothing(
    history: History, asked: Questions, answers: FloatArray, memories: FloatArray, mean: float
) -> Smoothing:
    """The memory, prior and damping of least squared error; of equal ones the first."""
    neutral = Smoothing(mean, float(memories[-1]), PRIORS[-1], 0.0)
    position = history.latest(asked.owner, np.minimum(asked.time, asked.limit))
    usable = history.known(asked.owner, position) & ~np.isnan(answers)
    if not usable.any():
        return neutral
    asked = asked.select(usable)
    recent = _Recent.of(history, asked)
    answers = answers[usable]

    def error(given: FloatArray) -> float:
        return float(np.mean(np.square(given - answers)))

    running = {
        (memory, prior): error(given)
        for memory in memories.tolist()
        for prior, given in zip(PRIORS, _running(history, recent, memory, PRIORS, mean), strict=True)
    }
    memory, prior = min(running, key=lambda pair: running[pair])
    trends = {damping: error(recent.trend(damping)) for damping in (0.0, *memories.tolist())}
    return Smoothing(mean, memory, prior, min(trends, key=lambda damping: trends[damping]))


def simple_forecasts(history: History, asked: Questions, smoothing: Smoothing) -> dict[str, FloatArray]:
    """Every simple forecast by its name; the mean of the channel where nothing was seen of it."""
    recent = _Recent.of(history, asked)
    (running,) = _running(history, recent, smoothing.memory, (smoothing.prior,), smoothing.mean)
    found = {
        LAST: recent.values[:, 0],
        RECENT_MEAN: recent.mean(),
        RUNNING_MEAN: running,
        DAMPED_TREND: recent.trend(smoothing.damping),
        INTERPOLATION: interpolated(history, asked),
    }
    return {name: np.where(np.isnan(given), smoothing.mean, given) for name, given in found.items()}


def interpolated(history: History, asked: Questions) -> FloatArray:
    """On the line between the neighbours of a time; held beyond the last one, NaN before the first."""
    before, x0, after, x1 = neighbours(history, asked)
    share = (asked.time - before) / (after - before)
    return np.where(np.isnan(after), x0, x0 + (x1 - x0) * share)


def neighbours(history: History, asked: Questions) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Time and value of the observation before each question and of the one after it, NaN where none was seen."""
    position = history.latest(asked.owner, np.minimum(asked.time, asked.limit))
    before, x0 = history.at(asked.owner, position)
    after, x1 = history.at(asked.owner, position + 1)
    unseen = ~(after <= asked.limit)
    return before, x0, np.where(unseen, np.nan, after), np.where(unseen, np.nan, x1)


def smoothing_state(smoothing: Sequence[Smoothing]) -> list[dict[str, float]]:
    return [asdict(one) for one in smoothing]


def restore_smoothing(state: Any) -> tuple[Smoothing, ...]:
    return tuple(Smoothing(**{name: float(number) for name, number in one.items()}) for one in state)


@dataclass(frozen=True, slots=True, eq=False)
class _Recent:
    """The last values before each question, newest first, and how old they are then; NaN where there are fewer."""

    owner: IntArray
    position: IntArray
    values: FloatArray  # [Q, RECENT]
    ages: FloatArray  # [Q, RECENT]

    @classmethod
    def of(cls, history: History, asked: Questions) -> "_Recent":
        position = history.latest(asked.owner, np.minimum(asked.time, asked.limit))
        pairs = [history.at(asked.owner, position - lag) for lag in range(RECENT)]
        values = np.stack([value for _, value in pairs], axis=1)
        return cls(asked.owner, position, values, asked.time[:, None] - np.stack([t for t, _ in pairs], axis=1))

    def mean(self) -> FloatArray:
        count = summed(~np.isnan(self.values))
        return np.where(count > 0, summed(np.nan_to_num(self.values)) / np.maximum(count, 1), np.nan)

    def trend(self, damping: float) -> FloatArray:
        last, age = self.values[:, 0], self.ages[:, 0]
        if not damping:
            return last
        return last + recent_slope(self.values, self.ages) * damping * (1 - np.exp(-age / damping))


def recent_slope(values: FloatArray, ages: FloatArray) -> FloatArray:
    """The slope of the least-squares line through the values [Q, k] that are there; 0 through fewer than two."""
    seen = ~np.isnan(values)
    count = np.maximum(summed(seen), 1)[:, None]
    time, value = np.where(seen, -ages, 0.0), np.where(seen, values, 0.0)
    time = np.where(seen, time - summed(time)[:, None] / count, 0.0)
    value = np.where(seen, value - summed(value)[:, None] / count, 0.0)
    moment = summed(time * time)
    return np.where(moment > 0, summed(time * value) / np.where(moment > 0, moment, 1.0), 0.0)


def summed(table: np.ndarray) -> FloatArray:
    """Sums of rows, column by column: in the same order however many rows there are."""
    total = np.zeros(len(table))
    for column in table.T:
        total = total + column
    return total


def _running(
    history: History, recent: _Recent, memory: float, priors: Sequence[float], mean: float
) -> list[FloatArray]:
    """The running mean of one memory, with the training mean as so many observations more."""
    memories = np.array([memory])
    weight, total = (
        history.decayed(amounts, memories)[:, 0] for amounts in (np.ones_like(history.values), history.values)
    )
    known = history.known(recent.owner, recent.position)
    if not known.any():
        return [np.full(len(known), np.nan)] * len(priors)
    place = np.where(known, recent.position, 0)
    own = np.where(known, total[place] / weight[place], np.nan)
    left = weight[place] * np.exp(-np.where(known, recent.ages[:, 0], 0.0) / memory)
    return [(own * left + prior * mean) / (left + prior) if prior else own for prior in priors]
