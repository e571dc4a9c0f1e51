"""`denots data convert`: a table of any size into a folder of shards."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denots.cli import columns as of
from denots.cli.learning import names
from denots.cli.messages import say, show_facts
from denots.errors import InvalidFolder

if TYPE_CHECKING:
    from denots.data.shards import ShardedSet


def convert(
    table: Annotated[
        Path, typer.Argument(help="CSV, Parquet (file or folder) or another table, of any size.", show_default=False)
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write.", show_default=False)],
    shards: Annotated[
        int | None,
        typer.Option(min=1, help="How many; each has to fit into memory. Default: one for each 32 MiB of the file."),
    ] = None,
    id: of.Id = "id",
    time_column: of.Time = "time",
    target: of.Target = None,
    targets: Annotated[
        Path | None,
        typer.Option(help="A second table (id, target) instead of a repeated column.", rich_help_panel=of.COLUMNS),
    ] = None,
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
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace shards that are there.")] = False,
) -> None:
    """Turn a table of any size into shards, which `fit` and `predict` read one by one.

    Rows may stand in any order of series; only one shard is in memory at
    a time. Columns are told here, once, and not again by `fit`.

      denots data convert visits.parquet --target outcome -o visits --shards 64
      denots fit visits --system oscillators -o model
      denots predict model visits -o answers
    """
    from denots.data.partition import shard_table
    from denots.data.schema import TableSchema

    if out.is_dir() and any(out.iterdir()) and not overwrite:
        raise InvalidFolder(
            f"{out} holds something already; give --overwrite to replace shards, or choose another --out."
        )
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
    _tell(shard_table(table, schema, out, shards=shards, targets=targets))


def _tell(found: "ShardedSet") -> None:
    known = found.statistics
    told = zip(found.channels, known.count, known.mean, known.spread, strict=True)
    show_facts(
        {
            "series": f"{len(found)} in {found.shards} shards, {known.lengths[0]:g} to {known.lengths[1]:g} rows each",
            "rows": str(found.observations),
            **{
                name: f"{mean:.4g} +- {spread:.4g}, {1 - count / found.observations:.1%} missing"
                for name, count, mean, spread in told
            },
        }
    )
    say(str(found.folder))
