"""Series and SeriesSet: irregular observations, packed end to end, never padded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from denots.data.arrays import pack, read_ids, read_row_target, read_starts, read_static, unpad
from denots.data.split import split_rows
from denots.data.stamps import unit_name
from denots.data.validate import check_series_set
from denots.errors import InvalidSeries
from denots.shapes import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from denots.data.schema import TableSchema


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One irregular series: when, what, and what it meant. NaN marks an unobserved value."""

    times: FloatArray  # [L], strictly increasing
    values: FloatArray  # [L, C]
    static: FloatArray | None = None  # [S]
    target: Any = None
    id: Any = None
    row_target: FloatArray | None = None  # [L]


@dataclass(frozen=True, slots=True, eq=False)
class Rectangle:
    """A padded copy for models that need one. Where `mask` is False nothing may be read."""

    times: FloatArray  # [B, L]
    values: FloatArray  # [B, L, C]
    mask: npt.NDArray[np.bool_]  # [B, L]


@dataclass(frozen=True, slots=True, eq=False)
class SeriesSet:
    """n series packed end to end; series i owns rows `offsets[i]:offsets[i + 1]`.

    Times stay float64 from here to the solver, because a date in seconds does not fit
    float32. `start` is when the clock of a series began, which may lie before its first
    observation: integration starts there. Every instance is valid; see `data.validate`.

    `row_target` is what is to be told of each row, as `target` is of each series; NaN where nobody knows it.

    `schema` says how the set was read if it came from a table. It is no part of the data: sets with
    other schemas may be the same, and `save` does not keep it.
    """

    times: FloatArray  # [N] float64
    values: FloatArray  # [N, C] float32 or float64
    offsets: IntArray  # [n + 1]
    start: FloatArray  # [n] float64
    ids: npt.NDArray[Any]  # [n] text or integers, unique
    channels: tuple[str, ...]
    static: FloatArray | None = None  # [n, S]
    static_names: tuple[str, ...] = ()
    target: npt.NDArray[Any] | None = None  # [n] or [n, T]: numbers, classes or text
    target_names: tuple[str, ...] = ()  # of T targets; none where there is one, or where they are numbered
    time_unit: str = ""
    row_target: FloatArray | None = None  # [N] float64
    schema: "TableSchema | None" = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_series_set(self)

    @classmethod
    def from_arrays(
        cls,
        times: Sequence[npt.ArrayLike],
        values: Sequence[npt.ArrayLike],
        *,
        target: npt.ArrayLike | None = None,
        static: npt.ArrayLike | None = None,
        static_names: Sequence[str] | None = None,
        ids: Sequence[Any] | npt.NDArray[Any] | None = None,
        channels: Sequence[str] | None = None,
        start: npt.ArrayLike | None = None,
        time_unit: str = "",
        row_target: Sequence[npt.ArrayLike] | None = None,
    ) -> "SeriesSet":
        """Pack one array of times [L] and one of values [L, C] (or [L]) per series.

        Args:
            times: numbers, or datetime64 and timedelta64 together with a `time_unit`; dates then
                become the time since the first one of their series.
            values: NaN, or a masked entry of a masked array, where nothing was observed.
            target: one a series, or several numbers each; the columns of a DataFrame name them.
            start: when each series began, one number for all or one each; the default is
                each series' own first observation.
            time_unit: "s", "min", "h" or "d" or a spelling of these.
            row_target: one array of numbers [L] per series, NaN where the truth is not known.
        """
        if len(times) != len(values):
            raise InvalidSeries(
                f"{len(times)} arrays of times but {len(values)} arrays of values; give one of each per series."
            )
        if not len(times):
            raise InvalidSeries("the set is empty; give at least one series.")
        names = read_ids(ids, len(times))
        packed = pack(times, values, names.tolist(), time_unit)
        return cls(
            times=packed.times,
            values=packed.values,
            offsets=packed.offsets,
            start=packed.start if start is None else read_starts(start, len(names)),
            ids=names,
            channels=tuple(channels) if channels is not None else tuple(f"x{c}" for c in range(packed.values.shape[1])),
            static=None if static is None else read_static(static),
            static_names=_static_names(static, static_names),
            target=None if target is None else np.asarray(target),
            target_names=target_names(target),
            time_unit=unit_name(time_unit) if time_unit else "",
            row_target=None if row_target is None else read_row_target(row_target, packed.offsets, names.tolist()),
        )

    @classmethod
    def from_numpy(cls, values: npt.ArrayLike, times: npt.ArrayLike | None = None, **options: Any) -> "SeriesSet":
        """Read an array (n, channels, time), as `to_array` gives it.

        Args:
            times: of all series (time,), or of each (n, time); 0, 1, 2 ... by default. NaN at the end of a row is
                padding: such a series is shorter.
        """
        return cls.from_arrays(*unpad(values, times), **options)

    @classmethod
    def from_frame(
        cls,
        frame: "pd.DataFrame | pl.DataFrame",
        *,
        id: str,
        time: str,
        target: str | Sequence[str] | None = None,
        static: str | Sequence[str] = (),
        values: str | Sequence[str] | None = None,
        variable: str | None = None,
        value: str | None = None,
        channels: Sequence[str] | None = None,
        time_unit: str | None = None,
        start: str | None = None,
        sort: bool = False,
        duplicates: str = "error",
        skip_empty: bool = False,
        na: str | Sequence[str] = (),
        time_format: str | None = None,
        row_target: str | None = None,
    ) -> "SeriesSet":
        """Read a pandas, polars or Arrow table, wide or long; `denots.data.frame.read_frame` explains each argument."""
        from denots.data.frame import read_frame

        return read_frame(
            frame,
            id=id,
            time=time,
            target=target,
            static=static,
            values=values,
            variable=variable,
            value=value,
            channels=channels,
            time_unit=time_unit,
            start=start,
            sort=sort,
            duplicates=duplicates,
            skip_empty=skip_empty,
            na=na,
            time_format=time_format,
            row_target=row_target,
        )

    @classmethod
    def open(cls, folder: str | FilePath) -> "SeriesSet":
        """Read what `save` wrote; a changed or truncated folder is refused."""
        from denots.data.store import open_series_set

        return open_series_set(FilePath(folder))

    def save(self, folder: str | FilePath) -> None:
        """Write a folder with a manifest and a content hash; it appears whole or not at all."""
        from denots.data.store import save_series_set

        save_series_set(self, FilePath(folder))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, row: int | np.integer) -> Series: ...

    @overload
    def __getitem__(self, row: slice | npt.ArrayLike) -> "SeriesSet": ...

    def __getitem__(self, row: Any) -> "Series | SeriesSet":
        """One series by its position; a slice, a list of positions or a Boolean mask gives a set."""
        if isinstance(row, tuple) and len(row) == 2 and row[1] is Ellipsis:  # as scikit-learn takes rows of an array
            row = row[0]
        if isinstance(row, slice):
            return self.select(np.arange(len(self))[row])
        if np.ndim(row) or not hasattr(row, "__index__"):
            return self.select(row)
        row = range(len(self))[row]
        span = slice(self.offsets[row], self.offsets[row + 1])
        return Series(
            times=self.times[span],
            values=self.values[span],
            static=None if self.static is None else self.static[row],
            target=None if self.target is None else self.target[row],
            id=self.id(row),
            row_target=None if self.row_target is None else self.row_target[span],
        )

    @property
    def shape(self) -> tuple[int]:
        """That of an array of series, by which scikit-learn takes parts of a set as sets, with all that belongs to them."""
        return (len(self),)

    def __iter__(self) -> Iterator[Series]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        lengths = self.lengths
        target = "" if self.target is None else f", target {self.target.dtype}"
        return f"SeriesSet({len(self)} series, {len(self.channels)} channels, lengths {lengths.min()}..{lengths.max()}{target})"

    @property
    def lengths(self) -> IntArray:
        return np.diff(self.offsets)

    @property
    def ends(self) -> FloatArray:
        """The last time stamp of every series."""
        return self.times[self.offsets[1:] - 1]

    @property
    def spans(self) -> FloatArray:
        """From the start of the clock to the last time stamp."""
        return self.ends - self.start

    def id(self, row: int) -> str | int:
        """The id of a series as plain Python, for messages and tables."""
        name: str | int = self.ids[row].item()
        return name

    def owner(self) -> IntArray:
        """For each of the N rows, the series that it belongs to."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def select(self, rows: npt.ArrayLike) -> "SeriesSet":
        """The given series, in the given order; a Boolean mask works too."""
        chosen = np.asarray(rows)
        if chosen.dtype == bool and chosen.shape != (len(self),):
            raise InvalidSeries(
                f"the mask has shape {chosen.shape}; give one value for each of the {len(self)} series."
            )
        if chosen.ndim != 1 or (chosen.dtype.kind not in "biu" and chosen.size):
            raise InvalidSeries(f"series are chosen by positions or by a mask; got {rows!r:.60}.")
        chosen = np.arange(len(self))[chosen if chosen.dtype == bool else chosen.astype(np.int64)]
        observations, offsets = ragged_rows(self.offsets, chosen)
        return replace(
            self,
            times=self.times[observations],
            values=self.values[observations],
            offsets=offsets,
            start=self.start[chosen],
            ids=self.ids[chosen],
            static=None if self.static is None else self.static[chosen],
            target=None if self.target is None else self.target[chosen],
            row_target=None if self.row_target is None else self.row_target[observations],
        )

    def split(
        self,
        fractions: Sequence[float] | Mapping[str, float] = (0.7, 0.15, 0.15),
        *,
        seed: int,
        stratify: bool = False,
        groups: npt.ArrayLike | None = None,
    ) -> tuple["SeriesSet", ...]:
        """Cut the set at random into parts of the given shares.

        Args:
            stratify: keep the class shares of `target` in every part.
            groups: one label per series; series of one group (a patient, a machine) stay together.
        """
        shares = list(fractions.values()) if isinstance(fractions, Mapping) else list(fractions)
        labels = self.target if stratify else None
        if stratify and labels is None:
            raise InvalidSeries("stratify=True needs a target; this set has none.")
        parts = split_rows(
            len(self), shares, seed=seed, labels=labels, groups=None if groups is None else np.asarray(groups)
        )
        return tuple(self.select(part) for part in parts)

    def padded(self) -> Rectangle:
        """A rectangle (B, L, C) for models that cannot read packed rows; padding is NaN."""
        n, length = len(self), int(self.lengths.max())
        mask = np.arange(length) < self.lengths[:, None]
        times = np.full((n, length), np.nan)
        values = np.full((n, length, len(self.channels)), np.nan, dtype=self.values.dtype)
        times[mask], values[mask] = self.times, self.values
        return Rectangle(times, values, mask)

    def to_frame(
        self,
        *,
        id: str = "id",
        time: str = "time",
        start: str = "start",
        target: str = "target",
        row_target: str = "row_target",
    ) -> "pd.DataFrame":
        """A pandas table with one row an observation, which `from_frame` reads back.

        Columns are the id, the time, the channels, the static features and the targets; the start of each series, too,
        if one began before its first observation. Times are numbers, in `time_unit` if the set has one.
        """
        from denots.data.convert import to_pandas

        return to_pandas(self, id=id, time=time, start=start, target=target, row_target=row_target)

    def to_polars(
        self,
        *,
        id: str = "id",
        time: str = "time",
        start: str = "start",
        target: str = "target",
        row_target: str = "row_target",
    ) -> "pl.DataFrame":
        """The table of `to_frame` in polars, null where nothing was observed."""
        from denots.data.convert import to_polars

        return to_polars(self, id=id, time=time, start=start, target=target, row_target=row_target)

    def to_arrow(
        self,
        *,
        id: str = "id",
        time: str = "time",
        start: str = "start",
        target: str = "target",
        row_target: str = "row_target",
    ) -> "pa.Table":
        """The table of `to_frame` in Arrow, null where nothing was observed."""
        from denots.data.convert import to_arrow

        return to_arrow(self, id=id, time=time, start=start, target=target, row_target=row_target)

    def to_array(self) -> tuple[FloatArray, FloatArray]:
        """Values (n, channels, time) and times (n, time), padded with NaN; `from_numpy(*to_array())` reads them back."""
        padded = self.padded()
        return np.ascontiguousarray(padded.values.transpose(0, 2, 1)), padded.times

    def _repr_html_(self) -> str:
        from denots.data.notebook import as_html

        return as_html(self)

    def with_target(self, target: npt.ArrayLike | None) -> "SeriesSet":
        """The same series with another target; the columns of a DataFrame name several."""
        told = None if target is None else np.asarray(target)
        return replace(self, target=told, target_names=target_names(target))

    def without_row_target(self) -> "SeriesSet":
        """The same series as a model may see them, which must not see what is to be told."""
        return self if self.row_target is None else replace(self, row_target=None)

    def same_as(self, other: "SeriesSet") -> bool:
        """Equal in all data, NaN equal to NaN."""
        return all(_same(getattr(self, name), getattr(other, name)) for name in content_fields())


def target_names(target: Any) -> tuple[str, ...]:
    """The names of several targets, where they are columns of a table."""
    columns = tuple(map(str, getattr(target, "columns", ())))
    return columns if len(columns) > 1 else ()


def content_fields() -> list[str]:
    """The fields of a SeriesSet that are data; the others say where the data come from."""
    return [field.name for field in fields(SeriesSet) if field.compare]


def ragged_rows(offsets: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """Packed row numbers of the chosen series, and the offsets that they get."""
    lengths = offsets[chosen + 1] - offsets[chosen]
    new = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    shift = np.repeat(offsets[chosen] - new[:-1], lengths)
    return np.arange(new[-1], dtype=np.int64) + shift, new


def _same(a: object, b: object) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype.kind == b.dtype.kind and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return False
    return a == b


def _static_names(static: npt.ArrayLike | None, names: Sequence[str] | None) -> tuple[str, ...]:
    if static is None:
        return ()
    return tuple(names) if names is not None else tuple(f"s{s}" for s in range(read_static(static).shape[1]))
