"""A signal per series as arrays: values and slopes on each series' own grid. `paths.Path` is the same for torch."""

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from denots import kernels
from denots.data.series import SeriesSet
from denots.shapes import BoolArray, FloatArray, IntArray

Kind = Literal["natural_cubic", "causal_hermite", "linear"]

ROUNDING = 1e-9  # what double precision leaves of a curvature that is the same on both sides of a knot


class Curve(NamedTuple):
    """Piecewise cubics, described by value and slope at each knot; `paths.Path` says what each part means."""

    times: FloatArray  # [N] float64
    values: FloatArray  # [N, C]
    slopes: FloatArray  # [N, C]
    begin: IntArray  # [n]
    end: IntArray  # [n]
    t0: FloatArray  # [n] float64
    t1: FloatArray  # [n] float64
    present: BoolArray  # [n, C]

    def scale_time(self, factor: float) -> "Curve":
        """The same signal, told `factor` times as slowly."""
        return self._replace(
            times=self.times * factor, t0=self.t0 * factor, t1=self.t1 * factor, slopes=self.slopes / factor
        )

    def values_at(self, times: FloatArray) -> FloatArray:
        """The signal of each series [n, K, C] at times of its own [n, K]; held before the first knot and after the last."""
        moments = np.clip(times, self.times[self.begin][:, None], self.times[self.end - 1][:, None])
        before = np.empty(times.shape, np.int64)
        for row, (begin, end) in enumerate(zip(self.begin.tolist(), self.end.tolist(), strict=True)):
            before[row] = begin + np.searchsorted(self.times[begin:end], moments[row], side="right") - 1
        after = np.minimum(before + 1, self.end[:, None] - 1)
        width = np.where(after > before, self.times[after] - self.times[before], 1.0)
        u = ((moments - self.times[before]) / width).astype(self.values.dtype)[..., None]
        width = width.astype(self.values.dtype)[..., None]
        v, w, k, m = self.values[before], self.values[after], self.slopes[before] * width, self.slopes[after] * width
        rise = w - v
        return v + u * (rise + (1 - u) * ((k - rise) * (1 - u) + (rise - m) * u))

    def to(self, dtype: np.dtype[np.floating]) -> "Curve":
        """The same signal with values and slopes rounded to a type."""
        return self._replace(values=self.values.astype(dtype, copy=False), slopes=self.slopes.astype(dtype, copy=False))


def fit_cubic(series: SeriesSet, kind: Kind, dtype: np.dtype[np.floating]) -> Curve:
    """Round values to a type, fit those in double precision, round the slopes."""
    value, before, after = kernels.fit_splines(
        kind, series.offsets, series.times, series.values.astype(dtype, copy=False)
    )
    return join_sides(series, (value, before), (value, after))


def fit_steps(series: SeriesSet, dtype: np.dtype[np.floating]) -> Curve:
    """Each value holds until the next one is observed, then jumps."""
    after = _latest_observed(series).astype(dtype)
    before = np.concatenate([after[:1], after[:-1]])
    before[series.offsets[:-1]] = after[series.offsets[:-1]]
    flat = np.zeros_like(after)
    return join_sides(series, (before, flat), (after, flat))


CURVES: dict[str, Callable[..., Curve]] = {
    "natural-cubic": partial(fit_cubic, kind="natural_cubic"),
    "causal-hermite": partial(fit_cubic, kind="causal_hermite"),
    "linear": partial(fit_cubic, kind="linear"),
    "rectilinear": fit_steps,
}


