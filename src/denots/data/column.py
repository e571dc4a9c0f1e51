"""Columns of a pandas or polars table: what they hold, as numbers, and grouped into series.

Messages count the rows of a table from 1, whatever index it carries; only the index that `read_table`
makes, which is named "line", says in which lines of a file the rows stand.
"""

import sys
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from denots.data.reject import reject
from denots.errors import DenotsError, InvalidTable
from denots.registry import listed, lookup
from denots.shapes import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["number", "bool", "text", "date", "duration", "mixed"]

# What R, pandas, SQL and polars write for a cell without a value. Other words are errors.
MISSING_WORDS = ("", "NaN", "nan", "NA", "null", "NULL")

LINE = "line"  # name of an index that says in which line of a file each row stands

_OBJECTS: dict[str, Kind] = {
    "boolean": "bool",
    "date": "date",
    "datetime": "date",
    "decimal": "number",
    "floating": "number",
    "integer": "number",
    "mixed-integer-float": "number",
    "string": "text",
    "timedelta": "duration",
}


class Columns:
    """The columns of a pandas or polars table by name, each handed out as a plain pandas series.

    A table of a library that nobody imported cannot exist, so `sys.modules` tells what the
    table is and neither library is imported for the sake of the other.
    """

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self._polars = _is(frame, "polars", "DataFrame")
        if _is(frame, "polars", "LazyFrame"):
            raise InvalidTable("this is a lazy polars table; call .collect() first.")
        if not self._polars and not _is(frame, "pandas", "DataFrame"):
            raise InvalidTable(f"expected a pandas or polars DataFrame, found {type(frame).__name__}.")
        self.names = [str(name) for name in frame.columns]
        repeated = sorted({name for name in self.names if self.names.count(name) > 1})
        if repeated:
            raise InvalidTable(f"column names repeat: {quoted(repeated)}; rename or drop the copies.")
        if not len(frame):
            raise InvalidTable("the table has no rows; give at least one observation.")
        self._read: dict[str, pd.Series[Any]] = {}
        self._kept: npt.NDArray[np.bool_] | None = None

    def keep(self, rows: npt.NDArray[np.bool_]) -> "Columns":
        """The same table with some of its rows, which keep their numbers in messages."""
        part = copy(self)
        part._read = {}
        part._kept = rows if self._kept is None else _spread(rows, self._kept)
        return part

    def require(self, name: str, role: str) -> str:
        """The name as text, or the error that offers the nearest columns."""
        name = str(name)
        if not self._polars and name not in self.names and name in self._index_names():
            raise InvalidTable(f"{role} column {name!r} is the index of the table; call .reset_index() first.")
        lookup(dict.fromkeys(self.names, True), name, f"{role} column")
        return name

    def __getitem__(self, name: str) -> "pd.Series[Any]":
        if name not in self._read:
            place = self.names.index(name)
            raw = self._frame.to_series(place).to_arrow() if self._polars else self._frame.iloc[:, place]
            column = _plain(raw).set_axis(self._labels())
            self._read[name] = column if self._kept is None else _part(column, self._kept)
        return self._read[name]

    def _index_names(self) -> set[str]:
        return {str(name) for name in self._frame.index.names} - {LINE}

    def _labels(self) -> "pd.Index[Any]":
        import pandas as pd

        if not self._polars and self._frame.index.name == LINE:
            return self._frame.index
        return pd.RangeIndex(1, len(self._frame) + 1, name="row")


@dataclass(frozen=True, eq=False)
class Groups:
    """Which series each row of a table belongs to; series stand in order of first appearance."""

    codes: IntArray  # [rows]
    ids: npt.NDArray[Any]  # [n]
    labels: "pd.Index[Any]"  # [rows], how messages call them

    def owner(self, row: int) -> str | int:
        name: str | int = self.ids[self.codes[row]].item()
        return name

    def worst(self, rows: IntArray) -> IntArray:
        """Of some rows, the first of each series."""
        return rows[np.unique(self.codes[rows], return_index=True)[1]]

    def place(self, row: int) -> str:
        return f"series {self.owner(row)!r}, {self.labels.name} {self.labels[row]}"

    @cached_property
    def first(self) -> IntArray:
        """The first row of each series."""
        return np.unique(self.codes, return_index=True)[1]

    @cached_property
    def offsets(self) -> IntArray:
        return np.concatenate([[0], np.cumsum(np.bincount(self.codes))]).astype(np.int64)

    @cached_property
    def rows(self) -> IntArray:
        """All rows, series by series, in table order within each."""
        return np.argsort(self.codes, kind="stable")


