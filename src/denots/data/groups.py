"""Rows of a table grouped into series, and what is one value per series."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from denots.data.column import describe, integers, is_integer, kind_of, place, seen
from denots.data.reject import joint_error
from denots.errors import DenotsError, InvalidTable, Rejected
from denots.shapes import IntArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Groups:
    """Which series each row of a table belongs to; series stand in order of first appearance."""

    codes: IntArray  # [rows]
    ids: npt.NDArray[Any]  # [n]
    labels: "pd.Index[Any]"  # [rows], how messages call them

    def owner(self, row: int) -> str | int:
        name: str | int = self.ids[self.codes[row]].item()
        return name

    def reject(self, error: type[DenotsError], kind: str, rows: IntArray, reason: Callable[[int], str]) -> NoReturn:
        """Refuse the series that some rows belong to, each with the reason of its first such row."""
        owners, first, counts = np.unique(self.codes[rows], return_index=True, return_counts=True)
        raise joint_error(
            [
                Rejected(self.ids[owner].item(), reason(int(row)), error, kind, int(count))
                for owner, row, count in zip(owners, rows[first], counts, strict=True)
            ]
        )

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
        more = int(missing.sum()) - 1
        raise InvalidTable(
            f"{place(column, int(missing.argmax()))} has no id in column {name!r}"
            + (f", and neither have {more} more rows" if more else "")
            + "; every row must say which series it belongs to."
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

        def reason(row: int) -> str:
            head = groups.first[groups.codes[row]]
            return (
                f"series {groups.owner(row)!r}: column {name!r} must be constant within a series, but it is "
                f"{seen(column, head)} and {seen(column, row)}; make it one value per series."
            )

        groups.reject(error, f"several values of {name!r} in one series", odd, reason)
    return column.iloc[groups.first]
