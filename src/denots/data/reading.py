"""What could be read of a table or a list, and what could not."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from denots.data.reject import joint_error
from denots.data.series import SeriesSet
from denots.errors import EmptySeries, Rejected, SkippedSeries
from denots.registry import listed
from denots.shapes import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The series that can be read, as if the rejected ones were not there; `ids` are all, in the order given.

    texts: by id and column, words that are none of the categories that are known; nothing in the series says them.
    whole: the series before parts of them were hidden to be asked for, by which it is judged what is unusual.
    """

    series: SeriesSet
    rejected: tuple[Rejected, ...]
    ids: npt.NDArray[Any]
    texts: Mapping[tuple[Any, str], str] = field(default_factory=dict)
    whole: SeriesSet | None = None

    def in_double(self) -> "Reading":
        """The same in float64, as numbers are pushed to a stream, so that what is told of a row has the same bits there."""
        return replace(self, series=replace(self.series, values=self.series.values.astype(np.float64)))

    def check(self) -> SeriesSet:
        """The series, if none was rejected; else one error that names all of them.

        Where the schema says so, series without any observation are left out with a warning.
        """
        skip = self.series.schema is not None and self.series.schema.skip_empty
        empty = [bad for bad in self.rejected if issubclass(bad.error, EmptySeries)] if skip else []
        others = [bad for bad in self.rejected if not (skip and issubclass(bad.error, EmptySeries))]
        if others:
            raise joint_error(others)
        if empty:
            warnings.warn(
                f"{len(empty)} of {len(self.ids)} series are left out because nothing was observed in them: "
                f"{listed([repr(bad.id) for bad in empty])}.",
                SkippedSeries,
                stacklevel=1,
            )
        return self.series


def partly(visible: SeriesSet, reading: Reading) -> Reading:
    """What is left of series that were read, of which the rest is asked for."""
    places = {name: k for k, name in enumerate(reading.series.ids.tolist())}
    whole = reading.series.select([places[name] for name in visible.ids.tolist()])
    return Reading(visible, (), visible.ids, reading.texts, whole)


def own_rows(reading: Reading) -> tuple[FloatArray, list[int]]:
    """The times of all rows [n, L], NaN behind the end of each series, and how many there are."""
    padded = reading.series.padded().times
    position = {name: k for k, name in enumerate(reading.ids.tolist())}
    rows = [position[name] for name in reading.series.ids.tolist()]
    table, lengths = np.full((len(reading.ids), padded.shape[1]), np.nan), np.zeros(len(reading.ids), dtype=np.int64)
    table[rows], lengths[rows] = padded, reading.series.lengths
    return table, lengths.tolist()
