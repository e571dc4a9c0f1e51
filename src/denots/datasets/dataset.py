"""What a data set is (`Dataset`), how one is made (`Recipe`), and the tools that recipes share."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.protocol import Protocol
from denots.shapes import FloatArray

Metric = Literal["r2", "auroc", "accuracy"]
Parts = Mapping[str, SeriesSet]


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
    task: str  # a name among the tasks
    splits: Splits


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to make a data set from a seed.

    `generate` takes the seed and the split sizes and returns one SeriesSet for each of
    "train", "val" and "test". A smaller split is always the beginning of the larger one,
    so a reduced test split never holds a series of the full training split.
    """

    name: str
    task: str  # a name among the tasks
    metric: Metric
    description: str
    sizes: SplitSizes
    generate: Callable[[int, SplitSizes], dict[str, SeriesSet]]
    version: int = 1  # raise it when the drawn data change: cached folders carry it in their name
    variant: Mapping[str, str] = field(default_factory=dict)  # whatever else decides the data

    def sized(self, size: int | Sequence[int] | None) -> SplitSizes:
        """The published sizes, a total to share out like them, or (train, val, test) as given."""
        if size is None:
            return self.sizes
        if isinstance(size, int | np.integer):
            return _share_out(self.sizes, int(size))
        if len(size) != 3 or min(size) < 1:
            raise InvalidOption(f"size {tuple(size)} must be three positive numbers: train, val, test.")
        return SplitSizes(*(int(n) for n in size))


@dataclass(frozen=True, slots=True)
class Source:
    """Real data that have to be fetched from where they are published, and how to read them.

    `read` takes files and folders and returns one SeriesSet for each of `parts`, as published:
    nothing removed, nothing split. `usable` counts the series of each part that data sets are
    made of; the counts are kept with the import, so that sizes are known without reading it.
    """

    name: str
    title: str
    page: str  # for people
    url: str  # for `denots data download`
    parts: tuple[str, ...]
    read: Callable[[Sequence[Path]], dict[str, SeriesSet]]
    usable: Callable[[Parts], dict[str, int]]
    version: int = 1  # raise it when `read` or `usable` change: it is part of the folder's name
    endings: frozenset[str] = frozenset({".ts", ".arff", ".npz", ".psv"})  # of the files in an archive that are data


@dataclass(frozen=True, slots=True)
class DerivedRecipe:
    """How to make a data set from real data, once these are imported.

    `derive` takes the imported parts and a seed and returns the three splits, each in random
    order; protocols that share one function share their data. `split_sizes` tells from the
    usable series of each part how many each split will hold: `sizes` for the published data.
    """

    name: str
    task: str  # a name among the tasks
    metric: Metric
    description: str
    sizes: SplitSizes
    source: Source
    derive: Mapping[Protocol, Callable[[Parts, int], dict[str, SeriesSet]]]
    split_sizes: Callable[[Mapping[str, int]], SplitSizes]
    version: int = 1


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
        check_available(part, n, most)
        rows[part] = slice(begin, begin + n)
        begin += most
    return rows


def check_available(part: str, n: int, most: int) -> None:
    if n > most:
        raise InvalidOption(f"{n} series asked for {part!r}, but this data set defines {most}; ask for fewer.")


def share_limits(n: int, *shares: float) -> list[int]:
    """Where shuffled rows are cut: row r is before the cut at a cumulative share s when r < s (n - 1)."""
    return [math.ceil(round(share * (n - 1), 9)) for share in np.cumsum(shares)]


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
