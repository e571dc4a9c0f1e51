"""Columns of a table in memory: what they hold, and as numbers.

Messages count the rows of a table from 1, whatever index it carries; only the index that `read_table`
makes, which is named "line", says in which lines of a file the rows stand, and that of a part of a larger
table, which is named "table row", where they stand there.
"""

import sys
from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from denots.data.missing import MISSING_WORDS, as_numbers, emptied, odd_words
from denots.errors import InvalidTable
from denots.registry import listed, lookup
from denots.shapes import FloatArray

if TYPE_CHECKING:
    import pandas as pd

    from denots.data.groups import Groups

Kind = Literal["number", "bool", "text", "date", "duration", "mixed"]

LINE = "line"  # name of an index that says in which line of a file each row stands
ROW = "table row"  # of one that numbers the rows of a table, where a part of it is read

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
    """The columns of a table by name, each handed out as a plain pandas series.

    A table is a pandas or polars DataFrame, or anything with the Arrow stream interface. A table of a
    library that nobody imported cannot exist, so `sys.modules` tells what the table is and no
    library is imported for the sake of another.

    Args:
        na: further spellings of a missing cell.
        exact: columns in which these spellings are values like any other: ids and times.
        labels: columns of names, which stay text even if all that is kept of them looks like numbers.
    """

    def __init__(
        self,
        frame: Any,
        na: tuple[str, ...] = (),
        exact: Iterable[str | None] = (),
        labels: Iterable[str | None] = (),
    ) -> None:
        if _is(frame, "polars", "LazyFrame"):
            raise InvalidTable("this is a lazy polars table; call .collect() first.")
        self._pandas, self._polars = _is(frame, "pandas", "DataFrame"), _is(frame, "polars", "DataFrame")
        in_memory = self._pandas or self._polars
        self._frame = frame if in_memory else _arrow_table(frame)
        self.names = [str(name) for name in (frame.columns if in_memory else self._frame.column_names)]
        repeated = sorted({name for name in self.names if self.names.count(name) > 1})
        if repeated:
            raise InvalidTable(f"column names repeat: {quoted(repeated)}; rename or drop the copies.")
        if not len(self._frame):
            raise InvalidTable("the table has no rows; give at least one observation.")
        self._na, self._exact, self._labelling = na, frozenset(exact), frozenset(labels)
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
        if self._pandas and name not in self.names and name in self._index_names():
            raise InvalidTable(f"{role} column {name!r} is the index of the table; call .reset_index() first.")
        lookup(dict.fromkeys(self.names, True), name, f"{role} column")
        return name

    def __getitem__(self, name: str) -> "pd.Series[Any]":
        if name not in self._read:
            column = _plain(self._raw(self.names.index(name))).set_axis(self._labels())
            if name not in self._exact:
                column = emptied(column, self._na)
            if self._kept is not None:
                column = column[self._kept] if name in self._labelling else _part(column, self._kept)
            self._read[name] = column
        return self._read[name]

    def take(self, name: str) -> "pd.Series[Any]":
        """A column that is not kept in memory, for whoever looks at each of many once."""
        column = self[name]
        del self._read[name]
        return column

    def _raw(self, place: int) -> Any:
        if self._pandas:
            return self._frame.iloc[:, place]
        return self._frame.to_series(place).to_arrow() if self._polars else self._frame.column(place)

    def _index_names(self) -> set[str]:
        return {str(name) for name in self._frame.index.names} - {LINE, ROW}

    def _labels(self) -> "pd.Index[Any]":
        import pandas as pd

        if self._pandas and self._frame.index.name in (LINE, ROW):
            return self._frame.index
        return pd.RangeIndex(1, len(self._frame) + 1, name="row")


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
    if kind_of(column) not in ("text", "mixed"):
        return None
    odd = odd_words(column)
    present = column.notna().to_numpy() & ~column.astype(str).isin(MISSING_WORDS).to_numpy()
    return odd if 0 < odd.sum() <= present.sum() / 2 else None


def numbers(
    column: "pd.Series[Any]", name: str, role: str, groups: "Groups", dtype: type[np.floating] = np.float64
) -> FloatArray:
    """As floats, missing cells NaN, Booleans 0 and 1; anything else is refused with its row."""
    odd = odd_cells(column)
    if odd is not None:
        todo = "repair or drop it."
        if role != "time":
            todo = "repair the cell, empty it if nothing was observed, or name what stands for that (na=..., --na)."
        groups.reject(
            InvalidTable,
            f"text among the numbers of {name!r}",
            np.flatnonzero(odd),
            lambda row: f"{groups.place(row)}: {show(column, row)} in {role} column {name!r} is not a number; {todo}",
        )
    if kind_of(column) not in ("number", "bool"):
        raise InvalidTable(
            f"{role} column {name!r} is not numeric: it holds {describe(column)}; "
            "repair the cells, or encode the column as numbers with empty cells for what is missing."
        )
    return column.to_numpy(dtype=dtype, na_value=np.nan)


def describe(column: "pd.Series[Any]") -> str:
    """What a column holds, with the cell that shows it: the first that is no number if there is one."""
    kind = kind_of(column)
    row = int(column.notna().to_numpy().argmax())
    if kind not in ("text", "mixed"):
        words = {"number": str(column.dtype), "bool": "true or false", "date": "dates", "duration": "durations"}
        return f"{words[kind]} ({seen(column, row)})"
    odd = odd_words(column)
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
    odd = odd_cells(column)
    return column[kept] if odd is None or odd[kept].any() else as_numbers(column[kept])


def _spread(rows: npt.NDArray[np.bool_], kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """A choice among the kept rows as one among all rows."""
    whole = np.zeros(len(kept), dtype=bool)
    whole[kept] = rows
    return whole


def _is(frame: object, library: str, name: str) -> bool:
    module = sys.modules.get(library)
    return module is not None and isinstance(frame, getattr(module, name))


def _arrow_table(frame: Any) -> Any:
    if not hasattr(frame, "__arrow_c_stream__"):
        raise InvalidTable(
            "expected a pandas or polars DataFrame, or a table with the Arrow stream interface, found "
            f"{type(frame).__name__}."
        )
    import pyarrow as pa

    return pa.table(frame)


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
