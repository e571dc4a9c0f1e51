"""`denots fit FOLDER`: from shards to a model folder, resumable."""

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from denots.cli.messages import complain, say, show_facts, show_leaderboard
from denots.cli.where import say_where
from denots.errors import InvalidOption

if TYPE_CHECKING:
    from denots.data.schema import TableSchema
    from denots.data.shards import ShardedSet
    from denots.estimators import SeriesEstimator

DEFAULT = "fast"  # the system where nobody asks for one


def fit_folder(
    folder: Path,
    out: Path,
    *,
    schema: "TableSchema",
    targets: Path | None,
    task: str,
    system: str | None,
    settings: Sequence[str],
    balanced: bool,
    seed: int,
    restart: bool,
    overwrite: bool,
    quiet: bool,
    place: str,
    members: int | None,
) -> None:
    """Learn from a folder of shards, whose columns were told when it was made."""
    from denots.cli.fit import check_output, read_options
    from denots.cluster.workers import workers_on
    from denots.data.schema import TableSchema
    from denots.data.shards import ShardedSet

    if schema != TableSchema(id="id", time="time") or targets is not None:
        raise InvalidOption(
            f"{folder} is a set of shards, whose columns were told to `denots data convert`; leave out what names or cleans them."
        )
    shards = ShardedSet.open(folder).on(workers_on(place, tell=say_where, members=members))
    if not quiet:
        say(
            f"read: {len(shards)} series, {shards.observations} rows, {len(shards.channels)} channels, {shards.shards} shards"
        )

    from denots.estimators import estimator_for
    from denots.systems import SYSTEMS
    from denots.tasks import TASKS, suggest_task

    check_output(out, overwrite)
    chosen = SYSTEMS.find(system or DEFAULT)
    options = read_options(chosen, settings)
    kind, reason = suggest_task(shards.outline().target) if task == "auto" else (TASKS.find(task), "as asked")
    if kind.asks_times:
        raise InvalidOption(
            f"{kind.name} is not learnt from shards; fit it to a part of the table that fits into memory."
        )
    checkpoints = out.with_name(f".{out.name}.fit")
    if restart and checkpoints.exists():
        shutil.rmtree(checkpoints)
    estimator = estimator_for(
        kind,
        system=chosen.name,
        options=options,
        random_state=seed,
        checkpoint_dir=str(checkpoints),
        verbose=not quiet,
        **({"class_weight": "balanced"} if balanced else {}),
    )
    if not quiet:
        say(f"task: {kind.name} ({reason}), system: {chosen.name}")
    started = time.perf_counter()
    try:
        estimator.fit(shards)
    except KeyboardInterrupt:
        complain("interrupted", "the same command goes on after the last finished epoch.", "bold yellow")
        raise
    estimator.save(out)
    shutil.rmtree(checkpoints)
    if not quiet:
        _summarise(estimator, shards, time.perf_counter() - started, out)


def _summarise(estimator: "SeriesEstimator", shards: "ShardedSet", seconds: float, out: Path) -> None:
    from denots.registry import listed

    low, high = shards.statistics.lengths
    metric, score, spread = estimator.task_.metric_name, estimator.validation_score_, estimator.validation_spread_
    show_facts(
        {
            "system": f"{estimator.system_.name}: {estimator.system_.description}",
            "series": f"{len(shards)}, with {low:g} to {high:g} rows",
            "channels": listed(shards.channels),
            f"validation {metric}": f"{score:.4f} ± {spread:.4f}, on {estimator.validation_size_} series",
            "seconds": f"{seconds:.1f}",
            "model": str(out),
        }
    )
    show_leaderboard(estimator.fitted_.leaderboard)
