"""One series in cells that can be hidden: the observations of a channel in a part of time, and each static feature."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.shapes import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Cells:
    """m cells of one series; those of channels come first, each with at least one observation.

    edges: of the parts of time [P + 1]; a part holds its beginning, and the last one its end.
    places: channel and part of each cell of a channel [cells, 2].
    cell: the cell of each observation [L, C], -1 where nothing was observed.
    static_cell: the cell of each static feature [S], -1 where it is not known.
    """

    series: SeriesSet
    edges: FloatArray
    places: IntArray
    cell: IntArray
    static_cell: IntArray

    @classmethod
    def of(cls, series: SeriesSet, parts: int | Sequence[float]) -> "Cells":
        edges = _edges(series, parts)
        seen = ~np.isnan(series.values)
        part = np.clip(np.searchsorted(edges, series.times, side="right") - 1, 0, len(edges) - 2)
        key = np.arange(len(series.channels)) * (len(edges) - 1) + part[:, None]
        cell = np.full(seen.shape, -1)
        found, cell[seen] = np.unique(key[seen], return_inverse=True)
        places = np.stack(np.divmod(found, len(edges) - 1), axis=1)
        known = np.zeros(0, dtype=bool) if series.static is None else ~np.isnan(series.static[0])
        return cls(series, edges, places, cell, np.where(known, len(found) - 1 + np.cumsum(known), -1))

    def __len__(self) -> int:
        return len(self.places) + int((self.static_cell >= 0).sum())

    def shown(self, coalitions: BoolArray) -> tuple[SeriesSet | None, BoolArray]:
        """A series for each coalition [n, m] in which these cells alone were observed, and which coalitions have one.

        A coalition without any observation has none. Rows in which nothing is left are gone, so that a series may
        end earlier; the start of its clock stays.
        """
        visible = coalitions[:, self.cell] & (self.cell >= 0)
        readable: BoolArray = np.asarray(visible.any(axis=(1, 2)))
        if not readable.any():
            return None, readable
        coalitions, visible = coalitions[readable], visible[readable]
        kept = visible.any(axis=2) | (self.cell < 0).all(axis=1)
        n, series = len(visible), self.series
        return replace(
            series,
            times=np.broadcast_to(series.times, kept.shape)[kept],
            values=np.where(visible[kept], np.broadcast_to(series.values, visible.shape)[kept], np.nan),
            offsets=np.concatenate([[0], np.cumsum(kept.sum(axis=1))]),
            start=np.repeat(series.start, n),
            ids=np.arange(n),
            static=self._shown_static(coalitions),
            target=None,
        ), readable

    def _shown_static(self, coalitions: BoolArray) -> FloatArray | None:
        if self.series.static is None:
            return None
        visible = coalitions[:, self.static_cell] & (self.static_cell >= 0)
        return np.where(visible, self.series.static, np.nan).astype(self.series.static.dtype)


def _edges(series: SeriesSet, parts: int | Sequence[float]) -> FloatArray:
    first, last = float(series.times[0]), float(series.times[-1])
    if isinstance(parts, int):
        if parts < 1:
            raise InvalidOption(f"time is cut into at least one part; got parts={parts}.")
        return np.linspace(first, last, (parts if last > first else 1) + 1)
    borders = np.asarray(parts, dtype=np.float64)
    if borders.ndim != 1 or not np.isfinite(borders).all() or (np.diff(borders) <= 0).any():
        raise InvalidOption(f"borders between parts of time are numbers that increase; got {parts!r:.60}.")
    return np.concatenate([[first], borders[(borders > first) & (borders < last)], [last]])
