"""A set of series that need not fit into memory: a folder of shards, each memory-mapped when it is read.

`manifest.json` says what the set is and names every file with its hash; shard `00000` and its followers hold the arrays
of a `SeriesSet` as plain .npy files. A shard whose bytes have changed is refused when it is first opened.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from denots.cluster.workers import Here, Workers
from denots.data.join import joined
from denots.data.schema import TableSchema
from denots.data.series import SeriesSet
from denots.data.statistics import Statistics
from denots.errors import InvalidFolder, InvalidSeries
from denots.folders import expanded, file_hash, holds_only, package_version, read_manifest, write_manifest
from denots.shapes import IntArray

FORMAT, VERSION = "denots-shards", 1
MANIFEST = "manifest.json"
ARRAYS = ("times", "values", "offsets", "start", "ids", "static", "target")
OPEN = 8  # shards that stay mapped at once


@dataclass(frozen=True, slots=True, eq=False)
class ShardedSet:
    """Series in a folder, shard by shard; which shard a series is in is decided by its id alone.

    sizes: series of each shard; rows count through all shards.
    hashes: of the files of each shard.
    dtypes: of the arrays of the whole set, which single shards may not need.
    workers: who reads the shards where all of them are learnt from.
    """

    folder: Path
    channels: tuple[str, ...]
    static_names: tuple[str, ...]
    target_names: tuple[str, ...]
    time_unit: str
    schema: TableSchema | None
    sizes: IntArray
    hashes: tuple[dict[str, str], ...]
    dtypes: dict[str, str]
    observations: int
    statistics: Statistics
    workers: Workers = field(default_factory=Here)
    kept: "_Kept" = field(default_factory=lambda: _Kept(), repr=False)

    @classmethod
    def open(cls, folder: str | Path) -> "ShardedSet":
        """Read the manifest; shards are opened when they are asked for."""
        root = expanded(Path(folder))
        file = root / MANIFEST
        manifest = read_manifest(file, FORMAT, VERSION)
        if manifest.pop("sha256", None) != _own_hash(manifest):
            raise InvalidFolder(f"{file} was changed after it was written; write or copy the folder again.")
        schema = manifest["schema"]
        channels = tuple(manifest["channels"])
        return cls(
            folder=root,
            channels=channels,
            static_names=tuple(manifest["static_names"]),
            target_names=tuple(manifest["target_names"]),
            time_unit=manifest["time_unit"],
            schema=None if schema is None else TableSchema.from_json(schema, str(file)),
            sizes=np.array([shard["series"] for shard in manifest["shards"]], dtype=np.int64),
            hashes=tuple(shard["files"] for shard in manifest["shards"]),
            dtypes=manifest["dtypes"],
            observations=manifest["observations"],
            statistics=Statistics.from_json(manifest["statistics"], len(channels), str(file)),
        )

    def on(self, workers: Workers) -> "ShardedSet":
        """The same set, read by others where all of it is learnt from."""
        return replace(self, workers=workers)

    def __len__(self) -> int:
        return int(self.sizes.sum())

    @property
    def shards(self) -> int:
        return len(self.sizes)

    @property
    def offsets(self) -> IntArray:
        """The first row of each shard, and the end."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    def content_hash(self) -> str:
        """A sha256 that identifies the data."""
        return _own_hash({"shards": list(self.hashes), "channels": self.channels, "static": self.static_names})

    def shard(self, k: int) -> SeriesSet:
        """One shard, memory-mapped; its bytes are compared with their hashes when it is first opened."""
        return self.kept.get(k, self._open)

    def _open(self, k: int) -> SeriesSet:
        found = _opened(self.folder / shard_name(k), tuple(sorted(self.hashes[k].items())))
        arrays = {name: array.astype(self.dtypes[name], copy=False) for name, array in found.items()}
        return SeriesSet(
            times=arrays["times"],
            values=arrays["values"],
            offsets=arrays["offsets"],
            start=arrays["start"],
            ids=arrays["ids"],
            channels=self.channels,
            static=arrays.get("static"),
            static_names=self.static_names,
            target=arrays.get("target"),
            target_names=self.target_names,
            time_unit=self.time_unit,
            schema=self.schema,
        )

    def __iter__(self) -> Iterator[SeriesSet]:
        return (self.shard(k) for k in range(self.shards))

    def select(self, rows: npt.ArrayLike) -> SeriesSet:
        """The given series, in the given order; it costs little where they come from few shards."""
        chosen = np.asarray(rows, dtype=np.int64)
        if not len(chosen) or chosen.min() < 0 or chosen.max() >= len(self):
            raise InvalidSeries(f"series are chosen by positions from 0 to {len(self) - 1}, at least one.")
        owner = np.searchsorted(self.offsets, chosen, side="right") - 1
        order = np.argsort(owner, kind="stable")
        parts = [self.shard(int(k)).select(chosen[owner == k] - self.offsets[k]) for k in np.unique(owner)]
        together = joined(parts) if len(parts) > 1 else parts[0]
        if (np.diff(order) < 0).any():
            together = together.select(np.argsort(order, kind="stable"))
        return replace(together, schema=self.schema)

    def sample_rows(self, size: int) -> IntArray:
        """So many series at random, or all, by their rows; the same ones however the set is cut into shards."""
        if size >= len(self):
            return np.arange(len(self))
        drawn = np.concatenate([_draw(self._array(k, "ids")) for k in range(self.shards)])
        return np.sort(np.argsort(drawn, kind="stable")[:size])

    def outline(self) -> SeriesSet:
        """All series without their observations: one row each, with static features and the target."""
        n = len(self)
        sides = {name: self._column(name) for name in ("static", "target") if name in self.dtypes}
        return SeriesSet(
            times=np.zeros(n),
            values=np.zeros((n, len(self.channels)), np.float32),
            offsets=np.arange(n + 1),
            start=np.zeros(n),
            ids=np.arange(n),
            channels=self.channels,
            static_names=self.static_names,
            target_names=self.target_names,
            time_unit=self.time_unit,
            schema=self.schema,
            **sides,
        )

    def _column(self, name: str) -> npt.NDArray[Any]:
        parts = [self._array(k, name) for k in range(self.shards)]
        return np.concatenate(parts).astype(self.dtypes[name], copy=False)

    def _array(self, k: int, name: str) -> npt.NDArray[Any]:
        """One array of a shard, without opening the others."""
        return _checked(self.folder / shard_name(k) / f"{name}.npy", self.hashes[k][f"{name}.npy"])


