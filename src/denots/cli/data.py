"""`denots data`: the built-in data sets as folders, descriptions and tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denots.cli.messages import out, say, show_facts
from denots.registry import lookup

if TYPE_CHECKING:
    from denots.data.series import SeriesSet
    from denots.datasets import Description

app = typer.Typer(no_args_is_help=True, help="The built-in data sets: list, build, look at, export as a table.")

Name = Annotated[str, typer.Argument(help="Name in `denots data list`.", show_default=False)]
Size = Annotated[int | None, typer.Option(help="Series in all three splits together. Default: as published.")]
Seed = Annotated[int, typer.Option(help="Seed of the draw.")]
Split = Annotated[str, typer.Option(help="train, val or test.")]


@app.command("list")
def list_datasets() -> None:
    """List the data sets.

    denots data list
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from denots.datasets import DATASETS

    table = Table(box=SIMPLE_HEAD)
    for header in ("name", "task", "train / val / test"):
        table.add_column(header, no_wrap=True)
    table.add_column("what it asks")
    for name, recipe in DATASETS.items():
        table.add_row(name, recipe.task, " / ".join(map(str, recipe.sizes)), recipe.description)
    out.print(table)


@app.command()
def build(name: Name, size: Size = None, seed: Seed = 0) -> None:
    """Draw a data set and keep it in $DENOTS_HOME.

    Other commands do so when they first need it.

      denots data build pendulum --size 1000 --seed 1
    """
    from denots.datasets import build as build_dataset

    say(str(build_dataset(name, seed=seed, size=size)))


@app.command("info")
def describe_dataset(name: Name, size: Size = None, seed: Seed = 0, split: Split = "train") -> None:
    """Show what a data set holds, with a sketch of its first series.

    denots data info bump --size 60
    """
    from denots.datasets import DATASETS, describe, load, sketch

    recipe = lookup(DATASETS, name, "data set")
    series = _split(name, size, seed, split)
    splits = load(name, seed=seed, size=size).splits
    facts = {
        "name": f"{name}: {recipe.description}",
        "task": f"{recipe.task}, judged by {recipe.metric}",
        "series": f"{len(splits.train)} train, {len(splits.val)} val, {len(splits.test)} test; below: {split}",
    }
    show_facts(facts | _facts(describe(series)))
    say("\n" + sketch(series, 0, width=max(20, min(64, out.width - 20))))


@app.command()
def export(
    name: Name,
    file: Annotated[
        Path, typer.Option("--out", "-o", help="File to write: .csv, .tsv, .parquet ...", show_default=False)
    ],
    split: Split = "train",
    size: Size = None,
    seed: Seed = 0,
) -> None:
    """Write a data set as a table (id, time, channels, target) for `denots fit`.

    denots data export pendulum-small --split train --out train.csv
    denots data export pendulum-small --split test --out test.csv
    """
    import pandas as pd

    from denots.data.table_file import check_destination, write_table

    check_destination(file)
    series = _split(name, size, seed, split)
    owner = series.owner()
    columns = {"id": series.ids[owner], "time": series.times}
    columns |= {channel: series.values[:, k] for k, channel in enumerate(series.channels)}
    if series.target is not None:
        columns["target"] = series.target[owner]
    write_table(pd.DataFrame(columns), file)
    say(f"{len(series)} series, {len(series.times)} rows in {file}")


def _split(name: str, size: int | None, seed: int, split: str) -> "SeriesSet":
    from denots.datasets import SplitSizes, load

    lookup(dict.fromkeys(SplitSizes._fields, True), split, "split")
    series: SeriesSet = getattr(load(name, seed=seed, size=size).splits, split)
    return series


def _facts(found: "Description") -> dict[str, str]:
    lengths, spans = found.lengths, found.spans
    facts = {
        "rows": f"{found.observations}; {lengths.least:g} to {lengths.most:g} a series, median {lengths.median:g}",
        "time span": f"{spans.least:.4g} to {spans.most:.4g}, median {spans.median:.4g} {found.time_unit}".rstrip(),
        "missing": ", ".join(f"{channel} {share:.1%}" for channel, share in found.missing_by_channel.items()),
    }
    if found.static_names:
        facts["static"] = ", ".join(found.static_names)
    if found.classes is not None:
        facts["classes"] = ", ".join(f"{label}: {share:.1%}" for label, share in found.classes.items())
    for column, quantiles in (found.target_quantiles or {}).items():
        facts[column] = f"{quantiles[0]:.4g} to {quantiles[-1]:.4g}, median {quantiles[2]:.4g}"
    return facts
