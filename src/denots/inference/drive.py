"""What features are driven by: a series on a common scale and a common clock, as a signal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from denots import kernels
from denots.data.series import SeriesSet
from denots.data.transforms import Standardiser, append_counts, append_times
from denots.inference.curve import CURVES, Curve
from denots.registry import lookup
from denots.shapes import FloatArray, IntArray

SHARED_CLOCK = 0.25  # of a median span: starts that differ by less belong to one clock
# So do those that rows lost at random explain: but for 1 % a wait is no longer than so many usual steps. They may be no
# larger a part of a median span.
LOST_STEPS, MOST_LOST = 4.6, 0.5


class Signals(NamedTuple):
    """Piecewise cubics of many series as the kernels read them; `spans` is how long each of them is.

    Without slopes they are straight lines.
    """

    begins: IntArray
    ends: IntArray
    times: FloatArray
    values: FloatArray
    slopes: FloatArray
    spans: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Drive:
    """Learnt from training series, then the same for all.

    Channels are standardised; beside each that has holes runs the count of its observations so far. Where
    all series began and ended at about the same time, observed or not, each is held from that start to
    that end: what is missing at either side would otherwise shift its clock.

    counted, timed: whether counts run along, and the clock itself. start, end: of the common clock, NaN where
    there is none.
    """

    scale: Standardiser
    counted: bool
    timed: bool
    start: float
    end: float
    span: float

    def state(self) -> dict[str, FloatArray]:
        clock = np.array([self.counted, self.timed, self.start, self.end, self.span])
        return {"clock": clock, "centre": self.scale.centre, "scale": self.scale.scale}

    @classmethod
    def restore(cls, state: Mapping[str, FloatArray]) -> "Drive":
        counted, timed, start, end, span = state["clock"].tolist()
        return cls(Standardiser(state["centre"], state["scale"]), bool(counted), bool(timed), start, end, span)

    @classmethod
    def fit(cls, series: SeriesSet, *, timed: bool = False) -> "Drive":
        counted = bool(np.isnan(series.values).any())
        first, last = series.times[series.offsets[:-1]], series.ends
        span = float(np.median(last - first))
        step = span / max(1.0, float(np.median(series.lengths)) - 1)
        near = max(SHARED_CLOCK * span, min(LOST_STEPS * step, MOST_LOST * span))
        start, end = float(first.min()), float(last.max())
        shared_start = float(np.quantile(first, 0.99)) - start <= near
        shared_end = shared_start and end - float(np.quantile(last, 0.01)) <= near
        return cls(
            Standardiser.fit(_widened(series, counted, timed).values),
            counted,
            timed,
            start if shared_start else float("nan"),
            end if shared_end else float("nan"),
            span if span > 0 else 1.0,
        )

    def curve(self, series: SeriesSet, kind: str) -> Curve:
        """The series as curves, each with knots of its own."""
        offsets, times, values = self._rows(series)
        driven = SeriesSet(
            times=times,
            values=values,
            offsets=offsets,
            start=series.start if np.isnan(self.start) else times[offsets[:-1]],
            ids=series.ids,
            channels=tuple(map(str, range(values.shape[1]))),
        )
        return lookup(CURVES, kind, "path")(driven, dtype=np.dtype(np.float32))

    def signals(self, series: SeriesSet, kind: str) -> Signals:
        """The same curves for the kernels; straight ones take one knot a row, because no slope has two sides."""
        if kind == "linear":
            offsets, times, values = self._rows(series)
            kernels.fill_straight(offsets, times, values)
            begins, ends, slopes = offsets[:-1], offsets[1:], np.empty((0, values.shape[1]), np.float32)
        else:
            times, values, slopes, begins, ends, *_ = self.curve(series, kind)
        spans = times[ends - 1] - times[begins]
        return Signals(begins, ends, times, values, slopes, np.where(spans > 0, spans, self.span))

    def _rows(self, series: SeriesSet) -> tuple[IntArray, FloatArray, FloatArray]:
        return kernels.drive_rows(
            series.offsets,
            series.times,
            series.values,
            counted=self.counted,
            timed=self.timed,
            centre=self.scale.centre,
            scale=self.scale.scale,
            start=self.start,
            end=self.end,
        )


def _widened(series: SeriesSet, counted: bool, timed: bool) -> SeriesSet:
    widened = append_counts(series) if counted else series
    return append_times(widened) if timed else widened
