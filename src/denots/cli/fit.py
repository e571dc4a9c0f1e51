"""`denots fit`: from a table to a model folder, resumable."""

import shutil
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denots.cli.messages import complain, say, show_facts
from denots.errors import InvalidFolder, InvalidOption

if TYPE_CHECKING:
    from denots.data.series import SeriesSet
    from denots.estimators import SeriesEstimator
    from denots.systems import System
    from denots.tasks import Task

COLUMNS, CLEANING, MODEL, TRAINING = "Columns", "Cleaning", "Model", "Training"


def fit(
    table: Annotated[
        Path, typer.Argument(help="CSV, TSV, Parquet, Feather or Excel file; - is stdin.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Model folder to write.", show_default=False)],
    id: Annotated[
        str, typer.Option(help="Column that says which series a row belongs to.", rich_help_panel=COLUMNS)
    ] = "id",
    time_column: Annotated[
        str, typer.Option("--time", help="Column of numbers or dates.", rich_help_panel=COLUMNS)
    ] = "time",
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="Column to learn, constant within a series. May be repeated for several of numbers.",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    targets: Annotated[
        Path | None,
        typer.Option(help="A second table (id, target) instead of a repeated column.", rich_help_panel=COLUMNS),
    ] = None,
    static: Annotated[
        list[str] | None,
        typer.Option(help="Columns that are constant within a series: a,b. May be repeated.", rich_help_panel=COLUMNS),
    ] = None,
    channels: Annotated[
        list[str] | None,
        typer.Option(
            help="Channels to use: a,b. May be repeated. Default: all other columns.", rich_help_panel=COLUMNS
        ),
    ] = None,
    variable: Annotated[
        str | None, typer.Option(help="Long table: column that names the channel.", rich_help_panel=COLUMNS)
    ] = None,
    value: Annotated[
        str | None, typer.Option(help="Long table: column that holds the value.", rich_help_panel=COLUMNS)
    ] = None,
    time_unit: Annotated[
        str | None, typer.Option(help="s, min, h or d; needed for dates.", rich_help_panel=COLUMNS)
    ] = None,
    start: Annotated[
        str | None, typer.Option(help="Column with the moment each series began.", rich_help_panel=COLUMNS)
    ] = None,
    time_format: Annotated[
        str | None,
        typer.Option(help="How dates are written: %d.%m.%Y %H:%M. Default: ISO 8601.", rich_help_panel=CLEANING),
    ] = None,
    na: Annotated[
        list[str] | None,
        typer.Option(
            help="A further spelling of a missing value: n/a, -999. May be repeated.", rich_help_panel=CLEANING
        ),
    ] = None,
    sort: Annotated[bool, typer.Option("--sort", help="Sort each series by time.", rich_help_panel=CLEANING)] = False,
    duplicates: Annotated[
        str,
        typer.Option(
            help="Several values of a channel at one time: error, mean, last or first.", rich_help_panel=CLEANING
        ),
    ] = "error",
    skip_empty: Annotated[
        bool, typer.Option("--skip-empty", help="Leave out series without any value.", rich_help_panel=CLEANING)
    ] = False,
    task: Annotated[
        str, typer.Option(help="classification, regression, forecast or auto.", rich_help_panel=MODEL)
    ] = "auto",
    system: Annotated[
        str | None,
        typer.Option(
            help="What to fit; `denots systems` lists them. Default: auto, or forecast without a target.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="An option of the system: depth=20, max_epochs=50. May be repeated; `denots systems NAME` lists them.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Let rare classes weigh as much as common ones.", rich_help_panel=MODEL)
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of split, weights and batches.", rich_help_panel=TRAINING)] = 0,
    restart: Annotated[
        bool, typer.Option("--restart", help="Discard an interrupted run.", rich_help_panel=TRAINING)
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a finished model.", rich_help_panel=TRAINING)
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
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
    """
    from denots.data.schema import TableSchema

    schema = TableSchema(
        id=id,
        time=time_column,
        target=tuple(target or ()),
        static=names(static, "--static"),
        channels=names(channels, "--channels") or None,
        picked=channels is not None,
        variable=variable,
        value=value,
        time_unit=time_unit,
        start=start,
        time_format=time_format,
        na=tuple(na or ()),
        sort=sort,
        duplicates=duplicates,
        skip_empty=skip_empty,
    )
    series = read_series(table, targets, schema)
    if not quiet:
        _greet(series)

    # Only now what takes seconds to import: whoever has a mistake in a table hears of it at once.
    from denots.estimators import estimator_for
    from denots.systems import SYSTEMS
    from denots.systems.auto import Auto
    from denots.tasks import TASKS, suggest_task

    check_output(out, overwrite)
    kind = None if task == "auto" else TASKS.find(task)
    chosen = None if system is None else SYSTEMS.find(system)
    options = {} if chosen is None else read_options(chosen, settings or ())
    if kind is None:
        kind, reason = suggest_task(series.target)
        told = () if series.schema is None else series.schema.targets
        reason = f"{' and '.join(map(repr, told))} {reason}" if told else reason
    elif kind.needs_target and series.target is None:
        raise InvalidOption(f"--task {task} needs a target: name its column with --target.")
    else:
        reason = "as asked"
    if chosen is None:
        chosen = SYSTEMS.resolve(estimator_for(kind).system)
        options = read_options(chosen, settings or ())
    checkpoints = out.with_name(f".{out.name}.fit")
    estimator = estimator_for(
        kind,
        system=chosen.name,
        options=options,
        random_state=seed,
        checkpoint_dir=str(checkpoints),
        verbose=not quiet,
        **_weights(kind, balanced),
    )
    if not quiet:
        say(f"task: {kind.name} ({reason})")
        if isinstance(chosen, Auto):
            seconds = chosen.with_options(**options).config.seconds(len(series))
            say(f"budget: {seconds:.0f} seconds, fast systems first; --set budget=SECONDS changes that")
    _prepare_checkpoints(checkpoints, restart, quiet)
    started = time.perf_counter()
    try:
        estimator.fit(series)
    except KeyboardInterrupt:
        complain("interrupted", "the same command goes on after the last finished epoch.", "bold yellow")
        raise
    estimator.save(out)
    shutil.rmtree(checkpoints)
    if not quiet:
        _summarise(estimator, series, time.perf_counter() - started, out)


def _greet(series: "SeriesSet") -> None:
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


def names(given: Iterable[str] | None, option: str) -> tuple[str, ...]:
    """The names in lists such as `age,weight`, of all times that an option was given."""
    if given is None:
        return ()
    found = tuple(name.strip() for text in given for name in text.split(",") if name.strip())
    if not found:
        raise InvalidOption(f"{option} names no column; give names with commas between, or leave it out.")
    return found


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


def _weights(task: "type[Task]", balanced: bool) -> dict[str, Any]:
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
        f"validation {metric}": f"{estimator.validation_score_:.4f}, on {estimator.validation_size_} series",
        "seconds": f"{seconds:.1f}",
        "model": str(out),
    }
    show_facts(facts)
    _show_leaderboard(fitted.leaderboard)


def _show_leaderboard(rows: list[dict[str, Any]]) -> None:
    """Every system that was tried, by what it says of series that it has not seen."""
    if not rows:
        return
    metric = rows[0]["metric"]
    say(f"\n{'held out':<20}{metric:>10}{'+-':>8}{'loss':>9}{'seconds':>9}{'weight':>8}")
    weights = rows[-1]["weights"]
    for row in rows:
        name = row["system"]
        if "note" in row:
            say(f"{name:<20}  {row['note']}")
            continue
        weight = f"{weights[name]:8.2f}" if name in weights else ""
        say(f"{name:<20}{row['score']:10.4f}{row['spread']:8.4f}{row['loss']:9.4f}{row['seconds']:9.1f}{weight}")
