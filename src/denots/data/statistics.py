"""What is known of a set of series by one pass over it, part by part: numbers of two parts give those of both."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from denots.data.ranges import Ranges
from denots.data.series import SeriesSet
from denots.errors import InvalidFolder
from denots.shapes import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Of each channel [C] how often it was observed, its mean, the sum of squared distances from it and its extremes;
    the extremes [2] of lengths, of spans and of median steps. NaN where nothing was observed.
    """

    count: FloatArray
    mean: FloatArray
    squares: FloatArray
    lowest: FloatArray
    highest: FloatArray
    lengths: FloatArray
    spans: FloatArray
    gaps: FloatArray

    @classmethod
    def of(cls, series: SeriesSet) -> "Statistics":
        columns = [column[~np.isnan(column)].astype(np.float64) for column in series.values.T]
        mean = np.array([column.mean() if len(column) else np.nan for column in columns])
        seen = Ranges.of(series)
        return cls(
            count=np.array([len(column) for column in columns], dtype=np.float64),
            mean=mean,
            squares=np.array([((column - m) ** 2).sum() for column, m in zip(columns, mean, strict=True)]),
            lowest=seen.values[:, 0],
            highest=seen.values[:, -1],
            lengths=seen.lengths[[0, -1]],
            spans=seen.spans[[0, -1]],
            gaps=seen.gaps[[0, -1]],
        )

    def merged(self, other: "Statistics") -> "Statistics":
        """Of both parts together (Chan, Golub and LeVeque)."""
        count = self.count + other.count
        share = other.count / np.maximum(count, 1)
        mine, theirs = (np.where(part.count > 0, part.mean, 0.0) for part in (self, other))
        apart = theirs - mine
        mean = np.where(self.count > 0, mine + apart * share, theirs)
        between = np.where((self.count > 0) & (other.count > 0), apart**2 * self.count * share, 0.0)
        return Statistics(
            count=count,
            mean=np.where(count > 0, mean, np.nan),
            squares=self.squares + other.squares + between,
            lowest=np.fmin(self.lowest, other.lowest),
            highest=np.fmax(self.highest, other.highest),
            lengths=_joint(self.lengths, other.lengths),
            spans=_joint(self.spans, other.spans),
            gaps=_joint(self.gaps, other.gaps),
        )

    @property
    def spread(self) -> FloatArray:
        """The standard deviation of each channel."""
        return np.asarray(np.where(self.count > 0, np.sqrt(self.squares / np.maximum(self.count, 1)), np.nan))

    def as_json(self) -> dict[str, Any]:
        arrays: dict[str, FloatArray] = asdict(self)
        return {name: [None if np.isnan(x) else x for x in array.tolist()] for name, array in arrays.items()}

    @classmethod
    def from_json(cls, content: object, channels: int, place: str) -> "Statistics":
        names = [field.name for field in fields(cls)]
        if not isinstance(content, Mapping) or set(content) != set(names):
            raise InvalidFolder(f"{place} describes no statistics of series; copy the folder again.")
        try:
            arrays = {name: np.array(content[name], dtype=np.float64) for name in names}
        except (TypeError, ValueError) as error:
            raise InvalidFolder(
                f"{place} describes no statistics of series: {error}; copy the folder again."
            ) from error
        for name, array in arrays.items():
            if array.shape != ((2,) if name in ("lengths", "spans", "gaps") else (channels,)):
                raise InvalidFolder(f"{place}: {name} do not fit {channels} channels; copy the folder again.")
        return cls(**arrays)


def _joint(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.array([np.fmin(a[0], b[0]), np.fmax(a[1], b[1])])
