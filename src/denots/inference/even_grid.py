"""An even grid for series whose times are not: as fine as the usual step between two of their rows."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from denots import kernels
from denots.data.series import SeriesSet
from denots.inference.drive import Drive
from denots.shapes import FloatArray

SHORT_STEP = 0.1  # quantile of the steps between rows: rows that were lost leave longer ones behind
MOST_LONGER = 4.0  # points, in rows of a long series: bursts of rows do not make the whole grid fine
LONG = 0.9  # quantile of lengths and spans


@dataclass(frozen=True, slots=True, eq=False)
class EvenGrid:
    """Series are joined by straight lines, on the scale and the clock of a drive, and read at so many even times."""

    drive: Drive
    points: int

    @classmethod
    def fit(cls, series: SeriesSet, fewest: int, most: int) -> "EvenGrid":
        drive = Drive.fit(series)
        return cls(drive, int(np.clip(usual_points(series, drive), fewest, most)))

    def read(self, series: SeriesSet) -> FloatArray:
        """Values [n, C, points]; those of a series depend on it alone."""
        return kernels.sample_evenly(self.points, **self.drive.signals(series, "linear")._asdict())

    def state(self) -> dict[str, np.ndarray]:
        return {**self.drive.state(), "points": np.array(self.points)}

    @classmethod
    def restore(cls, state: Mapping[str, np.ndarray]) -> "EvenGrid":
        return cls(Drive.restore(state), int(state["points"]))


def usual_points(series: SeriesSet, drive: Drive) -> int:
    """How many points a long series has if its rows are as far apart as they are where none is missing."""
    steps = np.diff(series.times)
    inner = np.ones(len(steps), dtype=bool)
    inner[series.offsets[1:-1] - 1] = False
    steps = steps[inner & (steps > 0)]
    rows = float(np.quantile(series.lengths, LONG))
    if not len(steps):
        return int(rows)
    spans = series.ends - series.times[series.offsets[:-1]]
    span = drive.end - drive.start if np.isfinite(drive.end) else float(np.quantile(spans, LONG))
    return 1 + round(min(span / float(np.quantile(steps, SHORT_STEP)), MOST_LONGER * rows))