def read_groups(column: "pd.Series[Any]", name: str) -> Groups:
    """Group the rows by id; ids are text or integers, and empty text counts as missing."""
    import pandas as pd

    missing = column.isna().to_numpy()
    kind = kind_of(column)
    if kind == "text":
        missing = missing | (column == "").to_numpy(dtype=bool, na_value=True)
    if missing.any():
        raise InvalidTable(
            f"{place(column, int(missing.argmax()))} has no id in column {name!r}; every row must say which series it belongs to."
        )
    if kind == "number" and is_integer(column):
        codes, ids = pd.factorize(integers(column))
        return Groups(codes.astype(np.int64), ids, column.index)
    if kind != "text":
        raise InvalidTable(
            f"id column {name!r} holds {describe(column)}; ids are text or integers, so convert the column."
        )
    codes, names = pd.factorize(column)
    return Groups(codes.astype(np.int64), np.asarray(names).astype(str), column.index)


def one_per_series(column: "pd.Series[Any]", name: str, groups: Groups, error: type[DenotsError]) -> "pd.Series[Any]":
    """The value that each series has in a column, which must not change within a series."""
    import pandas as pd

    codes = pd.factorize(column)[0]
    odd = np.flatnonzero(codes != codes[groups.first[groups.codes]])
    if len(odd):
        reasons = {}
        for row in groups.worst(odd):
            head = groups.first[groups.codes[row]]
            reasons[groups.owner(row)] = (
                f"series {groups.owner(row)!r}: column {name!r} must be constant within a series, but it is "
                f"{seen(column, head)} and {seen(column, row)}; make it one value per series."
            )
        reject(error, reasons)
    return column.iloc[groups.first]


def kind_of(column: "pd.Series[Any]") -> Kind:
    """What the cells are; a column without any value counts as numbers that were never observed."""
    from pandas.api import types

    if types.is_bool_dtype(column.dtype):
        return "bool"
    if types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column.dtype):
        return "number"
    if types.is_datetime64_any_dtype(column.dtype):
        return "date"
    if types.is_timedelta64_dtype(column.dtype):
        return "duration"
    if column.isna().all():
        return "number"
    return _OBJECTS.get(types.infer_dtype(column, skipna=True), "mixed")


def is_integer(column: "pd.Series[Any]") -> bool:
    from pandas.api import types

    if column.dtype == object:
        return types.infer_dtype(column, skipna=False) == "integer"
    return types.is_integer_dtype(column.dtype)


def integers(column: "pd.Series[Any]") -> npt.NDArray[Any]:
    """As int64, or as uint64 where a value needs it; the column has no missing cell."""
    exact = np.asarray(column.to_numpy().tolist()) if column.dtype == object else column.to_numpy()
    if exact.dtype.kind == "u" and exact.max() > np.iinfo(np.int64).max:
        return exact.astype(np.uint64)
    return exact.astype(np.int64)


def float_type(columns: Iterable["pd.Series[Any]"]) -> type[np.floating]:
    """float32 where every column is, else float64."""
    narrow = all(str(column.dtype).lower() in ("float32", "float16") for column in columns)
    return np.float32 if narrow else np.float64


def is_numeric(column: "pd.Series[Any]") -> bool:
    """Numbers or Booleans, or numbers with some cells among them that cannot be read."""
    return kind_of(column) in ("number", "bool") or odd_cells(column) is not None


