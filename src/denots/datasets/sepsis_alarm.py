"""Sepsis hour by hour: the official task of the PhysioNet/CinC Challenge 2019, and its score.

Every hour says whether an alarm is due. An alarm is rewarded from 12 hours before the onset of sepsis, most at 6 hours
before, and until 3 hours after; before that, and for patients without sepsis, it costs a little. Missing a late hour costs
up to two points. Labels begin six hours before the onset.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from denots.data.series import SeriesSet
from denots.datasets.dataset import Parts
from denots.datasets.psv import CHANNELS
from denots.shapes import BoolArray, FloatArray, IntArray

EARLY, BEST, LATE = -12, -6, 3  # hours from the onset
FALSE_ALARM, MISSED = -0.05, -2.0


class Worth(NamedTuple):
    """What an alarm and what silence is worth in each row, and in which rows a perfect alarm rings."""

    alarm: FloatArray
    silence: FloatArray
    ideal: BoolArray

    @classmethod
    def of(cls, labels: FloatArray, offsets: IntArray) -> "Worth":
        """From the labels of all patients, packed, one row an hour."""
        lengths = np.diff(offsets)
        hour = np.arange(len(labels)) - np.repeat(offsets[:-1], lengths)
        ill = np.repeat(np.maximum.reduceat(labels, offsets[:-1]) > 0, lengths)
        first = np.minimum.reduceat(np.where(labels > 0, hour, len(labels)), offsets[:-1])
        since = hour - (np.repeat(first, lengths) - BEST)
        rising = np.maximum((since - EARLY) / (BEST - EARLY), FALSE_ALARM)
        falling = (LATE - since) / (LATE - BEST)
        counts, late = ill & (since <= LATE), since > BEST
        alarm = np.where(counts, np.where(late, falling, rising), 0.0)
        silence = np.where(counts & late, MISSED * (since - BEST) / (LATE - BEST), 0.0)
        return cls(np.where(ill, alarm, FALSE_ALARM), silence, counts & (since >= EARLY))

    @property
    def gain(self) -> FloatArray:
        """How much more an alarm is worth than silence."""
        return self.alarm - self.silence

    def total(self, alarms: BoolArray) -> float:
        return float(np.where(alarms, self.alarm, self.silence).sum())

    def utility(self, alarms: BoolArray) -> float:
        """The official score: 0 for no alarm at all, 1 for the best ones."""
        nothing = self.total(np.zeros(len(alarms), dtype=bool))
        return (self.total(alarms) - nothing) / (self.total(self.ideal) - nothing)


def hourly(parts: Parts) -> dict[str, SeriesSet]:
    """The patients of each hospital with the label of each hour as row target, on the clock of their stay.

    Patients without a single value are left out; there are two.
    """
    return {part: _labelled(series.select(_observed(series))) for part, series in parts.items()}


def _observed(series: SeriesSet) -> BoolArray:
    seen = ~np.isnan(series.values[:, : len(CHANNELS)]).all(axis=1)
    return np.logical_or.reduceat(seen, series.offsets[:-1])


def _labelled(series: SeriesSet) -> SeriesSet:
    return replace(
        series,
        values=series.values[:, : len(CHANNELS)],
        channels=CHANNELS,
        row_target=series.values[:, len(CHANNELS)].astype(np.float64),
        start=np.zeros(len(series)),
    )
