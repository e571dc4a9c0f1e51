"""`denots fit`: from a table to a model folder, resumable."""

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denots.cli import columns as of
from denots.cli.fit_shards import fit_folder
from denots.cli.learning import (
    MODEL,
    TRAINING,
    Balanced,
    Jobs,
    Out,
    Overwrite,
    Quiet,
    Seed,
    Settings,
    Table,
    Targets,
    TaskName,
    schema_from,
    task_of,
)
from denots.cli.messages import complain, say, show_facts, show_leaderboard
from denots.cli.where import Members, Place, say_where
from denots.errors import InvalidFolder, InvalidOption

if TYPE_CHECKING:
    from denots.data.series import SeriesSet
    from denots.estimators import SeriesEstimator
    from denots.systems import System
    from denots.tasks import Task
    from denots.training.loggers import CurveLog


def fit(
    table: Table,
    out: Out,
    id: of.Id = "id",
    time_column: of.Time = "time",
    target: of.Target = None,
    targets: Targets = None,
    row_target: of.RowTarget = None,
    static: of.Static = None,
    channels: of.Channels = None,
    variable: of.Variable = None,
    value: of.Value = None,
    time_unit: of.TimeUnit = None,
    start: of.Start = None,
    time_format: of.TimeFormat = None,
    na: of.Missing = None,
    sort: of.Sort = False,
    duplicates: of.Duplicates = "error",
    skip_empty: of.SkipEmpty = False,
    task: TaskName = "auto",
    system: Annotated[
        str | None,
        typer.Option(
            help="What to fit; `denots systems` lists them. Default: auto, or forecast without a target.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    settings: Settings = None,
    balanced: Balanced = False,
    seed: Seed = 0,
    jobs: Jobs = None,
    log: Annotated[
        Path | None,
        typer.Option(
            help="Folder for learning curves as they grow: CSV, and events where TensorBoard is installed.",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Discard an interrupted run.", rich_help_panel=TRAINING)
    ] = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    place: Place = "local",
    members: Members = None,
) -> None:
    """Learn from a table of series and write a model folder.

    A row is one observation: which series, when, and what was seen.
    Empty cells were not observed. Without a target, a forecaster is fitted.
    After an interruption the same command goes on where it stopped.

      denots fit visits.csv --id patient --time hours --target outcome -o model
      denots fit visits.csv --time date --time-unit h --targets y.csv -o model
      denots fit visits.csv --target outcome --system trees -o model
      denots fit visits.csv --target outcome --set depth=20 -o model
      denots fit sensors.parquet --id unit --time t -o forecaster
      denots fit stays.csv --id stay --time hour --row-target alarm -o model
      denots fit shards -o model            (a folder of denots data convert)
    """
    from denots.data.shards import is_sharded

    schema = schema_from(
        id=id,
        time=time_column,
        target=target,
        static=static,
        channels=channels,
        variable=variable,
        value=value,
        time_unit=time_unit,
        start=start,
        time_format=time_format,
        na=na,
        sort=sort,
        duplicates=duplicates,
        skip_empty=skip_empty,
        row_target=row_target,
    )
    if row_target is not None and (target or targets is not None):
        raise InvalidOption("a model learns the target of series or that of rows; give --target or --row-target.")
    if is_sharded(table):
        if row_target is not None:
            raise InvalidOption("--row-target is for tables; shards are learnt by one target a series.")
        from denots.processors import limited_to

        if log is not None:
            raise InvalidOption("--log is for tables; a fit from shards writes no log, so leave it out.")
        with limited_to(jobs):
            fit_folder(
                table,
                out,
                schema=schema,
                targets=targets,
                task=task,
                system=system,
                settings=settings or (),
                balanced=balanced,
                seed=seed,
                restart=restart,
                overwrite=overwrite,
                quiet=quiet,
                place=place,
                members=members,
            )
        return
    if members is not None:
        raise InvalidOption("--workers is for sets of shards (denots data convert) and systems trained by gradient.")
    series = read_series(table, targets, schema)
    if not quiet:
        greet(series)

    # Only now what takes seconds to import: whoever has a mistake in a table hears of it at once.
    from denots.cluster.workers import workers_on
    from denots.estimators import estimator_for
    from denots.processors import limited_to
    from denots.systems import SYSTEMS
    from denots.systems.auto import Auto

    check_output(out, overwrite)
    chosen = None if system is None else SYSTEMS.find(system)
    options = {} if chosen is None else read_options(chosen, settings or ())
    kind, reason = task_of(task, series)
    if chosen is None:
        chosen = SYSTEMS.resolve(estimator_for(kind).system)
        options = read_options(chosen, settings or ())
    placed: System | str = chosen.name
    if place != "local":
        if not isinstance(chosen, Auto):
            raise InvalidOption(
                f"--on deals out the members of a blend (auto, fast), or a set of shards (denots data convert); {chosen.name!r} "
                "learns from a table where it is read."
            )
        with limited_to(jobs):
            placed = chosen.on(workers_on(place, tell=say_where))
    checkpoints = out.with_name(f".{out.name}.fit")
    estimator = estimator_for(
        kind,
        system=placed,
        options=options,
        random_state=seed,
        checkpoint_dir=str(checkpoints),
        verbose=not quiet,
        **weights(kind, balanced),
    )
    if not quiet:
        say(f"task: {kind.name} ({reason})")
        if isinstance(chosen, Auto):
            seconds = chosen.with_options(**options).config.seconds(len(series))
            order = "fast systems first" if place == "local" else "all systems as soon as the cluster has room"
            say(f"budget: {seconds:.0f} seconds, {order}; --set budget=SECONDS changes that")
    _prepare_checkpoints(checkpoints, restart, quiet)
    started = time.perf_counter()
    logs = [] if log is None else _loggers(log)
    try:
        with limited_to(jobs):
            estimator.fit(series, callbacks=logs)
    except KeyboardInterrupt:
        complain("interrupted", "the same command goes on after the last finished epoch.", "bold yellow")
        raise
    estimator.save(out)
    shutil.rmtree(checkpoints)
    if not quiet:
        _summarise(estimator, series, time.perf_counter() - started, out)
    if logs and not logs[0].runs:
        complain("note", f"nothing was logged: {chosen.name!r} did not train by epochs.", "bold yellow")


def greet(series: "SeriesSet") -> None:
    """Say what was read, and what is odd about it."""
    from denots.data.remarks import remarks

    say(f"read: {len(series)} series, {len(series.times)} rows, {len(series.channels)} channels")
    for remark in remarks(series):
        complain("note", remark, "bold yellow")


def check_output(folder: Path, overwrite: bool) -> None:
    """Refuse, before any work is done, a place that holds something else than a model, or a model unasked."""
    from denots.estimators.folder import replaceable
    from denots.folders import check_free, expanded

    place = expanded(folder)
    check_free(place, replaceable)
    if place.is_dir() and any(place.iterdir()) and not overwrite:
        raise InvalidFolder(
            f"{folder} holds a finished model; give --overwrite to replace it, or choose another --out."
        )


def read_options(system: "System", settings: Sequence[str]) -> dict[str, Any]:
    """Options of a system from `key=value`, each read as its type."""
    from dataclasses import fields

    from denots.options import parse, split
    from denots.systems.system import check_known

    homes = {option.name: type(config) for config in system.configs for option in fields(config)}
    found: dict[str, Any] = {}
    for text in settings:
        name, value = split(text)
        check_known([name], homes, system.name)
        found[name] = value if (name, value) == ("depth", "auto") else parse(homes[name], [text])[name]
    return found


def read_series(table: Path, targets: Path | None, schema: Any) -> "SeriesSet":
    """The series to learn from, with the schema filled in by what was found out."""
    from denots.data.table_file import read_table
    from denots.data.targets_table import add_targets

    frame = read_table(table, id=schema.id, texts=schema.texts)
    if targets is not None:
        frame, schema = add_targets(frame, read_table(targets, id=schema.id), schema)
    series: SeriesSet = schema.learn(frame)
    return series


def _loggers(folder: Path) -> "list[CurveLog]":
    """CSV files always, and events where their library is installed."""
    from importlib.util import find_spec

    from denots.training.loggers import CSVLog, TensorBoardLog

    return [CSVLog(folder)] + ([TensorBoardLog(folder)] if find_spec("tensorboard") else [])


def weights(task: "type[Task]", balanced: bool) -> dict[str, Any]:
    if balanced and task.learns != "classes":
        raise InvalidOption(f"--balanced weighs classes, and {task.name} has none; leave it out.")
    return {"class_weight": "balanced"} if balanced else {}


def _prepare_checkpoints(folder: Path, restart: bool, quiet: bool) -> None:
    """Say from where an interrupted run goes on, or make room for a new one."""
    from denots.training.fit import completed_epochs

    if restart and folder.exists():
        shutil.rmtree(folder)
    done = {run.name: completed_epochs(run) for run in sorted(folder.glob("*/"))}
    done = {name: epochs for name, epochs in done.items() if epochs}
    if done and not quiet:
        where = ", ".join(f"{name.replace('-', ' ')} epoch {epochs}" for name, epochs in done.items())
        say(f"continuing an interrupted run after {where.removeprefix('run ')}")


def _summarise(estimator: "SeriesEstimator", series: "SeriesSet", seconds: float, out: Path) -> None:
    import numpy as np

    from denots.registry import listed

    lengths, metric, fitted = series.lengths, estimator.task_.metric_name, estimator.fitted_
    facts = {
        "system": f"{estimator.system_.name}: {estimator.system_.description}",
        "series": f"{len(series)}, with {lengths.min()} to {lengths.max()} rows",
        "channels": f"{listed(series.channels)} ({np.isnan(series.values).mean():.1%} of the values missing)",
    }
    if series.static_names:
        facts["static"] = listed(series.static_names)
    if len(estimator.scores_) > 1:
        tried = ", ".join(f"{name.removeprefix('depth-')}: {score:.3f}" for name, score in estimator.scores_.items())
        facts["depth"] = f"{estimator.system_.options['depth']:g} (validation {metric} by depth {tried})"
    if fitted.curve:
        best = max(
            range(len(fitted.curve)), key=lambda k: (fitted.curve[k]["val_metric"], -fitted.curve[k]["val_loss"])
        )
        facts["epochs"] = f"{len(fitted.curve)}, the best was number {best + 1}"
    facts |= {
        f"validation {metric}": f"{estimator.validation_score_:.4f} ± {estimator.validation_spread_:.4f}, on "
        f"{estimator.validation_size_} series",
        "seconds": f"{seconds:.1f}",
        "model": str(out),
    }
    show_facts(facts)
    show_leaderboard(fitted.leaderboard)
