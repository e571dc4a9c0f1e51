"""Series and SeriesSet: irregular observations, packed end to end, never padded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from denots.data.split import split_rows
from denots.data.validate import check_series_set
from denots.errors import InvalidSeries
from denots.shapes import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from denots.data.schema import TableSchema


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One irregular series: when, what, and what it meant. NaN marks an unobserved value."""

    times: FloatArray  # [L], strictly increasing
    values: FloatArray  # [L, C]
    static: FloatArray | None = None  # [S]
    target: Any = None
    id: Any = None


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
    time_unit: str = ""
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
        ids: Sequence[Any] | None = None,
        channels: Sequence[str] | None = None,
        start: npt.ArrayLike | None = None,
        time_unit: str = "",
    ) -> "SeriesSet":
        """Pack one array of times [L] and one of values [L, C] (or [L]) per series.

        Args:
            start: when each series began, one number for all or one each; the default is
                each series' own first observation.
        """
        if len(times) != len(values):
            raise InvalidSeries(
                f"{len(times)} arrays of times but {len(values)} arrays of values; give one of each per series."
            )
        names = _ids(ids, len(times))
        if not len(times):
            raise InvalidSeries("the set is empty; give at least one series.")
        labels = names.tolist()
        stamps = [
            _numeric(t, f"times of series {i!r}", np.dtype(np.float64)) for t, i in zip(times, labels, strict=True)
        ]
        tables = [_table(v, i) for v, i in zip(values, labels, strict=True)]
        widths = {table.shape[1] for table in tables}
        if len(widths) > 1:
            odd = next(k for k, table in enumerate(tables) if table.shape[1] != tables[0].shape[1])
            raise InvalidSeries(
                f"series {labels[odd]!r} has {tables[odd].shape[1]} channels but series {labels[0]!r} has {tables[0].shape[1]}; "
                "all series of a set share their channels (use NaN for what was not observed)."
            )
        for stamp, table, name in zip(stamps, tables, labels, strict=True):
            if stamp.ndim != 1 or len(stamp) != len(table):
                raise InvalidSeries(
                    f"series {name!r} has times of shape {stamp.shape} and values of shape {table.shape}; expected (L,) and (L, C)."
                )
        offsets = np.concatenate([[0], np.cumsum([len(stamp) for stamp in stamps])]).astype(np.int64)
        packed = np.concatenate(stamps)
        first = packed[np.minimum(offsets[:-1], max(len(packed) - 1, 0))] if len(packed) else np.zeros(len(names))
        return cls(
            times=packed,
            values=np.concatenate(tables),
            offsets=offsets,
            start=first if start is None else _starts(start, len(names)),
            ids=names,
            channels=tuple(channels) if channels is not None else tuple(f"x{c}" for c in range(tables[0].shape[1])),
            static=None if static is None else _static(static),
            static_names=_static_names(static, static_names),
            target=None if target is None else np.asarray(target),
            time_unit=time_unit,
        )

    @classmethod
    def from_numpy(cls, values: npt.ArrayLike, times: npt.ArrayLike | None = None, **options: Any) -> "SeriesSet":
        """Read an array (n, channels, time) whose series share one grid; `times` defaults to 0, 1, 2 ..."""
        array = _numeric(values, "values", None)
        if array.ndim != 3:
            raise InvalidSeries(
                f"from_numpy takes an array (series, channels, time); this one has shape {array.shape}."
            )
        n, _, length = array.shape
        grid = np.arange(length, dtype=np.float64) if times is None else np.asarray(times, dtype=np.float64)
        if grid.shape not in {(length,), (n, length)}:
            raise InvalidSeries(
                f"times have shape {grid.shape}; expected ({length},) or ({n}, {length}) to match values of shape {array.shape}."
            )
        return cls.from_arrays(list(np.broadcast_to(grid, (n, length))), list(array.transpose(0, 2, 1)), **options)

    @classmethod
    def from_frame(
        cls,
        frame: "pd.DataFrame | pl.DataFrame",
        *,
        id: str,
        time: str,
        target: str | None = None,
        static: str | Sequence[str] = (),
        values: str | Sequence[str] | None = None,
        variable: str | None = None,
        value: str | None = None,
        channels: Sequence[str] | None = None,
        time_unit: str | None = None,
        start: str | None = None,
    ) -> "SeriesSet":
        """Read a pandas or polars table, wide or long; `denots.data.frame.read_frame` explains each argument."""
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

    def __getitem__(self, row: int) -> Series:
        row = range(len(self))[row]
        span = slice(self.offsets[row], self.offsets[row + 1])
        return Series(
            times=self.times[span],
            values=self.values[span],
            static=None if self.static is None else self.static[row],
            target=None if self.target is None else self.target[row],
            id=self.id(row),
        )

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

    def with_target(self, target: npt.ArrayLike | None) -> "SeriesSet":
        return replace(self, target=None if target is None else np.asarray(target))

    def same_as(self, other: "SeriesSet") -> bool:
        """Equal in all data, NaN equal to NaN."""
        return all(_same(getattr(self, name), getattr(other, name)) for name in content_fields())


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
    return a == b


def _ids(ids: Sequence[Any] | None, n: int) -> npt.NDArray[Any]:
    if ids is None:
        return np.arange(n)
    names = np.asarray(ids)
    if len(names) != n:
        raise InvalidSeries(f"{len(names)} ids for {n} series; give one id per series.")
    return names if names.dtype.kind in "iu" else names.astype(str)


def _starts(start: npt.ArrayLike, n: int) -> FloatArray:
    starts = _numeric(start, "start times", np.dtype(np.float64))
    if starts.shape not in {(), (n,)}:
        raise InvalidSeries(f"start has shape {starts.shape}; give one number, or one for each of the {n} series.")
    return np.broadcast_to(starts, n).copy()


def _numeric(array: npt.ArrayLike, what: str, dtype: np.dtype[Any] | None) -> FloatArray:
    """As floats; float32 stays float32 unless a type is asked for."""
    raw = np.asarray(array)
    if raw.dtype.kind == "c":
        raise InvalidSeries(
            f"{what} are complex numbers. Complex data not supported: give real and imaginary part as channels."
        )
    if raw.dtype.kind not in "fiub":
        try:
            raw = raw.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidSeries(
                f"{what} are not numbers ({error}); convert them first, with NaN for what is missing."
            ) from error
    if dtype is None:
        dtype = raw.dtype if raw.dtype == np.float32 else np.dtype(np.float64)
    return raw.astype(dtype, copy=False)


def _table(values: npt.ArrayLike, name: Any) -> FloatArray:
    table = _numeric(values, f"values of series {name!r}", None)
    if table.ndim == 1:
        return table[:, None]
    if table.ndim != 2:
        raise InvalidSeries(f"values of series {name!r} have shape {table.shape}; expected (L, C) or (L,).")
    return table


def _static(static: npt.ArrayLike) -> FloatArray:
    table = _numeric(static, "static features", None)
    return table[:, None] if table.ndim == 1 else table


def _static_names(static: npt.ArrayLike | None, names: Sequence[str] | None) -> tuple[str, ...]:
    if static is None:
        return ()
    return tuple(names) if names is not None else tuple(f"s{s}" for s in range(_static(static).shape[1]))
