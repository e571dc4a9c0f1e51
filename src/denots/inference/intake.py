"""What every backbone does to observations before it reads them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from denots.data.series import SeriesSet
from denots.data.transforms import (
    Standardiser,
    append_ages,
    append_presence,
    append_time_differences,
    append_times,
    scale_clock,
)
from denots.shapes import FloatArray

Widening = Callable[[SeriesSet], SeriesSet]
TimeChannel = Literal["differences", "stamps", "none"]

_TIME_CHANNELS: dict[TimeChannel, Widening] = {
    "differences": append_time_differences,
    "stamps": append_times,
    "none": lambda series: series,
}


@dataclass(frozen=True, slots=True, eq=False)
class Intake:
    """Count time in median spans, add channels for time and presence, standardise; `backbones.Intake` learns it.

    `marks` is how presence is told: by ones and zeros, or as counts that grow; None leaves it out. `ages` tells when each
    channel was seen before.
    """

    channels: int
    time: TimeChannel
    marks: Widening | None
    ages: bool
    time_scale: float
    centre: FloatArray
    scale: FloatArray
    static_centre: FloatArray
    static_scale: FloatArray

    @classmethod
    def restore(
        cls, arrays: Mapping[str, FloatArray], channels: int, *, time: TimeChannel, presence: bool, ages: bool
    ) -> "Intake":
        """What stands among the weights of a backbone."""
        own = {name: arrays[f"intake.{name}"] for name in ("centre", "scale", "static_centre", "static_scale")}
        marks = append_presence if presence else None
        return cls(channels, time, marks, ages, float(arrays["intake.time_scale"]), **own)

    def observations(self, series: SeriesSet) -> SeriesSet:
        """The series as the model sees it, in float64: on its own clock, widened and standardised."""
        widened = self.widened(series)
        values = Standardiser(self.centre, self.scale).apply(widened.values.astype(np.float64, copy=False))
        return replace(widened, values=values)

    def static(self, series: SeriesSet) -> FloatArray:
        """Standardised static features in float64; an unknown one takes the training mean."""
        if series.static is None or not len(self.static_centre):
            return np.zeros((len(series), 0))
        return self.static_rows(series.static)

    def static_rows(self, static: FloatArray) -> FloatArray:
        """The same for a row of numbers a series."""
        return np.nan_to_num(Standardiser(self.static_centre, self.static_scale).apply(static.astype(np.float64)))

    def widened(self, series: SeriesSet) -> SeriesSet:
        clocked = scale_clock(series, 1.0 / self.time_scale)
        marked = clocked if self.marks is None else self.marks(clocked)
        if self.ages:
            marked = append_ages(marked, self.channels)
        return _TIME_CHANNELS[self.time](marked)