def join_sides(series: SeriesSet, left: tuple[FloatArray, FloatArray], right: tuple[FloatArray, FloatArray]) -> Curve:
    """A curve from its (value, slope) just before and just after each time stamp.

    Where the two sides differ, the time gets two knots.
    """
    first, last = series.offsets[:-1], series.offsets[1:] - 1
    bends = (left[1] != right[1]).any(axis=1)
    bends[first] = bends[last] = False  # outside the series nothing is left to bend
    twice = bends | (left[0] != right[0]).any(axis=1)
    ends = np.concatenate([[0], np.cumsum(1 + twice)])
    rows = np.repeat(np.arange(len(twice)), 1 + twice)
    takes_right = np.zeros(len(rows), dtype=bool)
    takes_right[ends[1:] - 1] = True
    takes_right[ends[1:][last] - 1] = twice[last]
    side = takes_right[:, None]
    return Curve(
        times=series.times[rows],
        values=np.where(side, right[0][rows], left[0][rows]),
        slopes=np.where(side, right[1][rows], left[1][rows]),
        begin=ends[series.offsets[:-1]],
        end=ends[series.offsets[1:]],
        t0=series.start.copy(),
        t1=series.ends,
        present=np.logical_or.reduceat(~np.isnan(series.values), series.offsets[:-1]),
    )


@np.errstate(over="ignore", invalid="ignore")
def append_slopes(curve: Curve, scale: FloatArray) -> Curve:
    """The curve with the slopes of its first `len(scale)` channels, each divided by its scale, as channels.

    The slope of a cubic is a parabola, which is its own Hermite cubic, so nothing is approximated; where it
    has a kink, the knot stands twice. It takes a curve as fitted, in float64, because curvatures are differences
    over short times. Outside the knots slopes are held like every channel.
    """
    before, after = _curvatures(curve, len(scale))
    bends = (before != after).any(axis=1)
    ends = np.cumsum(1 + bends)
    rows = np.repeat(np.arange(len(bends)), 1 + bends)
    is_last = np.zeros(len(rows), dtype=bool)
    is_last[ends - 1] = True
    curvature = np.where(is_last[:, None], after[rows], before[rows])
    return curve._replace(
        times=curve.times[rows],
        values=np.concatenate([curve.values[rows], curve.slopes[rows, : len(scale)] / scale], axis=1),
        slopes=np.concatenate([curve.slopes[rows], curvature / scale], axis=1),
        begin=(ends - 1 - bends)[curve.begin],
        end=ends[curve.end - 1],
        present=np.concatenate([curve.present, curve.present[:, : len(scale)]], axis=1),
    )


def _curvatures(curve: Curve, channels: int) -> tuple[FloatArray, FloatArray]:
    """Second derivatives just before and just after each knot; the same where they agree or there is one side only."""
    v, s = curve.values[:, :channels], curve.slopes[:, :channels]
    width = np.diff(curve.times)[:, None]
    inner = width > 0
    inner[curve.begin[1:] - 1] = False  # not from one series to the next
    width = np.where(inner, width, 1.0)
    rise, start, end = np.diff(v, axis=0), s[:-1] * width, s[1:] * width
    none = np.full_like(v[:1], np.nan)
    after = np.concatenate([np.where(inner, (6 * rise - 4 * start - 2 * end) / width**2, np.nan), none])
    before = np.concatenate([none, np.where(inner, (2 * start + 4 * end - 6 * rise) / width**2, np.nan)])
    size = (np.abs(v[1:]) + np.abs(v[:-1]) + np.abs(start) + np.abs(end)) / width**2
    size = np.maximum(np.concatenate([np.zeros_like(none), size]), np.concatenate([size, np.zeros_like(none)]))
    early, late = np.isnan(before), np.isnan(after)
    middle = np.nan_to_num(np.where(early, after, np.where(late, before, (before + after) / 2)))
    smooth = early | late | (np.abs(before - after) <= ROUNDING * size)
    return np.where(smooth, middle, before), np.where(smooth, middle, after)


def _latest_observed(series: SeriesSet) -> FloatArray:
    """Every channel filled forward, its leading hole filled backward, zero if never observed."""
    rows = np.arange(len(series.times))[:, None]
    seen = ~np.isnan(series.values)
    begin = np.repeat(series.offsets[:-1], series.lengths)[:, None]
    latest = np.maximum.accumulate(np.where(seen, rows, -1), axis=0)
    past_end = len(series.times)
    first = np.minimum.reduceat(np.where(seen, rows, past_end), series.offsets[:-1])
    source = np.where(latest >= begin, latest, np.repeat(first, series.lengths, axis=0))
    never = source == past_end
    filled = np.take_along_axis(series.values, np.where(never, 0, source), axis=0)
    return np.where(never, 0.0, filled)
