"""What training saw of values and times, and a remark on every series that lies far outside.

A model answers whatever it is given. A clock in minutes where training had hours, degrees Fahrenheit
instead of Celsius, or a value of 1e30 give an answer as smooth as any other; only a comparison with
the training data tells.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from denots.data.series import SeriesSet
from denots.errors import InvalidFolder
from denots.registry import listed, nearest
from denots.shapes import BoolArray, FloatArray, IntArray

LOOSE = 3.0  # so many times longer or shorter than anything in training is still ordinary
WILD = 50.0  # a single value is remarked on when it is so many usual widths away; typical values, one width
SHOWN = 5  # categories in a remark
TIME_FACTORS = {
    7: "weeks and days",
    24: "days and hours",
    60: "hours and minutes, or minutes and seconds",
    1000: "seconds and milliseconds",
    1440: "days and minutes",
    3600: "hours and seconds",
    86400: "days and seconds",
}

Remarks = dict[int, list[str]]  # those on some series, by their place; no list for each of those that are usual


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """Extremes of a training set; NaN where nothing was observed or no series has two rows."""

    channels: tuple[str, ...]
    values: FloatArray  # [C, 4]: lowest, 1 % and 99 % quantile, highest
    spans: FloatArray  # [3] of the series: lowest, median, highest
    gaps: FloatArray  # [3] likewise, of the median time from row to row
    lengths: FloatArray  # [3] likewise, rows
    counts: FloatArray  # [2]: series and rows; like the next, NaN in models that were saved before it was kept
    observed: FloatArray  # [C]: the share of the rows in which each channel was observed
    static_names: tuple[str, ...]  # of the next; none in models that were saved before static features were kept
    static: FloatArray  # [S, 4], as values
    categories: Mapping[str, tuple[str, ...]]  # of columns of text; each stands for a channel or a static feature

    @classmethod
    def of(cls, train: SeriesSet) -> "Ranges":
        static = np.zeros((len(train), 0)) if train.static is None else train.static
        return cls(
            train.channels,
            _columns(train.values),
            _quantiles(_spans(train), (0, 0.5, 1)),
            _quantiles(_gaps(train), (0, 0.5, 1)),
            _quantiles(train.lengths.astype(np.float64), (0, 0.5, 1)),
            np.array([len(train), len(train.times)], dtype=np.float64),
            (~np.isnan(train.values)).mean(axis=0),
            train.static_names,
            _columns(static),
            {} if train.schema is None else dict(train.schema.categories or {}),
        )

    def remarks(self, series: SeriesSet, texts: Mapping[tuple[Any, str], str] | None = None) -> list[str]:
        """One text for each series: what lies far outside the training data and the likely cause; empty if nothing.

        texts: categories that training did not have, by series and column, where they are still known.
        """
        found: Remarks = defaultdict(list)
        self._remark_on_categories(series, texts or {}, found)
        self._remark_on_static(series, found)
        self._remark_on_times(series, found)
        usual = [self._usual(name) for name in series.channels]
        cells = np.flatnonzero(_outside(series.values, usual))
        if len(cells):
            rows, channels = np.divmod(cells, len(usual))
            chosen = np.unique(np.searchsorted(series.offsets, rows, side="right") - 1)
            few, theirs = series.select(chosen), {place: found[k] for place, k in enumerate(chosen.tolist())}
            for c in np.unique(channels):
                self._remark_on_channel(few, series.channels[c], few.values[:, c], usual[c], theirs)
        return [in_short(found[k]) if found.get(k) else "" for k in range(len(series))]

    def _usual(self, channel: str) -> "_Usual | None":
        """What training saw of a channel; None where that is nothing."""
        seen = self.values[self.channels.index(channel)] if channel in self.channels else np.full(4, np.nan)
        return None if np.isnan(seen).any() else _Usual(*map(float, seen))

    def as_json(self) -> dict[str, Any]:
        """Everything that `from_json` needs to make the same ranges."""
        arrays = {name: getattr(self, name) for name in _SHAPES}
        named = {"channels": list(self.channels), "static_names": list(self.static_names)}
        categories = {name: list(own) for name, own in self.categories.items()}
        return named | {"categories": categories} | {name: _as_lists(array) for name, array in arrays.items()}

    @classmethod
    def from_json(cls, content: object, place: str) -> "Ranges":
        """The ranges that `as_json` described; `place` (a file) opens the error for anything else."""
        if not isinstance(content, Mapping) or set(content) | LATER != {field.name for field in fields(cls)}:
            raise InvalidFolder(f"{place} describes no ranges of training data; copy the folder again.")
        content = {"static_names": [], "static": [], "categories": {}, "counts": [None] * 2, **content}
        channels, static, categories = content["channels"], content["static_names"], content["categories"]
        for what, names in {"channels": channels, "static_names": static}.items():
            if not _are_names(names):
                raise InvalidFolder(f"{place} describes no ranges: {what} are {names!r:.60}, expected a list of names.")
        if not isinstance(categories, Mapping) or not all(map(_are_names, categories.values())):
            raise InvalidFolder(
                f"{place} describes no ranges: categories are {categories!r:.60}, expected a list of words for each column."
            )
        content = {"observed": [None] * len(channels), **content}
        try:
            arrays = {name: np.array(content[name], dtype=np.float64) for name in _SHAPES}
        except (TypeError, ValueError) as error:
            raise InvalidFolder(f"{place} describes no ranges: {error}; copy the folder again.") from error
        for name, shape in _SHAPES.items():
            expected = tuple({"C": len(channels), "S": len(static)}.get(size, size) for size in shape)
            if not arrays[name].size and 0 in expected:
                arrays[name] = np.zeros(expected)
            if arrays[name].shape != expected or np.isinf(arrays[name]).any():
                raise InvalidFolder(f"{place} describes no ranges: {name} must be {expected} finite numbers or null.")
        categories = {name: tuple(own) for name, own in categories.items()}
        return cls(tuple(channels), **arrays, static_names=tuple(static), categories=categories)

    def _remark_on_categories(self, series: SeriesSet, texts: Mapping[tuple[Any, str], str], found: Remarks) -> None:
        """Text that training did not have: as it was read, or else by its row, which holds no category though it is known."""
        static, places = series.static, {name: k for k, name in enumerate(series.static_names)}
        channels = {name: c for c, name in enumerate(series.channels)}
        position = {name: k for k, name in enumerate(series.ids.tolist())} if texts else {}
        for name, columns in self._spread():
            lost: IntArray = np.zeros(0, dtype=np.int64)
            if static is not None and all(column in places for column in columns):
                lost = np.flatnonzero((static[:, [places[column] for column in columns]] == 0).all(axis=1))
            elif all(column in channels for column in columns):
                rows = (series.values[:, [channels[column] for column in columns]] == 0).all(axis=1)
                lost = np.unique(series.owner()[rows])
            read = {position[id]: text for (id, column), text in texts.items() if column == name and id in position}
            for k in sorted({*lost.tolist(), *read}):
                found[k].append(unknown_category(name, read.get(k), self.categories[name]))

    def _remark_on_static(self, series: SeriesSet, found: Remarks) -> None:
        if series.static is None:
            return
        spread = {column for _, columns in self._spread() for column in columns}
        for name, column in zip(series.static_names, series.static.T.astype(np.float64), strict=True):
            if name not in self.static_names or name in spread:
                continue
            seen = self.static[self.static_names.index(name)]
            if np.isnan(seen).any():
                for k in np.flatnonzero(~np.isnan(column)):
                    found[k].append(f"static {name!r} was never known in training")
                continue
            usual = _Usual(*map(float, seen))
            far = (column > usual.high + usual.width) | (column < usual.low - usual.width)
            for k in np.flatnonzero(far | ((column > 0) & (column < usual.shrunk))):
                cause = _value_cause(float(column[k]), usual.q01, usual.q99)
                found[k].append(
                    f"static {name!r} is {column[k]:.4g}, in training {usual.low:.4g} to {usual.high:.4g}{cause}"
                )

    def _spread(self) -> Iterator[tuple[str, list[str]]]:
        """Each column of text, and the columns of zeros and ones that it stands for."""
        return ((name, [f"{name}={category}" for category in own]) for name, own in self.categories.items() if own)

    def _remark_on_times(self, series: SeriesSet, found: Remarks) -> None:
        unit = f" {series.time_unit}" if series.time_unit else ""
        for what, seen, (low, middle, high) in (
            ("it spans", _spans(series), self.spans),
            ("its rows lie apart", _gaps(series, self.gaps), self.gaps),
        ):
            for k in np.flatnonzero((seen > LOOSE * high) | (seen < low / LOOSE)):
                cause = time_cause(float(seen[k]), float(middle))
                found[k].append(f"{what} {seen[k]:.4g}{unit}, in training {low:.4g} to {high:.4g}{unit}{cause}")
        for k in np.flatnonzero(series.lengths > LOOSE**2 * self.lengths[2]):
            found[k].append(f"it has {series.lengths[k]} rows, in training at most {self.lengths[2]:g}")

    def _remark_on_channel(
        self, series: SeriesSet, name: str, column: FloatArray, usual: "_Usual | None", found: Remarks
    ) -> None:
        seen = ~np.isnan(column)
        if usual is None:
            for k in np.unique(series.owner()[seen]):
                found[k].append(f"channel {name!r} was never observed in training")
            return
        low, q01, q99, high = usual
        width = usual.width
        typical, farthest = _typical_and_farthest(series, column, seen, (low + high) / 2)
        shifted = (typical > high + width) | (typical < low - width)
        shrunk = (typical > 0) & (typical < usual.shrunk)
        wild = (farthest > high + WILD * width) | (farthest < low - WILD * width)
        for k in np.flatnonzero(shifted | shrunk | wild):
            value, word = (typical[k], "typically ") if shifted[k] or shrunk[k] else (farthest[k], "")
            cause = _value_cause(float(value), q01, q99)
            found[k].append(f"channel {name!r} is {word}{value:.4g}, in training {low:.4g} to {high:.4g}{cause}")


class _Usual(NamedTuple):
    """Values of a channel in training."""

    low: float
    q01: float
    q99: float
    high: float

    @property
    def width(self) -> float:
        return max(self.q99 - self.q01, 0.1 * max(abs(self.low), abs(self.high)), 1e-12)

    @property
    def shrunk(self) -> float:
        """Positive values that are typically below are too small, where usual ones are positive."""
        return min(self.low, self.q01 / LOOSE) / LOOSE if self.q01 > 0 else -math.inf


_SHAPES: dict[str, tuple[Any, ...]] = {
    "values": ("C", 4),
    "spans": (3,),
    "gaps": (3,),
    "lengths": (3,),
    "counts": (2,),
    "observed": ("C",),
    "static": ("S", 4),
}
LATER = {"counts", "observed", "static_names", "static", "categories"}  # what earlier models lack


def unknown_category(column: str, text: str | None, categories: Sequence[str]) -> str:
    """The remark on a text that training did not have; None where it is no longer known."""
    known = f"training had {listed([repr(category) for category in categories[:SHOWN]])}"
    known += f" and {more} more" if (more := len(categories) - SHOWN) > 0 else ""
    if text is None:
        return f"column {column!r} holds no category that is known; {known}"
    near = nearest(text, categories)
    hint = f", should it be {near[0]!r}?" if near else ""
    return f"column {column!r} holds {text!r:.60}; {known}{hint}"


def in_short(remarks: list[str]) -> str:
    """The first remarks on a series, and how many more there are."""
    return "; ".join(remarks[:3]) + (f"; and {len(remarks) - 3} more" if len(remarks) > 3 else "")


def _are_names(names: object) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def _columns(table: FloatArray) -> FloatArray:
    """Of each column the lowest, the 1 % and 99 % quantile and the highest."""
    return np.reshape([_quantiles(column[~np.isnan(column)], (0, 0.01, 0.99, 1)) for column in table.T], (-1, 4))


def _quantiles(seen: FloatArray, at: tuple[float, ...]) -> FloatArray:
    seen = seen[np.isfinite(seen)].astype(np.float64)
    return np.quantile(seen, at) if len(seen) else np.full(len(at), np.nan)


def _spans(series: SeriesSet) -> FloatArray:
    """From the first to the last row; NaN for a single one."""
    return np.where(series.lengths > 1, series.ends - series.times[series.offsets[:-1]], np.nan)


def _outside(values: FloatArray, usual: Sequence[_Usual | None]) -> BoolArray:
    """Cells so far from training that their series may deserve a remark; where a median is far, a cell is, too."""
    above = np.array([-math.inf if it is None else it.high + it.width for it in usual])
    below = np.array([math.inf if it is None else max(it.low - it.width, it.shrunk) for it in usual])
    if values.dtype == np.float32:  # compared as they are, which is faster; rounding must not hide a cell
        infinite = np.float32(math.inf)
        with np.errstate(over="ignore"):
            above, below = above.astype(np.float32), below.astype(np.float32)
        above, below = np.nextafter(above, -infinite), np.nextafter(below, infinite)
    return (values > above) | (values < below)


def _gaps(series: SeriesSet, limits: FloatArray | None = None) -> FloatArray:
    """The median time from row to row of each series; NaN for a single row.

    With limits, also where no step is so long or so short that they could be exceeded.
    """
    inner = np.ones(len(series.times), dtype=bool)
    inner[series.offsets[:-1]] = False
    rows = np.flatnonzero(inner)
    steps, owner = np.diff(series.times, prepend=0.0)[rows], series.owner()[rows]
    if limits is not None:
        odd = np.zeros(len(series), dtype=bool)
        odd[owner[(steps > LOOSE * limits[2]) | (steps < limits[0] / LOOSE)]] = True
        steps, owner = steps[odd[owner]], owner[odd[owner]]
    return _medians(steps, owner, len(series))


def _medians(seen: FloatArray, owner: IntArray, n: int) -> FloatArray:
    """The median of each owner's entries, NaN without any."""
    ranked = seen[np.lexsort((seen, owner))]
    count = np.bincount(owner, minlength=n)
    first = np.cumsum(count) - count
    if not len(ranked):
        return np.full(n, np.nan)
    low, high = (ranked[np.minimum(first + part, len(ranked) - 1)] for part in ((count - 1) // 2, count // 2))
    return np.where(count > 0, low / 2 + high / 2, np.nan)


def _typical_and_farthest(
    series: SeriesSet, column: FloatArray, seen: BoolArray, middle: float
) -> tuple[FloatArray, FloatArray]:
    """Of each series the median of a channel, and the value farthest from `middle`; NaN where it was not observed."""
    owner, x = series.owner()[seen], column[seen].astype(np.float64)
    farthest = np.full(len(series), np.nan)
    by_distance = np.argsort(np.abs(x - middle), kind="stable")
    farthest[owner[by_distance]] = x[by_distance]  # of several entries for one series the last, largest, stays
    return _medians(x, owner, len(series)), farthest


def time_cause(found: float, usual: float) -> str:
    """How a time differs from the usual one, and which units of time would explain that."""
    if not found > 0 or not usual > 0:
        return ""
    ratio = found / usual
    near = min(TIME_FACTORS, key=lambda factor: abs(math.log(max(ratio, 1 / ratio) / factor)))
    times = f" ({ratio:.3g} times the usual)"
    if abs(math.log(max(ratio, 1 / ratio) / near)) > math.log(1.6):
        return f"{times}: another unit of time?"
    return f"{times}: another unit of time, {TIME_FACTORS[near]}?"


def _value_cause(found: float, low: float, high: float) -> str:
    fitting = guess_units(found, low, high)
    return f": another unit ({listed(fitting[:2])})?" if fitting else ": a wrong value or another unit?"


def guess_units(found: float, low: float, high: float) -> list[str]:
    """The units that would bring a value to where the others lie, mostly between `low` and `high`."""
    slack = 0.1 * (high - low)
    guesses = {"Fahrenheit for Celsius": (found - 32) * 5 / 9, "Celsius for Fahrenheit": found * 9 / 5 + 32}
    guesses |= {f"{factor} times too large": found / factor for factor in (10, 100, 1000)}
    guesses |= {f"{factor} times too small": found * factor for factor in (10, 100, 1000)}
    return [guess for guess, value in guesses.items() if low - slack <= value <= high + slack]


def _as_lists(array: FloatArray) -> Any:
    return [
        _as_lists(part) if isinstance(part, np.ndarray) else None if math.isnan(part) else float(part) for part in array
    ]
