"""Answers for a sharded set, one file for each shard: what is finished is never made again, nothing is made twice.

`_manifest.json` says whose answers a folder holds; a part appears whole or not at all. So a job that was stopped or
killed goes on where it was, and one with another model, other data or another question is refused.
"""

import hashlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from denots.data.shards import ShardedSet
from denots.data.table_file import write_table
from denots.errors import InvalidFolder, SolverWarning, UnusualSeries
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
    def of(cls, answers: "pd.DataFrame") -> "Tally":
        """By series; forecasts have several rows each."""
        found = answers.drop_duplicates(answers.columns[0])
        status = found["status"].str
        return cls(len(found), int(status.startswith("not ").sum()), int(status.startswith("unusual").sum()))

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
        root = expanded(folder)
        manifest = {
            "format": FORMAT,
            "format_version": VERSION,
            "denots_version": package_version(),
            "model": _model_hash(model),
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
                total = total.add(Tally.of(pd.read_parquet(self.part(k))))
        return total


@dataclass(frozen=True)
class Piece:
    """One shard of a job that was begun, by the places of its folders, for whatever process takes it."""

    model: str
    shards: str
    folder: str
    shard: int
    strict: bool = False


def answer_piece(piece: Piece) -> None:
    """Answer for one shard; model and shards are opened once a process, or again where others have taken their place."""
    begun = read_manifest(Path(piece.folder) / MANIFEST, FORMAT, VERSION)
    job = Job(Path(piece.folder), _shards(piece.shards, begun["data"]), begun["asked"])
    job.answer(_model(piece.model, begun["model"]), piece.shard, strict=piece.strict)


@lru_cache(maxsize=1)
def _shards(folder: str, content: str) -> ShardedSet:
    shards = ShardedSet.open(folder)
    _check_unchanged(folder, shards.content_hash() == content)
    return shards


@lru_cache(maxsize=1)
def _model(folder: str, content: str) -> "SeriesEstimator":
    from denots.estimators.folder import load_estimator

    _check_unchanged(folder, _model_hash(Path(folder)) == content)
    return load_estimator(folder)


def _check_unchanged(folder: str, same: bool) -> None:
    if not same:
        raise InvalidFolder(
            f"{folder} was replaced while answers were made; choose another place for those of the new one."
        )


def _model_hash(folder: Path) -> str:
    from denots.inference.folder import MANIFEST as MODEL_MANIFEST

    return hashlib.sha256((expanded(folder) / MODEL_MANIFEST).read_bytes()).hexdigest()


def _answers(estimator: "SeriesEstimator", shards: ShardedSet, k: int, asked: Mapping[str, Any]) -> "pd.DataFrame":
    import pandas as pd

    shard = shards.shard(k)
    starts = range(0, len(shard), TOGETHER)
    parts = [shard.select(np.arange(first, min(first + TOGETHER, len(shard)))) for first in starts]
    with warnings.catch_warnings():
        for told_by_status in (SolverWarning, UnusualSeries):
            warnings.simplefilter("ignore", told_by_status)
        return pd.concat([estimator.predict_table(part, **asked) for part in parts], ignore_index=True)