def odd_cells(column: "pd.Series[Any]") -> npt.NDArray[np.bool_] | None:
    """Which cells of a column of numbers are text; None where the column is of another kind.

    One such cell makes text of a whole column of a file, so the majority decides what the column is.
    """
    import pandas as pd

    if kind_of(column) not in ("text", "mixed"):
        return None
    text = column.astype(str)
    present = column.notna().to_numpy() & ~text.isin(MISSING_WORDS).to_numpy()
    odd = present & pd.to_numeric(text, errors="coerce").isna().to_numpy()
    return odd if 0 < odd.sum() <= present.sum() / 2 else None


def numbers(
    column: "pd.Series[Any]", name: str, role: str, groups: Groups, dtype: type[np.floating] = np.float64
) -> FloatArray:
    """As floats, missing cells NaN, Booleans 0 and 1; anything else is refused with its row."""
    odd = odd_cells(column)
    if odd is not None:
        todo = "repair or drop it." if role == "time" else "repair the cell, or empty it if nothing was observed."
        reasons = {
            groups.owner(
                row
            ): f"{groups.place(row)}: {show(column, row)} in {role} column {name!r} is not a number; {todo}"
            for row in groups.worst(np.flatnonzero(odd))
        }
        reject(InvalidTable, reasons)
    if kind_of(column) not in ("number", "bool"):
        raise InvalidTable(
            f"{role} column {name!r} is not numeric: it holds {describe(column)}; "
            "repair the cells, or encode the column as numbers with empty cells for what is missing."
        )
    return column.to_numpy(dtype=dtype, na_value=np.nan)


def describe(column: "pd.Series[Any]") -> str:
    """What a column holds, with the cell that shows it: the first that is no number if there is one."""
    import pandas as pd

    kind = kind_of(column)
    present = column.notna().to_numpy()
    row = int(present.argmax())
    if kind not in ("text", "mixed"):
        words = {"number": str(column.dtype), "bool": "true or false", "date": "dates", "duration": "durations"}
        return f"{words[kind]} ({seen(column, row)})"
    text = column.astype(str)
    odd = present & pd.to_numeric(text, errors="coerce").isna().to_numpy()
    odd &= ~text.isin(MISSING_WORDS).to_numpy()
    what = "numbers written as text"
    if odd.any():
        row = int(odd.argmax())
        what = "text" if kind == "text" else f"{column.dtype} cells"
    return f"{what} ({seen(column, row)})"


def show(column: "pd.Series[Any]", row: int) -> str:
    """One cell as a user would recognise it."""
    cell = column.iloc[row]
    if isinstance(cell, np.generic):
        cell = cell.item()
    return repr(cell) if isinstance(cell, str | int | float) else str(cell)


def place(column: "pd.Series[Any]", row: int) -> str:
    """Where a cell stands: `row 3` of a table or `line 4` of a file."""
    return f"{column.index.name} {column.index[row]}"


def seen(column: "pd.Series[Any]", row: int) -> str:
    """A cell and where it stands."""
    return f"{show(column, row)} in {place(column, row)}"


def quoted(names: Iterable[str]) -> str:
    return listed(map(repr, names))


def _part(column: "pd.Series[Any]", kept: npt.NDArray[np.bool_]) -> "pd.Series[Any]":
    """Some rows of a column; they are numbers again where only other rows made it a column of text."""
    import pandas as pd

    odd = odd_cells(column)
    if odd is None or odd[kept].any():
        return column[kept]
    return pd.to_numeric(column[kept].astype(str), errors="coerce")


def _spread(rows: npt.NDArray[np.bool_], kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """A choice among the kept rows as one among all rows."""
    whole = np.zeros(len(kept), dtype=bool)
    whole[kept] = rows
    return whole


def _is(frame: object, library: str, name: str) -> bool:
    module = sys.modules.get(library)
    return module is not None and isinstance(frame, getattr(module, name))


def _plain(column: Any) -> "pd.Series[Any]":
    """Without Arrow types and categories, so that the rest knows only a few kinds."""
    import pandas as pd
    import pyarrow as pa

    if isinstance(column, pd.Series) and isinstance(column.dtype, pd.ArrowDtype):
        column = pa.array(column)
    if not isinstance(column, pd.Series):
        column = column.to_pandas(date_as_object=False)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object).infer_objects()
    return column
