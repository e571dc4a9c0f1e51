"""Options of every command that learns from a table, beside its columns: what is learnt, and by what means."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denots.cli.columns import COLUMNS
from denots.errors import InvalidOption

if TYPE_CHECKING:
    from denots.data.schema import TableSchema
    from denots.data.series import SeriesSet
    from denots.tasks import Task

MODEL, TRAINING = "Model", "Training"

Table = Annotated[
    Path, typer.Argument(help="CSV, TSV, Parquet, Feather or Excel file; - is stdin.", show_default=False)
]
Out = Annotated[Path, typer.Option("--out", "-o", help="Model folder to write.", show_default=False)]
Targets = Annotated[
    Path | None,
    typer.Option(help="A second table (id, target) instead of a repeated column.", rich_help_panel=COLUMNS),
]
TaskName = Annotated[
    str,
    typer.Option(
        help="classification, regression, forecast, row-classification, row-regression or auto.", rich_help_panel=MODEL
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="An option of the system: depth=20, max_epochs=50. May be repeated; `denots systems NAME` lists them.",
        rich_help_panel=MODEL,
    ),
]
Balanced = Annotated[
    bool, typer.Option("--balanced", help="Let rare classes weigh as much as common ones.", rich_help_panel=MODEL)
]
Seed = Annotated[int, typer.Option(min=0, help="Of split, weights and batches.", rich_help_panel=TRAINING)]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="Keep at most so many processors busy. Default: all.", rich_help_panel=TRAINING),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a finished model.", rich_help_panel=TRAINING)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def names(given: Iterable[str] | None, option: str) -> tuple[str, ...]:
    """The names in lists such as `age,weight`, of all times that an option was given."""
    if given is None:
        return ()
    found = tuple(name.strip() for text in given for name in text.split(",") if name.strip())
    if not found:
        raise InvalidOption(f"{option} names no column; give names with commas between, or leave it out.")
    return found


def schema_from(
    *,
    target: list[str] | None,
    static: list[str] | None,
    channels: list[str] | None,
    na: list[str] | None,
    **others: Any,
) -> "TableSchema":
    """How a table is read, from options as they were given."""
    from denots.data.schema import TableSchema

    return TableSchema(
        target=tuple(target or ()),
        static=names(static, "--static"),
        channels=names(channels, "--channels") or None,
        picked=channels is not None,
        na=tuple(na or ()),
        **others,
    )


def task_of(name: str, series: "SeriesSet") -> "tuple[type[Task], str]":
    """The task that was asked for or suits the target, and why."""
    from denots.tasks import TASKS, suggest_row_task, suggest_task

    if name == "auto" and series.row_target is not None:
        row_kind, reason = suggest_row_task(series)
        return row_kind, f"{'' if series.schema is None else repr(series.schema.row_target)} {reason}"
    if name == "auto":
        kind, reason = suggest_task(series.target)
        told = () if series.schema is None else series.schema.targets
        return kind, f"{' and '.join(map(repr, told))} {reason}" if told else reason
    kind = TASKS.find(name)
    if kind.causal and series.row_target is None:
        raise InvalidOption(f"--task {name} needs a label for each row: name their column with --row-target.")
    if not kind.causal and series.row_target is not None:
        raise InvalidOption(f"--task {name} does not learn labels of rows; leave --row-target out, or the task.")
    if kind.needs_target and series.target is None:
        raise InvalidOption(f"--task {name} needs a target: name its column with --target.")
    return kind, "as asked"
