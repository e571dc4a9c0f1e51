"""What a data set is (`Dataset`), how one is made (`Recipe`), and the tools that recipes share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.shapes import FloatArray

Task = Literal["regression", "binary", "multiclass", "forecast"]


class SplitSizes(NamedTuple):
    """How many series each split holds."""

    train: int
    val: int
    test: int

    @property
    def total(self) -> int:
        return sum(self)


@dataclass(frozen=True, slots=True)
class Splits:
    """Three sets that share no series."""

    train: SeriesSet
    val: SeriesSet
    test: SeriesSet


@dataclass(frozen=True, slots=True)
class Dataset:
    """A data set ready for training: its task and its three splits."""

    name: str
    task: Task
    splits: Splits


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to make a data set from a seed.

    `generate` takes the seed and the split sizes and returns one SeriesSet for each of
    "train", "val" and "test". A smaller split is always the beginning of the larger one,
    so a reduced test split never holds a series of the full training split.
    """

    name: str
    task: Task
    metric: Literal["r2", "auroc", "accuracy"]
    description: str
    sizes: SplitSizes
    generate: Callable[[int, SplitSizes], dict[str, SeriesSet]]
    version: int = 1  # raise it when the drawn data change: cached folders carry it in their name

    def sized(self, size: int | Sequence[int] | None) -> SplitSizes:
        """The published sizes, a total to share out like them, or (train, val, test) as given."""
        if size is None:
            return self.sizes
        if isinstance(size, int | np.integer):
            return _share_out(self.sizes, int(size))
        if len(size) != 3 or min(size) < 1:
            raise InvalidOption(f"size {tuple(size)} must be three positive numbers: train, val, test.")
        return SplitSizes(*(int(n) for n in size))


def _share_out(published: SplitSizes, total: int) -> SplitSizes:
    """Cut `total` where the published cuts are: row r is before a cut at share s when r < s (total - 1)."""
    if total < 3:
        raise InvalidOption(f"size {total} leaves a split empty; a data set needs at least 3 series.")

    def cut(rows: int) -> int:
        return -(-rows * (total - 1) // published.total)

    train = min(cut(published.train), total - 2)
    val = min(max(cut(published.train + published.val), train + 1), total - 1)
    return SplitSizes(train, val - train, total - val)


def stream(seed: int, *purpose: str | int) -> np.random.Generator:
    """An independent generator for each purpose, so that one draw more here changes nothing there."""
    key = "/".join(map(str, purpose)).encode()
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(key)))


def published_rows(published: SplitSizes, sizes: SplitSizes) -> dict[str, slice]:
    """The rows of each split in a set that was drawn in one go and cut in order of drawing."""
    rows, begin = {}, 0
    for part, most, n in zip(SplitSizes._fields, published, sizes, strict=True):
        if n > most:
            raise InvalidOption(f"{n} series asked for {part!r}, but this data set defines {most}; ask for fewer.")
        rows[part] = slice(begin, begin + n)
        begin += most
    return rows


def series_ids(part: str, rows: range) -> npt.NDArray[Any]:
    """`train-0`, `train-1` ...: unique over all splits, and the same whatever the size."""
    return np.array([f"{part}-{row}" for row in rows])


def on_one_grid(
    part: str, grid: FloatArray, values: FloatArray, channel: str, *, target: npt.ArrayLike | None = None
) -> SeriesSet:
    """Series of one channel, values [n, L], that share the grid [L] and start at time 0."""
    return SeriesSet.from_numpy(
        values.astype(np.float32)[:, None, :],
        grid,
        ids=series_ids(part, range(len(values))),
        channels=(channel,),
        start=0.0,
        target=target,
    )


def joined(parts: Sequence[SeriesSet]) -> SeriesSet:
    """Sets with the same channels, one after the other; static features are not carried."""
    first = parts[0]
    return SeriesSet(
        times=np.concatenate([part.times for part in parts]),
        values=np.concatenate([part.values for part in parts]),
        offsets=np.concatenate([[0], np.cumsum(np.concatenate([part.lengths for part in parts]))]),
        start=np.concatenate([part.start for part in parts]),
        ids=np.concatenate([part.ids for part in parts]),
        channels=first.channels,
        target=None if first.target is None else np.concatenate([part.target for part in parts]),
        time_unit=first.time_unit,
    )
