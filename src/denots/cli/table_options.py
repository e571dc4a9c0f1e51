"""How a table is read: from the options of `fit`, remembered in the model folder for `predict`."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from denots.errors import InvalidFolder, InvalidOption, InvalidSeries, InvalidTable, InvalidTarget
from denots.registry import lookup

if TYPE_CHECKING:
    import pandas as pd

    from denots.data.series import SeriesSet

FORMAT, FORMAT_VERSION, FILE = "denots-table", 1, "table.json"

# Arguments that messages of the library mention, and the options that set them.
_OPTIONS = {
    "values=[...]": "--channels a,b",
    "both variable=... and value=...": "both --variable and --value",
    "values=... only": "--channels only",
    "time_unit = ": "--time-unit ",
}


@dataclass(frozen=True)
class TableOptions:
    """The role of each column; `variable` and `value` are set for a long table only.

    picked: whether the channels were named by the user. Only then are other variables of a long
        table passed over; else an unknown one is an error, because it may be a misspelt channel.
    """

    id: str
    time: str
    target: str | None = None
    static: tuple[str, ...] = ()
    channels: tuple[str, ...] | None = None
    variable: str | None = None
    value: str | None = None
    time_unit: str | None = None
    start: str | None = None
    picked: bool = False

    def read(self, frame: "pd.DataFrame", *, target: str | None = None) -> "SeriesSet":
        """The series of a table, with the target in the named column."""
        from denots.data.frame import read_frame

        try:
            return read_frame(
                self.rows(frame),
                id=self.id,
                time=self.time,
                target=target,
                static=self.static,
                variable=self.variable,
                value=self.value,
                channels=self.channels,
                time_unit=self.time_unit,
                start=self.start,
            )
        except InvalidTable as error:
            raise InvalidTable(_in_options(str(error))) from error

    def rows(self, frame: "pd.DataFrame") -> "pd.DataFrame":
        """The rows that are read: all, or those of a long table that belong to picked channels."""
        if not self.picked or self.variable is None:
            return frame
        known = dict.fromkeys(map(str, frame.columns), True)
        for role, name in (("variable", self.variable), ("id", self.id)):
            lookup(known, name, f"{role} column")
        kept = frame[frame[self.variable].astype(str).isin(self.channels or ())]
        lost = frame.loc[~frame[self.id].isin(kept[self.id]), self.id]
        if len(lost):
            raise InvalidSeries(
                f"series {lost.iloc[0]!r} has no row for any of the channels {', '.join(self.channels or ())}; "
                "leave it out of the table."
            )
        return kept.reset_index(drop=True)


@dataclass(frozen=True)
class FittedTable:
    """What a model folder remembers of the table that it was fitted on."""

    options: TableOptions
    trivial: list[float]  # what an answer without any model would be: class shares, the mean, nothing


def names(text: str | None) -> tuple[str, ...]:
    """The names in a list such as `age,weight`."""
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def read_fit_table(table: Path, targets: Path | None, options: TableOptions) -> tuple["SeriesSet", TableOptions]:
    """The series to learn from, and the options with everything filled in that was found out."""
    from denots.data.table_file import read_table

    frame = read_table(table, id=options.id)
    if targets is not None:
        frame, options = add_targets(frame, targets, options)
    known = dict.fromkeys(map(str, frame.columns), True)
    named = {options.id, options.time, options.target, options.start, *options.static}
    if not options.picked and options.variable is None and known.keys() - named == {"variable", "value"}:
        options = replace(options, variable="variable", value="value")
    if options.variable is not None:
        lookup(known, options.variable, "variable column")
        known = dict.fromkeys(frame[options.variable].dropna().astype(str), True)
    for channel in options.channels or ():
        lookup(known, channel, "channel")
    series = options.read(frame, target=options.target)
    return series, replace(options, channels=series.channels, time_unit=series.time_unit or None)


def add_targets(frame: "pd.DataFrame", file: Path, options: TableOptions) -> tuple["pd.DataFrame", TableOptions]:
    """The table with the target of each series from a second table, one row per id."""
    from denots.data.table_file import read_table

    columns = dict.fromkeys(map(str, frame.columns), True)
    lookup(columns, options.id, "id column")
    second = read_table(file, id=options.id)
    lookup(dict.fromkeys(map(str, second.columns), True), options.id, f"id column in {file}:")
    others = [str(name) for name in second.columns if name != options.id]
    target = options.target
    if target is None:
        if len(others) != 1:
            raise InvalidOption(
                f"{file} has {len(others)} columns beside the id; name the target with --target {'|'.join(others)}."
            )
        target = others[0]
    lookup(dict.fromkeys(others, True), target, f"target column in {file}:")
    if target in columns:
        raise InvalidTable(f"column {target!r} is in both tables; leave out --targets or drop it from one of them.")
    keys = second[options.id].astype(str)
    twice = keys[keys.duplicated()]
    if len(twice):
        raise InvalidTarget(f"{file} has several rows for series {twice.iloc[0]!r}; give one row per id.")
    answers = second[target].set_axis(keys)
    return frame.assign(**{target: frame[options.id].astype(str).map(answers)}), replace(options, target=target)


def write_fitted_table(fitted: FittedTable, folder: Path) -> None:
    """Put `table.json` into a model folder that is still being written."""
    from denots.folders import package_version, write_manifest

    form = "wide" if fitted.options.variable is None else "long"
    head = {"format": FORMAT, "format_version": FORMAT_VERSION, "denots_version": package_version(), "form": form}
    write_manifest(folder / FILE, {**head, **asdict(fitted.options), "trivial": fitted.trivial})


def read_fitted_table(folder: Path) -> FittedTable:
    """What `fit` wrote; a model that was saved from Python has no such file."""
    from denots.folders import read_manifest

    if (folder / "model.json").exists() and not (folder / FILE).exists():
        raise InvalidFolder(
            f"{folder} does not say how its table was read: {FILE} is missing. "
            "Models saved from Python are used from Python (denots.load); fit with `denots fit` for this command."
        )
    manifest = read_manifest(folder / FILE, FORMAT, FORMAT_VERSION)
    try:
        found: dict[str, Any] = {name: manifest[name] for name in TableOptions.__dataclass_fields__}
        found |= {"static": tuple(found["static"]), "channels": tuple(found["channels"])}
        return FittedTable(TableOptions(**found), [float(number) for number in manifest["trivial"]])
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidFolder(f"{folder / FILE} is incomplete ({error}); copy the model folder again.") from error


def _in_options(message: str) -> str:
    for argument, option in _OPTIONS.items():
        message = message.replace(argument, option)
    return message
