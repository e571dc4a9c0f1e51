"""Answers for a sharded set, one file for each shard: what is finished is never made again, nothing is made twice.

`_manifest.json` says whose answers a folder holds; a part appears whole or not at all. So a job that was stopped or
killed goes on where it was, and one with another model, other data or another question is refused.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from denots.data.shards import ShardedSet
from denots.data.table_file import write_table
from denots.errors import InvalidFolder
from denots.folders import expanded, package_version, read_manifest, write_file_whole

if TYPE_CHECKING:
    import pandas as pd

    from denots.estimators.estimator import SeriesEstimator

FORMAT, VERSION = "denots-answers", 1
MANIFEST = "_manifest.json"  # readers of Parquet folders pass over names that begin like this
TOGETHER = 1024  # series that are answered at once


@dataclass(frozen=True)
class Tally:
    """What became of series: how many there are, how many have no answer, how many are unlike the training data."""

    series: int = 0
    failed: int = 0
    unusual: int = 0

    @classmethod
    def of(cls, status: "pd.Series[str]") -> "Tally":
        failed, unusual = (int(status.str.startswith(word).sum()) for word in ("not ", "unusual"))
        return cls(len(status), failed, unusual)

    def add(self, other: "Tally") -> "Tally":
        return Tally(self.series + other.series, self.failed + other.failed, self.unusual + other.unusual)


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """Answers to be made: whose, of what, and where to."""

    folder: Path
    shards: ShardedSet
    asked: Mapping[str, Any]

    @classmethod
    def begin(cls, folder: Path, model: Path, shards: ShardedSet, asked: Mapping[str, Any]) -> "Job":
        """Claim a folder for the job, or take up the one that was begun there."""
        from denots.estimators.folder import MANIFEST as MODEL_MANIFEST

        root = expanded(folder)
        manifest = {
            "format": FORMAT,
            "format_version": VERSION,
            "denots_version": package_version(),
            "model": hashlib.sha256((expanded(model) / MODEL_MANIFEST).read_bytes()).hexdigest(),
            "data": shards.content_hash(),
            "asked": dict(asked),
            "parts": shards.shards,
        }
        job = cls(root, shards, asked)
        if root.exists() and any(root.iterdir()):
            if not (root / MANIFEST).exists():
                raise InvalidFolder(
                    f"{root} holds something else than answers; nothing was written. Choose another place."
                )
            known = read_manifest(root / MANIFEST, FORMAT, VERSION)
            if {**known, "denots_version": ""} != {**manifest, "denots_version": ""}:
                raise InvalidFolder(
                    f"{root} holds answers of another model, to other data or to another question; nothing was written. "
                    "Choose another place."
                )
            return job
        root.mkdir(parents=True, exist_ok=True)
        write_file_whole(root / MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())
        return job

    def part(self, k: int) -> Path:
        return self.folder / f"part-{k:05d}.parquet"

    @property
    def left(self) -> list[int]:
        """The shards without answers."""
        return [k for k in range(self.shards.shards) if not self.part(k).exists()]

    def answer(self, estimator: "SeriesEstimator", k: int, **more: Any) -> None:
        """Answer for one shard, unless somebody has."""
        if not self.part(k).exists():
            write_table(_answers(estimator, self.shards, k, {**self.asked, **more}), self.part(k))

    def tally(self) -> Tally:
        """Of all parts that are there."""
        import pandas as pd

        total = Tally()
        for k in range(self.shards.shards):
            if self.part(k).exists():
                total = total.add(Tally.of(pd.read_parquet(self.part(k), columns=["status"])["status"]))
        return total


def _answers(estimator: "SeriesEstimator", shards: ShardedSet, k: int, asked: Mapping[str, Any]) -> "pd.DataFrame":
    import pandas as pd

    shard = shards.shard(k)
    starts = range(0, len(shard), TOGETHER)
    parts = [shard.select(np.arange(first, min(first + TOGETHER, len(shard)))) for first in starts]
    return pd.concat([estimator.predict_table(part, **asked) for part in parts], ignore_index=True)
