"""How a table is read: from the options of `fit`, remembered in the model folder for `predict`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from denots.data.schema import TableSchema
from denots.errors import InvalidFolder

if TYPE_CHECKING:
    import pandas as pd

    from denots.data.series import SeriesSet

FORMAT, FORMAT_VERSION, FILE = "denots-table", 2, "table.json"


@dataclass(frozen=True)
class FittedTable:
    """What a model folder remembers of the table that it was fitted on."""

    options: TableSchema
    trivial: list[float]  # what an answer without any model would be: class shares, the mean, nothing


def names(text: str | None) -> tuple[str, ...]:
    """The names in a list such as `age,weight`."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def read_fit_table(table: Path, targets: Path | None, schema: TableSchema) -> tuple["SeriesSet", TableSchema]:
    """The series to learn from, and the schema with everything filled in that was found out."""
    from denots.data.table_file import read_table

    frame = read_table(table, id=schema.id)
    if targets is not None:
        frame, schema = add_targets(frame, targets, schema)
    series = schema.learn(frame)
    assert series.schema is not None
    return series, series.schema


def add_targets(frame: "pd.DataFrame", file: Path, schema: TableSchema) -> tuple["pd.DataFrame", TableSchema]:
    """The table with the target of each series from a second table, one row per id."""
    from denots.data.table_file import read_table
    from denots.data.targets_table import add_targets

    return add_targets(frame, read_table(file, id=schema.id), schema)


def write_fitted_table(fitted: FittedTable, folder: Path) -> None:
    """Put `table.json` into a model folder that is still being written."""
    from denots.folders import package_version, write_manifest

    head = {"format": FORMAT, "format_version": FORMAT_VERSION, "denots_version": package_version()}
    write_manifest(folder / FILE, {**head, "schema": fitted.options.as_json(), "trivial": fitted.trivial})


def read_fitted_table(folder: Path) -> FittedTable:
    """What `fit` wrote; a model that was saved from Python has no such file."""
    from denots.folders import read_manifest

    if (folder / "model.json").exists() and not (folder / FILE).exists():
        raise InvalidFolder(
            f"{folder} does not say how its table was read: {FILE} is missing. "
            "Models saved from Python are used from Python (denots.load); fit with `denots fit` for this command."
        )
    manifest = read_manifest(folder / FILE, FORMAT, FORMAT_VERSION)
    schema = TableSchema.from_json(manifest.get("schema"), str(folder / FILE))
    try:
        return FittedTable(schema, [float(number) for number in manifest["trivial"]])
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidFolder(f"{folder / FILE} is incomplete ({error}); copy the model folder again.") from error
