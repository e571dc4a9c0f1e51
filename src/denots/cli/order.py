"""`denots order`: whether time carries information in a table."""

from typing import TYPE_CHECKING, Annotated

import typer

from denots.cli import columns as of
from denots.cli.fit import read_options, read_series
from denots.cli.learning import Table, Targets, schema_from, task_of
from denots.cli.messages import out, say
from denots.errors import InvalidOption

if TYPE_CHECKING:
    from denots.diagnostics.order import OrderReport


def order(
    table: Table,
    target: of.Target = None,
    targets: Targets = None,
    id: of.Id = "id",
    time_column: of.Time = "time",
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
    task: Annotated[str, typer.Option(help="classification, regression or auto.")] = "auto",
    system: Annotated[str, typer.Option(help="What is fitted; a fast one will do.")] = "trees",
    settings: Annotated[list[str] | None, typer.Option("--set", help="An option of the system: rounds=100.")] = None,
    folds: Annotated[int, typer.Option(min=2, help="Parts of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Of folds, shuffles and fits.")] = 0,
) -> None:
    """Say whether order and times carry information.

    The same system is cross-validated on the data as they are, with the rows
    of each series shuffled, and with times replaced by 0, 1, 2 ...

      denots order visits.csv --target outcome
      denots order visits.csv --target outcome --system trees --folds 10
    """
    from denots.diagnostics.order import VERSIONS, examine_order
    from denots.progress import tracking
    from denots.systems import SYSTEMS

    if not target and targets is None:
        raise InvalidOption("name the column to learn with --target, or a table of targets with --targets.")
    options = read_options(SYSTEMS.find(system), settings or ())
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
    kind = task_of(task, series)[0]
    with tracking(len(VERSIONS) * folds, "fits") as begin:
        report = examine_order(
            series, kind, system=system, options=options, folds=folds, seed=seed, advance=lambda *_: begin()
        )
    _show(report, system)


def _show(report: "OrderReport", system: str) -> None:
    import math

    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Rows

    from denots.diagnostics.order import AS_IS

    table = Rows("data", report.metric, "loss", box=SIMPLE_HEAD)
    for version, scores in report.scores.items():
        loss = "" if version == AS_IS else "{:.4f} ± {:.4f}".format(*report.loss(version))
        spread = scores.std(ddof=1) / math.sqrt(len(scores))
        table.add_row(version, f"{scores.mean():.4f} ± {spread:.4f}", loss)
    table.add_row("trivial answer", f"{report.trivial.mean():.4f}", "")
    out.print(table)
    say(f"{report.verdict} (system {system}, {len(report.trivial)} folds)")
