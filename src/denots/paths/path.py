"""A continuous signal per series: values and slopes on each series' own grid."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Bool, Float, Float64, Int
from torch import Tensor

from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.inference import curve
from denots.inference.curve import Curve


@dataclass(frozen=True, eq=False)
class Path:
    """Piecewise cubics, described by value and slope at each knot; fitted once, then only read.

    Between two knots the curve is the cubic with these end values and slopes, so one index and
    four weights serve all channels of a series. A time may stand twice in the grid: the curve
    then has a kink (other slope) or a jump (other value) there. Before the first knot and after
    the last one the curve is held. A channel that a series never observed is zero and not
    `present`. Series i owns the knots `begin[i]` to `end[i]`; a selection shares them.
    """

    times: Float64[Tensor, " N"]
    values: Float[Tensor, "N C"]
    slopes: Float[Tensor, "N C"]
    begin: Int[Tensor, " n"]
    end: Int[Tensor, " n"]
    t0: Float64[Tensor, " n"]
    t1: Float64[Tensor, " n"]
    present: Bool[Tensor, "n C"]

    def __len__(self) -> int:
        return len(self.begin)

    def value(self, t: Float64[Tensor, " B"], rows: Int[Tensor, " B"] | None = None) -> Float[Tensor, "B C"]:
        """The signal of series `rows` (default: all, in order) at one time each."""
        before, after, width, u = self._locate(t, rows)
        v, w, k, m = self.values[before], self.values[after], self.slopes[before] * width, self.slopes[after] * width
        rise = w - v
        return v + u * (rise + (1 - u) * ((k - rise) * (1 - u) + (rise - m) * u))

    def derivative(self, t: Float64[Tensor, " B"], rows: Int[Tensor, " B"] | None = None) -> Float[Tensor, "B C"]:
        """Its slope; zero where the signal is held."""
        before, after, width, u = self._locate(t, rows)
        rise = self.values[after] - self.values[before]
        bend, twist = self.slopes[before] * width - rise, rise - self.slopes[after] * width
        slope = (rise + (1 - 2 * u) * (bend * (1 - u) + twist * u) + u * (1 - u) * (twist - bend)) / width
        inner = (t >= self._first_knot(rows)) & (t <= self._last_knot(rows))
        return torch.where(inner[:, None], slope, 0.0)

    def next_knot(self, t: Float64[Tensor, " B"], rows: Int[Tensor, " B"]) -> Float64[Tensor, " B"]:
        """The first knot of each of these series after a time; infinite after the last one."""
        grid = torch.nn.functional.pad(self._grid[rows], (0, 1), value=torch.inf)
        return grid.gather(1, torch.searchsorted(grid, t[:, None], right=True)).squeeze(1)

    def scale_time(self, factor: float) -> "Path":
        """The same signal, told `factor` times as slowly."""
        if not (np.isfinite(factor) and factor > 0):
            raise InvalidOption(f"time is scaled by a positive number; got {factor}.")
        return replace(
            self, times=self.times * factor, t0=self.t0 * factor, t1=self.t1 * factor, slopes=self.slopes / factor
        )

    def to(self, dtype: torch.dtype) -> "Path":
        """The same paths with values and slopes rounded to a type."""
        return replace(self, values=self.values.to(dtype), slopes=self.slopes.to(dtype))

    def select(self, rows: npt.ArrayLike | Int[Tensor, " B"]) -> "Path":
        """The paths of the given series, in the given order; knots are shared, not copied."""
        chosen = torch.as_tensor(rows)
        picked = (part[chosen] for part in (self.begin, self.end, self.t0, self.t1, self.present))
        return Path(self.times, self.values, self.slopes, *picked)

    def packed(self) -> "Path":
        """The same paths with knots of their own, end to end."""
        lengths = self.end - self.begin
        end = lengths.cumsum(0)
        knots = torch.arange(int(lengths.sum())) + torch.repeat_interleave(self.begin - (end - lengths), lengths)
        return replace(
            self,
            times=self.times[knots],
            values=self.values[knots],
            slopes=self.slopes[knots],
            begin=end - lengths,
            end=end,
        )

    @cached_property
    def _grid(self) -> Float64[Tensor, "n L"]:
        """Knot times as a rectangle, infinite where a series has no more knots."""
        place = torch.arange(int((self.end - self.begin).max()))
        knots = self.begin[:, None] + place
        return torch.where(knots < self.end[:, None], self.times[knots.clamp_max(len(self.times) - 1)], torch.inf)

    def _first_knot(self, rows: Tensor | None) -> Tensor:
        first = self.times[self.begin]
        return first if rows is None else first[rows]

    def _last_knot(self, rows: Tensor | None) -> Tensor:
        last = self.times[self.end - 1]
        return last if rows is None else last[rows]

    def _locate(self, t: Tensor, rows: Tensor | None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Knots before and after `t`, their distance, and where `t` lies between them in [0, 1].

        At or beyond the last knot both are that knot and the position is zero.
        """
        grid, begin, end = self._grid, self.begin, self.end
        if rows is not None:
            grid, begin, end = grid[rows], begin[rows], end[rows]
        t = torch.minimum(torch.maximum(t, self._first_knot(rows)), self._last_knot(rows))
        before = begin + torch.searchsorted(grid, t[:, None], right=True).squeeze(1) - 1
        after = torch.minimum(before + 1, end - 1)
        width = torch.where(after > before, self.times[after] - self.times[before], 1.0)
        u = (t - self.times[before]) / width
        return before, after, width.to(self.values.dtype)[:, None], u.to(self.values.dtype)[:, None]


def path_of(fitted: Curve) -> Path:
    """The same for torch."""
    return Path(*map(torch.from_numpy, fitted))


def join_sides(
    series: SeriesSet,
    left: tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]],
    right: tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]],
) -> Path:
    """A path from the (value, slope) of the curve just before and just after each time stamp.

    Where the two sides differ, the time gets two knots.
    """
    return path_of(curve.join_sides(series, left, right))
