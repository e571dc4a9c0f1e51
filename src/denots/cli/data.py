"""`denots data`: the built-in data sets as folders, descriptions and tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denots.cli.convert import convert
from denots.cli.messages import out, say, show_facts
from denots.protocol import DEFAULT_PROTOCOL
from denots.registry import lookup

if TYPE_CHECKING:
    from denots.data.series import SeriesSet
    from denots.datasets import DerivedRecipe, Description, Splits

app = typer.Typer(no_args_is_help=True, help="Data sets: list, import, build, look at, export as a table.")
app.command()(convert)

Name = Annotated[str, typer.Argument(help="Name in `denots data list`.", show_default=False)]
Size = Annotated[int | None, typer.Option(help="Series in all three splits together. Default: as published.")]
Seed = Annotated[int, typer.Option(help="Seed of the draw.")]
As = Annotated[
    str, typer.Option("--protocol", help="How real data are prepared: paper, or fair (best reads the same).")
]
Split = Annotated[str, typer.Option(help="train, val or test.")]


@app.command("list")
def list_datasets() -> None:
    """List the data sets.

    denots data list
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from denots.datasets import DATASETS, DerivedRecipe
    from denots.datasets.archive import imported_archives
    from denots.datasets.imports import import_folder

    table = Table(box=SIMPLE_HEAD)
    for header in ("name", "task", "train / val / test"):
        table.add_column(header, no_wrap=True)
    table.add_column("what it asks")
    for name in (*DATASETS, *imported_archives()):
        recipe = DATASETS.find(name)
        absent = isinstance(recipe, DerivedRecipe) and not import_folder(recipe.source).exists()
        note = " (to be imported)" if absent else ""
        table.add_row(name, recipe.task, " / ".join(map(str, recipe.sizes)), recipe.description + note)
    out.print(table)


@app.command("import")
def import_data(
    name: Annotated[str, typer.Argument(help="Name in `denots data list`, or uea.", show_default=False)],
    paths: Annotated[list[Path], typer.Argument(help="Folders, files or zip archives.", show_default=False)],
) -> None:
    """Take published data into $DENOTS_HOME.

    UEA/UCR archive: .ts or .arff; with the name uea, every set that the paths
    hold becomes a data set uea-NAME. Sepsis: training_setA and training_setB
    with .psv files. PhysioNet 2012: each set with its outcomes. UWGL,
    InsectSound and Sepsis may be packed as .npz. An earlier import is replaced.

      denots data import uwgl ~/Downloads/UWaveGestureLibrary.zip
      denots data import uea BasicMotions.zip JapaneseVowels.zip
      denots data import sepsis training_setA training_setB
      denots data import physionet-2012 set-a.zip Outcomes-a.txt set-b.zip ...
    """
    from denots.datasets.archive import import_archives
    from denots.datasets.imports import import_source

    if name == "uea":
        for archive, folder in import_archives(paths).items():
            say(f"{archive} in {folder}")
        return
    _tell_import(name, import_source(_derived(name).source, paths))


@app.command()
def download(
    name: Name,
    url: Annotated[str | None, typer.Option(help="A mirror to fetch the zip archive from.", show_default=False)] = None,
    sha256: Annotated[str | None, typer.Option(help="Its checksum, if one is known.", show_default=False)] = None,
) -> None:
    """Fetch published data from their site and import them.

    An interrupted download goes on where it ended. Without --sha256, the checksum
    seen at the first download is kept, and later downloads have to match it.

      denots data download uwgl
    """
    from denots.datasets.download import download as fetch
    from denots.datasets.imports import import_source
    from denots.datasets.library import home

    source = _derived(name).source
    found = fetch(url or source.url, home() / "downloads" / f"{source.name}.zip", sha256=sha256)
    trust = "as expected" if found.verified else "seen for the first time, so nothing vouches for it yet"
    say(f"{found.file}: sha256 {found.sha256} ({trust})")
    _tell_import(name, import_source(source, [found.file]))


@app.command()
def check(name: Name) -> None:
    """Compare an imported data set with what was published about it.

    The exit code is 1 if anything differs.

      denots data check sepsis
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from denots.datasets.facts import check_facts

    findings = check_facts(_derived(name))
    table = Table("fact", "expected", "found", "ok", box=SIMPLE_HEAD)
    for finding in findings:
        mark = "[green]yes[/green]" if finding.ok else "[bold red]NO[/bold red]"
        table.add_row(finding.fact, finding.expected, finding.found, mark)
    out.print(table)
    wrong = sum(not finding.ok for finding in findings)
    say(f"{name}: {len(findings) - wrong} of {len(findings)} facts confirmed.")
    if wrong:
        raise typer.Exit(1)


@app.command()
def build(name: Name, size: Size = None, seed: Seed = 0, protocol: As = DEFAULT_PROTOCOL) -> None:
    """Make a data set and keep it in $DENOTS_HOME.

    Other commands do so when they first need it.

      denots data build pendulum --size 1000 --seed 1
    """
    from denots.datasets import build as build_dataset

    chosen: Any = protocol
    say(str(build_dataset(name, seed=seed, size=size, protocol=chosen)))


@app.command("info")
def describe_dataset(
    name: Name, size: Size = None, seed: Seed = 0, split: Split = "train", protocol: As = DEFAULT_PROTOCOL
) -> None:
    """Show what a data set holds, with a sketch of its first series.

    denots data info bump --size 60
    """
    from denots.datasets import DATASETS, describe, sketch

    recipe = DATASETS.find(name)
    splits = _splits(name, size, seed, protocol)
    series = _split(splits, split)
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
    protocol: As = DEFAULT_PROTOCOL,
) -> None:
    """Write a data set as a table (id, time, channels, static, target) for `denots fit`.

    denots data export pendulum-small --split train --out train.csv
    denots data export pendulum-small --split test --out test.csv
    """
    import pandas as pd

    from denots.data.table_file import check_destination, write_table

    check_destination(file)
    series = _split(_splits(name, size, seed, protocol), split)
    owner = series.owner()
    columns = {"id": series.ids[owner], "time": series.times}
    columns |= {channel: series.values[:, k] for k, channel in enumerate(series.channels)}
    if series.static is not None:
        columns |= {name: series.static[owner, k] for k, name in enumerate(series.static_names)}
    if series.target is not None:
        columns["target"] = series.target[owner]
    write_table(pd.DataFrame(columns), file)
    say(f"{len(series)} series, {len(series.times)} rows in {file}")


def _splits(name: str, size: int | None, seed: int, protocol: str) -> "Splits":
    from denots.datasets import load

    chosen: Any = protocol
    return load(name, seed=seed, size=size, protocol=chosen).splits


def _split(splits: "Splits", split: str) -> "SeriesSet":
    return lookup({"train": splits.train, "val": splits.val, "test": splits.test}, split, "split")


def _derived(name: str) -> "DerivedRecipe":
    from denots.datasets import DATASETS
    from denots.datasets.imports import imported

    return imported(DATASETS.find(name))


def _tell_import(name: str, folder: Path) -> None:
    say(str(folder))
    say(f"Compare it with what was published: denots data check {name}")


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
