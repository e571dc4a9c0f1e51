"""Many questions from few series: each value is asked for again and again, with the series cut at other times."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from denots.data.series import SeriesSet
from denots.shapes import FloatArray, IntArray
from denots.tasks.simple_forecasts import Questions

REPEATS = 8


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
    """Questions about a channel: half beyond a late cut with all rows before it seen, the others with every second one.

    People ask about series of which they have much, so the late cuts spare the first sixth. Of the other questions
    half lie beyond any cut and half before it, at rows that are not seen. A value is asked for at most `REPEATS`
    times in each way.
    """
    column = series.values[:, channel].astype(np.float64)
    known = ~np.isnan(column)
    owner = series.owner()
    first, last = series.offsets[owner], series.lengths[owner] - 1
    position = np.arange(len(column)) - first
    late = (last + 1) // 6
    ways = (  # whether thinned, which rows can be asked for, between which rows the cut lies, how many questions
        (False, position > late, late, position - 1, count // 2),
        (True, position >= 1, np.zeros_like(last), position - 1, count // 4),
        (True, (position % 2 == 1) & (position < last), position + 1, last, count // 4),
    )
    found = []
    for thinned, able, low, high, wanted in ways:
        rows = rng.permutation(np.tile(np.flatnonzero(able & known), REPEATS))[: max(wanted, 1)]
        if len(rows):
            cut = _drawn(rng, low[rows], high[rows], step=2 if thinned else 1)
            asked = Questions(owner[rows], series.times[rows], series.times[first[rows] + cut])
            found.append(Exercise(thinned, asked, column[rows]))
    return found


def _drawn(rng: np.random.Generator, low: IntArray, high: IntArray, step: int) -> IntArray:
    """A multiple of the step from low to high, each as likely; low is a multiple itself, or the step is one."""
    choices = high // step - low // step + 1
    return step * (low // step + np.minimum(np.floor(rng.random(len(low)) * choices).astype(np.int64), choices - 1))
