"""Many questions from few series: each value is asked for again and again, with the series cut at other times."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from denots.data.series import SeriesSet
from denots.shapes import FloatArray, IntArray
from denots.tasks.simple_forecasts import Questions


class Exercise(NamedTuple):
    """What is seen of the series, and questions about one channel with their answers."""

    thinned: bool
    asked: Questions
    answers: FloatArray


def thin(series: SeriesSet) -> SeriesSet:
    """Every second row of each series, beginning with its first."""
    position = np.arange(len(series.times)) - np.repeat(series.offsets[:-1], series.lengths)
    kept = position % 2 == 0
    return replace(
        series,
        times=series.times[kept],
        values=series.values[kept],
        offsets=np.concatenate([[0], np.cumsum((series.lengths + 1) // 2)]).astype(np.int64),
    )


def draw_exercises(series: SeriesSet, channel: int, count: int, rng: np.random.Generator) -> list[Exercise]:
    """Questions about a channel: half beyond a cut with all rows before it seen, the others with every second one.

    Of those, half lie beyond the cut and half before it, at rows that are not seen. A value is asked for at most eight times in each way.
    """
    column = series.values[:, channel].astype(np.float64)
    observed = np.flatnonzero(~np.isnan(column))
    owner = series.owner()
    first = series.offsets[:-1][owner]
    position = np.arange(len(column)) - first
    found = []
    for thinned, between, share in ((False, False, 2), (True, False, 4), (True, True, 4)):
        last = series.lengths[owner] - 1
        if between:
            able = (position % 2 == 1) & (position + 1 <= last)
        else:
            able = position >= 1
        rows = observed[able[observed]]
        if not len(rows):
            continue
        rows = rng.permutation(np.tile(rows, 8))[: count // share] if len(rows) * 8 > count // share else np.tile(rows, 8)
        cut = _cuts(rng, position[rows], last[rows], thinned, between)
        asked = Questions(owner[rows], series.times[rows], series.times[first[rows] + cut])
        found.append(Exercise(thinned, asked, column[rows]))
    return found


def _cuts(rng: np.random.Generator, position: IntArray, last: IntArray, thinned: bool, between: bool) -> IntArray:
    """The last seen row of each question: any earlier one, or for a question between rows any later one."""
    step = 2 if thinned else 1
    low = (position + 1) // step if between else np.zeros_like(position)
    high = last // step if between else (position - 1) // step
    drawn = low + np.floor(rng.random(len(position)) * (high - low + 1)).astype(np.int64)
    return step * np.minimum(drawn, high)
