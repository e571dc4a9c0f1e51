"""`denots order`: whether time carries information in a table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denots.cli.fit import read_options, read_series
from denots.cli.learning import names
from denots.cli.messages import out, say
from denots.errors import InvalidOption

if TYPE_CHECKING:
    from denots.diagnostics.order import OrderReport


def order(
    table: Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or Feather file.", show_default=False)],
    target: Annotated[
        str | None, typer.Option(help="Column to learn, constant within a series.", show_default=False)
    ] = None,
    targets: Annotated[
        Path | None, typer.Option(help="A second table (id, target) instead of a repeated column.", show_default=False)
    ] = None,
    id: Annotated[str, typer.Option(help="Column that says which series a row belongs to.")] = "id",
    time_column: Annotated[str, typer.Option("--time", help="Column of numbers or dates.")] = "time",
    static: Annotated[list[str] | None, typer.Option(help="Columns that are constant within a series: a,b.")] = None,
    channels: Annotated[list[str] | None, typer.Option(help="Channels to use. Default: all other columns.")] = None,
    variable: Annotated[str | None, typer.Option(help="Long table: column that names the channel.")] = None,
    value: Annotated[str | None, typer.Option(help="Long table: column that holds the value.")] = None,
    time_unit: Annotated[str | None, typer.Option(help="s, min, h or d; needed for dates.")] = None,
    start: Annotated[str | None, typer.Option(help="Column with the moment each series began.")] = None,
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
    from denots.data.schema import TableSchema
    from denots.diagnostics.order import VERSIONS, examine_order
    from denots.progress import tracking
    from denots.systems import SYSTEMS
    from denots.tasks import TASKS, suggest_task

    if target is None and targets is None:
        raise InvalidOption("name the column to learn with --target, or a table of targets with --targets.")
    options = read_options(SYSTEMS.find(system), settings or ())
    schema = TableSchema(
        id=id,
        time=time_column,
        target=target,
        static=names(static, "--static"),
        channels=names(channels, "--channels") or None,
        picked=channels is not None,
        variable=variable,
        value=value,
        time_unit=time_unit,
        start=start,
    )
    series = read_series(table, targets, schema)
    kind = suggest_task(series.target)[0] if task == "auto" else TASKS.find(task)
    with tracking(len(VERSIONS) * folds, "fits") as begin:
        report = examine_order(
            series, kind, system=system, options=options, folds=folds, seed=seed, advance=lambda *_: begin()
        )
    _show(report, system)


def _show(report: "OrderReport", system: str) -> None:
    import math

    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from denots.diagnostics.order import AS_IS

    table = Table("data", report.metric, "loss", box=SIMPLE_HEAD)
    for version, scores in report.scores.items():
        loss = "" if version == AS_IS else "{:.4f} ± {:.4f}".format(*report.loss(version))
        spread = scores.std(ddof=1) / math.sqrt(len(scores))
        table.add_row(version, f"{scores.mean():.4f} ± {spread:.4f}", loss)
    table.add_row("trivial answer", f"{report.trivial.mean():.4f}", "")
    out.print(table)
    say(f"{report.verdict} (system {system}, {len(report.trivial)} folds)")
