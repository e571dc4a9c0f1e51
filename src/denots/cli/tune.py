"""`denots tune`: search the options of a system, resumable and in parallel, and write the best model."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denots.cli import columns as of
from denots.cli.fit import check_output, greet, read_options, read_series, weights
from denots.cli.learning import (
    MODEL,
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
from denots.cli.messages import complain, print_whole, say
from denots.cli.where import Place
from denots.errors import InvalidFolder, InvalidOption

if TYPE_CHECKING:
    from denots.tuning import SeriesSearch

SEARCH, SHOWN = "Search", 8


def tune(
    table: Table,
    to: Out,
    id: of.Id = "id",
    time_column: of.Time = "time",
    target: of.Target = None,
    targets: Targets = None,
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
        str, typer.Option(help="Whose options are searched; `denots systems` lists them.", rich_help_panel=MODEL)
    ] = "denots",
    settings: Settings = None,
    balanced: Balanced = False,
    search: Annotated[
        list[str] | None,
        typer.Option(
            help="Search this option only: depth, depth=1:30, depth=1:30:log or state_size=16,32. May be repeated. "
            "Default: all that say where to look.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="In all, earlier ones included.", rich_help_panel=SEARCH)] = 30,
    budget: Annotated[
        float | None,
        typer.Option(help="Stop after so many minutes and keep the best so far.", rich_help_panel=SEARCH),
    ] = None,
    study: Annotated[
        Path | None,
        typer.Option(help="Folder of the search. Default: beside the model, as MODEL.study.", rich_help_panel=SEARCH),
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Discard an earlier search in that folder.", rich_help_panel=SEARCH)
    ] = False,
    seed: Seed = 0,
    jobs: Jobs = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    place: Place = "local",
) -> None:
    r"""Search the options of a system and write the best model.

    Each trial is fitted as `denots fit` does and judged by the series that
    it holds back; trials that do worse than most are ended early. What was
    tried is kept in a folder: stopped or killed, the same command goes on.
    With --jobs 4 there are four trials at a time, with one processor each;
    with --on ray they are tasks of a cluster, and --jobs is for each of them.
    Needs pip install 'denots\[tune]'.

      denots tune visits.csv --target outcome --trials 50 -o model
      denots tune visits.csv --target outcome --budget 60 --jobs 4 -o model
      denots tune visits.csv --target outcome --system trees -o model
      denots tune visits.csv --target outcome --search depth=1:20 -o model
    """
    from denots.tuning.study import optuna_library

    optuna_library()
    if budget is not None and not budget > 0:
        raise InvalidOption(f"--budget is a positive number of minutes; got {budget}.")
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
    )
    series = read_series(table, targets, schema)
    if not quiet:
        greet(series)

    from denots.estimators import estimator_for
    from denots.systems import SYSTEMS
    from denots.tuning import SeriesSearch
    from denots.tuning.space import read_space

    check_output(to, overwrite)
    chosen = SYSTEMS.find(system)
    kind, reason = task_of(task, series)
    options = read_options(chosen, settings or ())
    journal = to.with_name(f"{to.name}.study") if study is None else study
    if restart:
        _discard(journal)
    estimator = estimator_for(
        kind, system=system, options=options, random_state=seed, verbose=not quiet, **weights(kind, balanced)
    )
    found = SeriesSearch(
        estimator,
        None if search is None else read_space(chosen, search),
        n_trials=trials,
        timeout=None if budget is None else 60 * budget,
        n_jobs=jobs,
        on=place,
        study=journal,
        random_state=seed,
        verbose=not quiet,
    )
    if not quiet:
        say(f"task: {kind.name} ({reason})")
        say(f"searching {trials} trials in {journal}")
    try:
        found.fit(series)
    except KeyboardInterrupt:
        complain("interrupted", "the same command goes on where it was.", "bold yellow")
        raise
    found.best_estimator_.save(to)
    if not quiet:
        _show(found, to)
    left = trials - int((found.trials_["state"] != "interrupted").sum())
    if left > 0:
        complain(
            "note",
            f"time is up with {left} of {trials} trials to go; the same command with --overwrite goes on.",
            "bold yellow",
        )


def _discard(folder: Path) -> None:
    """Remove a search, and nothing but a search."""
    from denots.folders import expanded, holds_only
    from denots.tuning.study import FILES

    place = expanded(folder)
    if not place.exists():
        return
    if not holds_only(place, FILES):
        raise InvalidFolder(f"{folder} holds other things than a search, so it is not removed; choose another --study.")
    shutil.rmtree(place)


def _show(found: "SeriesSearch", to: Path) -> None:
    """The best trials with the standard errors of their scores, and how the others ended."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Drawn

    trials, metric = found.trials_, found.best_estimator_.task_.metric_name
    options = [name for name in trials.columns if name.startswith("param_")]
    table = Drawn(box=SIMPLE_HEAD)
    for heading in ("trial", "loss", metric, "±", "seconds", *(name.removeprefix("param_") for name in options)):
        table.add_column(heading, justify="right")
    for _, row in trials[trials["state"] == "complete"].sort_values(["loss", "trial"]).head(SHOWN).iterrows():
        numbers = (f"{row['loss']:.4f}", f"{row['score']:.4f}", f"{row['spread']:.4f}", f"{row['seconds']:.1f}")
        table.add_row(str(row["trial"] + 1), *numbers, *(_spelled(row[name]) for name in options))
    print_whole(table)
    counts = trials["state"].value_counts()
    say(f"{len(trials)} trials: " + ", ".join(f"{count} {state}" for state, count in counts.items()))
    say("the best options, for denots fit: " + " ".join(f"--set {k}={v}" for k, v in found.best_params_.items()))
    say(
        f"{metric} {found.best_score_:.4f} on {found.best_estimator_.validation_size_} held-out series, which chose among "
        "trials, too, so new series will do a little worse"
    )
    say(f"model: {to}")


def _spelled(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
