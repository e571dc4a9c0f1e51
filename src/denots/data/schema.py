"""The schema of a table: which column is what. Made once, kept with the series, saved with a model."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from denots.data.duplicates import DUPLICATES, REFUSE
from denots.errors import InvalidFolder, InvalidTable
from denots.registry import lookup

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from denots.data.reading import Reading
    from denots.data.series import SeriesSet


@dataclass(frozen=True, slots=True)
class TableSchema:
    """The part that each column of a table plays; `variable` and `value` are set for a long table only.

    What is still None when a schema meets its first table (`learn`) is found out there: the channels,
    and whether the table is long. The schema of the result says it, and `read` then reads further
    tables alike, channels in the same order.

    Args:
        target: the column to learn, or several of numbers.
        channels: the channels and their order. A wide table may have further columns, which are passed
            over; a long one may lack a variable, which then was never observed.
        picked: whether the channels were picked by name. Only then are other variables of a long table
            passed over; else an unknown one is an error, because it may be a misspelt channel.
        time_unit: "s", "min", "h" or "d"; needed for dates, a label for numbers.
        start: a column with the moment at which each series began.
        sort, duplicates, skip_empty, na, time_format: how a table is cleaned while it is read; `read_frame` explains them.
        categories: of each column that holds text, one list; it stands for as many columns.
        row_target: the column to learn that has a value for each row.
    """

    id: str
    time: str
    target: str | tuple[str, ...] | None = None
    static: tuple[str, ...] = ()
    channels: tuple[str, ...] | None = None
    variable: str | None = None
    value: str | None = None
    time_unit: str | None = None
    start: str | None = None
    picked: bool = False
    sort: bool = False
    duplicates: str = REFUSE
    skip_empty: bool = False
    na: tuple[str, ...] = ()
    time_format: str | None = None
    categories: Mapping[str, tuple[str, ...]] | None = None
    row_target: str | None = None

    def __post_init__(self) -> None:
        lookup(dict.fromkeys(DUPLICATES, True), self.duplicates, "way to treat duplicates")
        if isinstance(self.target, tuple) and len(self.target) < 2:
            object.__setattr__(self, "target", self.target[0] if self.target else None)

    def learn(self, frame: "pd.DataFrame | pl.DataFrame") -> "SeriesSet":
        """The series of a first table with their target; `schema` of the set has every gap filled."""
        from denots.data.frame import learn_frame

        return learn_frame(self, frame)

    def read(self, frame: "pd.DataFrame | pl.DataFrame", *, target: str | tuple[str, ...] | None = None) -> "SeriesSet":
        """The series of a further table, with the target in the named columns if any is named."""
        return self.scan(frame, target=target).check()

    def scan(self, frame: "pd.DataFrame | pl.DataFrame", *, target: str | tuple[str, ...] | None = None) -> "Reading":
        """Like `read`, but series that cannot be read are left out and reported, each with its reason."""
        from denots.data.frame import scan_frame

        return scan_frame(self, frame, target)

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns to learn, by name."""
        return names_of(self.target) or ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Columns of a text file that must not be read as dates or numbers: their format is told."""
        return () if self.time_format is None else tuple(name for name in (self.time, self.start) if name is not None)

    def columns(self) -> dict[str, str]:
        """Every column that the schema names, and its part; no column plays two."""
        wide = self.variable is None and self.value is None
        parts = {
            "id": (self.id,),
            "time": (self.time,),
            "target": self.targets,
            "row target": (self.row_target,),
            "static": self.static,
            "start": (self.start,),
            "channel": (self.channels or ()) if wide and self.picked else (),
            "variable": (self.variable,),
            "value": (self.value,),
        }
        part: dict[str, str] = {}
        for role, names in parts.items():
            for name in names:
                if name is None:
                    continue
                if name in part:
                    raise InvalidTable(
                        f"column {name!r} is named as {part[name]} and as {role}; every column has one role."
                    )
                part[name] = role
        return part

    def as_json(self) -> dict[str, Any]:
        """Everything that `from_json` needs to make the same schema."""
        content = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        if self.categories is not None:
            content["categories"] = {name: list(own) for name, own in self.categories.items()}
        return content

    @classmethod
    def from_json(cls, content: object, place: str) -> "TableSchema":
        """The schema that `as_json` described; `place` (a file) opens the error for anything else."""
        if not isinstance(content, Mapping):
            raise InvalidFolder(f"{place} describes no table: found {content!r:.60}, expected an object.")
        unknown, missing = set(content) - set(_FITS), {"id", "time", "channels"} - set(content)
        if unknown or missing:
            what = f"{sorted(unknown)[0]!r} is unknown" if unknown else f"{sorted(missing)[0]!r} is missing"
            raise InvalidFolder(f"{place} describes no table of this version: {what}; copy the folder again.")
        content = {"categories": {}} | dict(content)  # a model of an earlier version knows no categories
        for name, value in content.items():
            fits, expected = _FITS[name]
            if not fits(value):
                raise InvalidFolder(
                    f"{place} describes no table: {name!r} is {value!r:.60}, expected {expected}; "
                    "copy the folder again."
                )
        found: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in content.items()
        }
        if found["categories"] is not None:
            found["categories"] = {name: tuple(own) for name, own in found["categories"].items()}
        schema = cls(**found)
        try:
            schema.columns()
        except InvalidTable as error:
            raise InvalidFolder(f"{place} describes no table: {error}") from error
        if (schema.variable is None) != (schema.value is None):
            raise InvalidFolder(f"{place} describes no table: a long one has both 'variable' and 'value'.")
        return schema


def names_of(names: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """One name or several as a tuple, so that one name is not read letter by letter."""
    if names is None:
        return None
    return (names,) if isinstance(names, str) else tuple(map(str, names))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_text_or_none(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)


def _is_categories(value: object) -> bool:
    return value is None or (isinstance(value, dict) and all(map(_is_names, value.values())))


def _is_unit_or_none(value: object) -> bool:
    return value is None or value in ("s", "min", "h", "d")


_FITS: dict[str, tuple[Callable[[object], bool], str]] = {
    **dict.fromkeys(("id", "time"), (_is_text, "a column name")),
    **dict.fromkeys(("variable", "value", "start", "row_target"), (_is_text_or_none, "a column name or null")),
    "target": (lambda value: _is_text_or_none(value) or _is_names(value), "a column name, several or null"),
    "static": (_is_names, "a list of different column names"),
    "na": (_is_names, "a list of different words"),
    "categories": (_is_categories, "a list of different words for each column, or null"),
    "duplicates": (lambda value: value in DUPLICATES, ", ".join(DUPLICATES)),
    "time_format": (_is_text_or_none, "a format or null"),
    "channels": (lambda value: _is_names(value) and bool(value), "a list of different channel names"),
    "time_unit": (_is_unit_or_none, "s, min, h, d or null"),
    **dict.fromkeys(("picked", "sort", "skip_empty"), (lambda value: isinstance(value, bool), "true or false")),
}
