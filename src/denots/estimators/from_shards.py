"""Estimators that learn from shards, through the same steps as from series in memory."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from denots.data.ranges import Ranges
from denots.data.shards import ShardedSet
from denots.errors import InvalidFolder, InvalidOption, InvalidTarget
from denots.folders import write_file_whole
from denots.systems import SYSTEMS
from denots.systems.from_shards import FromShards
from denots.training.progress import Progress

if TYPE_CHECKING:
    from denots.estimators.estimator import SeriesEstimator

VALIDATED = 20_000  # series that are held back, at most
FILE = "shards.txt"


def fit_shards(
    estimator: "SeriesEstimator",
    shards: ShardedSet,
    *,
    class_weight: Any = None,
    callbacks: Sequence[Progress] = (),
    **others: Any,
) -> None:
    """Give an estimator what it learns from shards, as if they were one set."""
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise InvalidOption(f"{given[0]} cannot be told of shards; leave it out.")
    params = estimator.get_params(deep=False)
    if "system" not in params:
        raise InvalidOption(f"{type(estimator).__name__} learns from memory; use one that takes system='denots'.")
    if "target" not in shards.dtypes:
        raise InvalidTarget(f"{shards.folder} has no target to learn; convert the table with --target or --targets.")
    if estimator.checkpoint_dir is not None:
        _claim(Path(estimator.checkpoint_dir), shards)
    share = min(estimator.validation_fraction, VALIDATED / len(shards))
    system = FromShards(SYSTEMS.resolve(estimator.system), shards)
    learner = type(estimator)(**{**params, "system": system, "validation_fraction": share})
    learner._fit(shards.outline(), class_weight=class_weight, callbacks=callbacks)
    learner.ranges_ = _ranges(system)
    if isinstance(learner.system_, FromShards):
        learner.system_ = learner.system_.inner
    for name, value in vars(learner).items():
        if name.endswith("_"):
            setattr(estimator, name, value)


def _ranges(system: FromShards) -> Ranges:
    """Extremes of all series; medians and quantiles of a sample."""
    known, shards = system.shards.statistics, system.shards
    seen = Ranges.of(system.sample(np.arange(len(shards))))
    spans, gaps, lengths = (
        np.array([low, middle, high])
        for (_, middle, _), (low, high) in (
            (seen.spans, known.spans),
            (seen.gaps, known.gaps),
            (seen.lengths, known.lengths),
        )
    )
    values = np.column_stack([known.lowest, seen.values[:, 1:3], known.highest])
    counts, observed = np.array([len(shards), shards.observations], np.float64), known.count / shards.observations
    return replace(seen, values=values, spans=spans, gaps=gaps, lengths=lengths, counts=counts, observed=observed)


def _claim(folder: Path, shards: ShardedSet) -> None:
    """Tie a folder of checkpoints to the bytes of the shards, of which the run itself sees an outline."""
    file, content = folder / FILE, shards.content_hash()
    if file.exists() and file.read_text(encoding="utf-8") != content:
        raise InvalidFolder(
            f"{folder} holds the checkpoint of a run with other data; delete it, choose another folder, or discard that run "
            "(denots fit --restart)."
        )
    write_file_whole(file, content.encode())
