"""`denots fit`: from a table to a model folder, resumable."""

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denots.cli.messages import complain, say, show_facts, watched
from denots.cli.table_options import FILE, FittedTable, names, read_fit_table, write_fitted_table
from denots.data.schema import TableSchema
from denots.errors import InvalidFolder, InvalidOption
from denots.registry import lookup

if TYPE_CHECKING:
    from denots.data.series import SeriesSet
    from denots.estimators.estimator import SeriesEstimator

COLUMNS, MODEL, TRAINING = "Columns", "Model", "Training"


def fit(
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or Feather file.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Model folder to write.", show_default=False)],
    id: Annotated[
        str, typer.Option(help="Column that says which series a row belongs to.", rich_help_panel=COLUMNS)
    ] = "id",
    time_column: Annotated[
        str, typer.Option("--time", help="Column of numbers or dates.", rich_help_panel=COLUMNS)
    ] = "time",
    target: Annotated[
        str | None, typer.Option(help="Column to learn, constant within a series.", rich_help_panel=COLUMNS)
    ] = None,
    targets: Annotated[
        Path | None,
        typer.Option(help="A second table (id, target) instead of a repeated column.", rich_help_panel=COLUMNS),
    ] = None,
    static: Annotated[
        str | None, typer.Option(help="Columns that are constant within a series: a,b.", rich_help_panel=COLUMNS)
    ] = None,
    channels: Annotated[
        str | None, typer.Option(help="Channels to use: a,b. Default: all other columns.", rich_help_panel=COLUMNS)
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
    task: Annotated[
        str, typer.Option(help="classification, regression, forecast or auto.", rich_help_panel=MODEL)
    ] = "auto",
    depth: Annotated[
        str, typer.Option(help="How far time is stretched; auto tries several.", rich_help_panel=MODEL)
    ] = "10",
    state_size: Annotated[int, typer.Option(help="Size of the hidden state.", rich_help_panel=MODEL)] = 32,
    field: Annotated[str, typer.Option(help="anti, sync, none, tanh or relu.", rich_help_panel=MODEL)] = "anti",
    path: Annotated[
        str, typer.Option(help="natural-cubic, causal-hermite, linear or rectilinear.", rich_help_panel=MODEL)
    ] = "natural-cubic",
    balanced: Annotated[
        bool, typer.Option("--balanced", help="Let rare classes weigh as much as common ones.", rich_help_panel=MODEL)
    ] = False,
    epochs: Annotated[int, typer.Option(help="At most this many.", rich_help_panel=TRAINING)] = 100,
    learning_rate: Annotated[float, typer.Option(help="Of Adam.", rich_help_panel=TRAINING)] = 1e-3,
    patience: Annotated[
        int, typer.Option(help="Epochs without improvement before stopping.", rich_help_panel=TRAINING)
    ] = 10,
    batch_size: Annotated[int, typer.Option(help="Series in a batch.", rich_help_panel=TRAINING)] = 128,
    batches_per_epoch: Annotated[
        int | None, typer.Option(help="Default: one pass, at least 32.", rich_help_panel=TRAINING)
    ] = None,
    seed: Annotated[int, typer.Option(help="Of split, weights and batches.", rich_help_panel=TRAINING)] = 0,
    restart: Annotated[
        bool, typer.Option("--restart", help="Discard an interrupted run.", rich_help_panel=TRAINING)
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Learn from a table of series and write a model folder.

    A row is one observation: which series, when, and what was seen.
    Empty cells were not observed. Without a target, a forecaster is fitted.
    After an interruption the same command goes on where it stopped.

      denots fit visits.csv --id patient --time hours --target outcome -o model
      denots fit visits.csv --time date --time-unit h --targets y.csv -o model
      denots fit sensors.parquet --id unit --time t -o forecaster
    """
    from denots.cli.task import TASKS, choose_task, make_estimator, trivial_answer

    check_output(out)
    lookup(dict.fromkeys(TASKS, True), task, "task")
    depths = _depth(depth)
    options = TableSchema(
        id=id,
        time=time_column,
        target=target,
        static=names(static),
        channels=names(channels) or None,
        picked=bool(names(channels)),
        variable=variable,
        value=value,
        time_unit=time_unit,
        start=start,
    )
    series, options = read_fit_table(table, targets, options)
    choice = choose_task(task, series.target, options.target)
    checkpoints = out.with_name(f".{out.name}.fit")
    estimator = make_estimator(
        choice.task,
        balanced=balanced,
        depth=depths,
        state_size=state_size,
        field=field,
        path=path,
        max_epochs=epochs,
        learning_rate=learning_rate,
        patience=patience,
        batch_size=batch_size,
        batches_per_epoch=batches_per_epoch,
        random_state=seed,
        checkpoint_dir=str(checkpoints),
        verbose=watched() and not quiet,
    )
    if not quiet:
        say(f"task: {choice.task} ({choice.reason})")
    _prepare_checkpoints(checkpoints, restart, quiet)
    started = time.perf_counter()
    try:
        estimator.fit(series)
    except KeyboardInterrupt:
        complain("interrupted", "the same command goes on after the last finished epoch.", "bold yellow")
        raise
    fitted = FittedTable(options, trivial_answer(choice.task, series.target))
    save_model(estimator, fitted, out)
    shutil.rmtree(checkpoints)
    if not quiet:
        _summarise(estimator, series, time.perf_counter() - started, out)


def check_output(folder: Path) -> None:
    """Refuse, before any work is done, a place that holds something else than a model."""
    if folder.exists() and not _replaceable(folder):
        raise InvalidFolder(f"{folder} exists and is not a model folder; nothing was done. Choose another --out.")


def save_model(estimator: "SeriesEstimator", fitted: FittedTable, folder: Path) -> None:
    """Write model and table options as one folder, which appears whole or not at all."""
    from denots.folders import written_whole

    with written_whole(folder, replaceable=_replaceable) as draft:
        estimator.save(draft)
        write_fitted_table(fitted, draft)


def _replaceable(folder: Path) -> bool:
    from denots.estimators.folder import MODEL_FILES
    from denots.folders import holds_only

    return holds_only(folder, {*MODEL_FILES, FILE})


def _depth(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError as error:
        raise InvalidOption(f"--depth is a positive number or auto; got {text!r}.") from error


def _prepare_checkpoints(folder: Path, restart: bool, quiet: bool) -> None:
    """Say from where an interrupted run goes on, or make room for a new one."""
    from denots.training.fit import completed_epochs

    if restart and folder.exists():
        shutil.rmtree(folder)
    done = {run.name.removeprefix("depth-"): completed_epochs(run) for run in folder.glob("depth-*")}
    done = {depth: epochs for depth, epochs in done.items() if epochs}
    if done and not quiet:
        depth = max(done, key=float)
        where = f"depth {depth}, " if len(done) > 1 else ""
        say(f"continuing an interrupted run after {where}epoch {done[depth]}")


def _summarise(estimator: Any, series: "SeriesSet", seconds: float, out: Path) -> None:
    import numpy as np

    lengths = series.lengths
    metric = estimator.model_.readout.metric_name
    tried = ", ".join(f"{depth:g}: {score:.3f}" for depth, score in estimator.depth_scores_.items())
    facts = {
        "series": f"{len(series)}, with {lengths.min()} to {lengths.max()} rows",
        "channels": f"{', '.join(series.channels)} ({np.isnan(series.values).mean():.1%} of the values missing)",
    }
    if series.static_names:
        facts["static"] = ", ".join(series.static_names)
    facts |= {
        "depth": f"{estimator.depth_:g}" + (f" (validation {metric} by depth {tried})" if "," in tried else ""),
        "epochs": f"{len(estimator.history_.rows)}, the best was number {int(estimator.history_.best['epoch']) + 1}",
        f"validation {metric}": f"{estimator.validation_score_:.4f}, on {estimator.validation_size_} series",
        "seconds": f"{seconds:.1f}",
        "model": str(out),
    }
    show_facts(facts)
