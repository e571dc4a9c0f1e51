"""How much answers suffer when observations are lost, noisy or wrongly dated."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch

from denots.card.judged import Judged
from denots.data.series import SeriesSet
from denots.data.transforms import spreads
from denots.pages.chart import Chart, Line
from denots.shapes import FloatArray
from denots.tasks import Part
from denots.tasks.scores import interval

MOST_SERIES, RESAMPLES, CONFIDENCE = 500, 100, 0.95

Disturb = Callable[[SeriesSet, float, np.random.Generator], SeriesSet]


def drop_values(series: SeriesSet, share: float, rng: np.random.Generator) -> SeriesSet:
    """Each observed value is lost with this chance, whatever its channel; a series that would lose all keeps one."""
    seen = ~np.isnan(series.values)
    luck = np.where(seen, rng.random(seen.shape), -1.0)
    lost = seen & (luck < share)
    best = luck.max(axis=1)
    ends = np.maximum.reduceat(best, series.offsets[:-1])
    saved = seen & (luck == np.repeat(ends, series.lengths)[:, None])
    return replace(series, values=np.where(lost & ~saved, np.nan, series.values).astype(series.values.dtype))


def add_noise(series: SeriesSet, strength: float, rng: np.random.Generator) -> SeriesSet:
    """Normal noise on each observed value, in units of the standard deviation of its channel over these series."""
    _, spread = spreads(series.values.astype(np.float64))
    noise = rng.standard_normal(series.values.shape) * spread * strength
    return replace(series, values=(series.values + noise).astype(series.values.dtype))


def jitter_times(series: SeriesSet, strength: float, rng: np.random.Generator) -> SeriesSet:
    """Normal noise on each time, in units of the mean step of its series; rows are then in their new order.

    No time comes before the start of its series: what would is as much later.
    """
    first = series.times[series.offsets[:-1]]
    steps = (series.ends - first) / np.maximum(series.lengths - 1, 1)
    start, owner = np.repeat(series.start, series.lengths), series.owner()
    moved = series.times + rng.standard_normal(len(series.times)) * np.repeat(steps, series.lengths) * strength
    moved = start + np.abs(moved - start)
    order = np.lexsort((moved, owner))
    times = moved[order]
    tied = np.zeros(len(times), dtype=bool)
    tied[1:] = (np.diff(times) <= 0) & (np.diff(owner) == 0)
    kept = np.isin(owner, owner[tied])  # rounding may make two times one: such a series stays as it is
    rows = np.where(kept, np.arange(len(times)), order)
    return replace(series, times=np.where(kept, series.times, times), values=series.values[rows])


@dataclass(frozen=True)
class Disturbance:
    """One way to spoil series, by strengths from nothing on."""

    title: str
    label: str
    strengths: tuple[float, ...]
    apply: Disturb


DISTURBANCES = (
    Disturbance("Lost observations.", "share of values lost", (0.0, 0.1, 0.25, 0.5, 0.75, 0.9), drop_values),
    Disturbance("Noisy values.", "noise, in standard deviations", (0.0, 0.1, 0.25, 0.5, 1.0), add_noise),
    Disturbance("Wrong times.", "shift of times, in steps", (0.0, 0.25, 0.5, 1.0, 2.0), jitter_times),
)


def sample(judged: Judged) -> Part:
    """The series that are spoilt, a part of those that are judged."""
    n = len(judged.part)
    rows = np.sort(np.random.default_rng(1).choice(n, min(n, MOST_SERIES), replace=False))
    return judged.part.select(rows)


def measure(judged: Judged, part: Part, kind: Disturbance, strength: float) -> tuple[float, float, float]:
    """The metric of the task on spoilt series, and its interval; NaN where it is not defined."""
    task = judged.task
    series = kind.apply(part.series, strength, np.random.default_rng(2)) if strength else part.series
    with torch.inference_mode():
        outputs = judged.model.fitted_.outputs(series, part.at).outputs.double()
    told = task.compare(outputs, part)
    judge, rng, name = task.judge(told.answers, told.truth), np.random.default_rng(3), task.metric_name
    value = judge(np.arange(len(part)))[name]
    if math.isnan(value):
        return value, value, value
    again = [judge(rng.integers(0, len(part), len(part)))[name] for _ in range(RESAMPLES)]
    return (value, *interval(value, np.array(again), CONFIDENCE))


def chart(judged: Judged, kind: Disturbance, found: FloatArray) -> Chart:
    """The metric against the strength [strengths, 3], beside that of the trivial answer."""
    x, task = np.array(kind.strengths), judged.task
    trivial = judged.scores.metrics[task.metric_name].baseline
    lines = (
        Line(task.baseline, x, np.full(len(x), trivial), "guide"),
        Line("model", x, found[:, 0], "line", found[:, 1], found[:, 2]),
    )
    return Chart(kind.title, kind.label, task.metric_name, lines)
