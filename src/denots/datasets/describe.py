"""Numbers and a text sketch that show at a glance what a SeriesSet holds."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from denots.data.series import SeriesSet
from denots.shapes import FloatArray

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)
MOST_CLASSES = 50  # a whole-number target with more distinct values is described as a quantity
_BRAILLE = 0x2800
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # bit of each dot in a 4 x 2 cell


class Spread(NamedTuple):
    """Smallest, middle and largest."""

    least: float
    median: float
    most: float


@dataclass(frozen=True, slots=True)
class Description:
    """What a set holds. `classes` and `target_quantiles` are None where they make no sense."""

    series: int
    observations: int
    channels: tuple[str, ...]
    static_names: tuple[str, ...]
    time_unit: str
    lengths: Spread
    spans: Spread  # from the start of the clock to the last observation
    missing: float  # share of all values
    missing_by_channel: dict[str, float]
    classes: dict[str, float] | None  # share of each class
    target_quantiles: dict[str, tuple[float, ...]] | None  # at 0, 25, 50, 75, 100 %, per target column


def describe(series: SeriesSet) -> Description:
    """Count what is there and what is missing, and summarise the target."""
    absent = np.isnan(series.values)
    classes, quantiles = _describe_target(series.target)
    return Description(
        series=len(series),
        observations=len(series.times),
        channels=series.channels,
        static_names=series.static_names,
        time_unit=series.time_unit,
        lengths=_spread(series.lengths),
        spans=_spread(series.spans),
        missing=float(absent.mean()),
        missing_by_channel=dict(zip(series.channels, absent.mean(axis=0).tolist(), strict=True)),
        classes=classes,
        target_quantiles=quantiles,
    )


def sketch(series: SeriesSet, row: int, *, width: int = 64, height: int = 4) -> str:
    """Draw one series as text: a title, then every channel as dots over time, with its range.

    Args:
        width: characters per channel, two dots each.
        height: lines per channel, four dots each.
    """
    one = series[row]
    begin, end = float(series.start[row]), float(one.times[-1])
    name = max(map(len, series.channels))
    title = f"{one.id}: {len(one.times)} observations, {begin:g} to {end:g} {series.time_unit}".rstrip()
    lines = [title if one.target is None else f"{title}, target {_shown(one.target)}"]
    across = (one.times - begin) / ((end - begin) or 1.0)
    for channel, values in zip(series.channels, one.values.T, strict=True):
        seen = ~np.isnan(values)
        if not seen.any():
            lines.append(f"{channel:>{name}} never observed")
            continue
        low, high = float(values[seen].min()), float(values[seen].max())
        up = (values[seen] - low) / (high - low) if high > low else np.full(seen.sum(), 0.5)
        drawn = _dots(across[seen], up, width, height)
        marks = {0: f"{high:.4g}", height - 1: f"{low:.4g}"}
        for k, line in enumerate(drawn):
            lines.append(f"{'' if k else channel:>{name}} {marks.get(k, ''):>10} │{line}│")
    return "\n".join(lines)


def _spread(numbers: npt.NDArray[Any]) -> Spread:
    return Spread(float(numbers.min()), float(np.median(numbers)), float(numbers.max()))


def _describe_target(
    target: npt.NDArray[Any] | None,
) -> tuple[dict[str, float] | None, dict[str, tuple[float, ...]] | None]:
    if target is None or target.dtype.kind not in "biufUS":
        return None, None
    if target.ndim == 1 and target.dtype.kind in "bUS":
        return _class_shares(target), None
    if target.ndim == 1 and target.dtype.kind in "iu" and len(np.unique(target)) <= MOST_CLASSES:
        return _class_shares(target), None
    if target.dtype.kind in "US":
        return None, None
    columns = {"target": target} if target.ndim == 1 else {f"target[{k}]": c for k, c in enumerate(target.T)}
    return None, {name: _column_quantiles(column.astype(np.float64)) for name, column in columns.items()}


def _class_shares(target: npt.NDArray[Any]) -> dict[str, float]:
    names, counts = np.unique(target, return_counts=True)
    return {str(name): count / len(target) for name, count in zip(names.tolist(), counts.tolist(), strict=True)}


def _column_quantiles(column: FloatArray) -> tuple[float, ...]:
    known = column[~np.isnan(column)]
    return tuple(np.quantile(known, QUANTILES).tolist()) if len(known) else (float("nan"),) * len(QUANTILES)


def _shown(target: Any) -> str:
    plain = target.tolist() if isinstance(target, np.ndarray | np.generic) else target
    return f"{plain:.4g}" if isinstance(plain, float) else str(plain)


def _dots(across: FloatArray, up: FloatArray, width: int, height: int) -> list[str]:
    """Lines of braille with a dot at each point; `across` and `up` run from 0 to 1."""
    column = np.round(across * (2 * width - 1)).astype(np.int64)
    line = np.round((1 - up) * (4 * height - 1)).astype(np.int64)
    cells = np.full((height, width), _BRAILLE)
    np.bitwise_or.at(cells, (line // 4, column // 2), _DOTS[line % 4, column % 2])
    return ["".join(map(chr, cell)) for cell in cells.tolist()]