class _Kept:
    """Shards that were asked for last: to look through all of their values for every batch takes longer than to learn."""

    def __init__(self) -> None:
        self.sets: OrderedDict[int, SeriesSet] = OrderedDict()

    def __reduce__(self) -> tuple[type["_Kept"], tuple[()]]:
        return _Kept, ()  # another process opens its own

    def get(self, k: int, open_shard: Callable[[int], SeriesSet]) -> SeriesSet:
        if k not in self.sets:
            self.sets[k] = open_shard(k)
        self.sets.move_to_end(k)
        if len(self.sets) > OPEN:
            self.sets.popitem(last=False)
        return self.sets[k]


def is_sharded(folder: Path) -> bool:
    """Whether a folder says that it is a set of shards."""
    try:
        return json.loads((folder / MANIFEST).read_text(encoding="utf-8")).get("format") == FORMAT
    except (OSError, ValueError, AttributeError):
        return False


def is_replaceable(folder: Path) -> bool:
    """Whether nothing but a set of shards would be lost with a folder."""
    try:
        shards = read_manifest(folder / MANIFEST, FORMAT, VERSION)["shards"]
    except (InvalidFolder, KeyError):
        return False
    return holds_only(folder, {MANIFEST, *map(shard_name, range(len(shards)))})


def shard_name(k: int) -> str:
    return f"{k:05d}"


def write_shard(series: SeriesSet, folder: Path) -> dict[str, Any]:
    """Write the arrays of one shard, and tell what the manifest says of it."""
    folder.mkdir()
    arrays = {name: getattr(series, name) for name in ARRAYS if getattr(series, name) is not None}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    files = {f"{name}.npy": file_hash(folder / f"{name}.npy") for name in arrays}
    return {"series": len(series), "observations": len(series.times), "files": files}


def write_shards_manifest(
    folder: Path,
    first: SeriesSet,
    shards: Sequence[Mapping[str, Any]],
    statistics: Statistics,
    dtypes: Mapping[str, str],
) -> None:
    """Say what the shards of a folder are; `first` is one of them, which all are like."""
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "format_version": VERSION,
        "denots_version": package_version(),
        "channels": list(first.channels),
        "static_names": list(first.static_names),
        "target_names": list(first.target_names),
        "time_unit": first.time_unit,
        "schema": None if first.schema is None else first.schema.as_json(),
        "observations": sum(shard["observations"] for shard in shards),
        "dtypes": dict(dtypes),
        "statistics": statistics.as_json(),
        "shards": list(shards),
    }
    write_manifest(folder / MANIFEST, {**manifest, "sha256": _own_hash(manifest)})


def id_hashes(ids: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """A number for each id that depends on it alone."""
    from pandas.util import hash_array

    return hash_array(ids if ids.dtype.kind in "iu" else ids.astype(object), categorize=False)


def _draw(ids: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """A second number for each id, which has nothing to do with its shard."""
    from pandas.util import hash_array

    return hash_array(id_hashes(ids) ^ np.uint64(0x9E3779B97F4A7C15))


@lru_cache(maxsize=OPEN)
def _opened(folder: Path, hashes: tuple[tuple[str, str], ...]) -> dict[str, npt.NDArray[Any]]:
    return {name.removesuffix(".npy"): _checked(folder / name, sha) for name, sha in hashes}


def _checked(file: Path, sha: str) -> npt.NDArray[Any]:
    """A memory-mapped array whose bytes are those that were written."""
    if not file.is_file():
        raise InvalidFolder(f"{file} is missing; the set is incomplete, so write or copy the folder again.")
    if file_hash(file) != sha:
        raise InvalidFolder(f"{file} was changed or truncated after it was written; write or copy the folder again.")
    try:
        return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    except ValueError as error:
        raise InvalidFolder(f"{file} holds something else than a plain array ({error}); do not trust it.") from error


def _own_hash(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
