"""Groups of series: by the values of a column, or by quarters of a number that has many."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from denots.errors import InvalidOption, InvalidTable
from denots.registry import lookup
from denots.shapes import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

FEW = 8  # numbers with more different values are cut into quarters
MOST = 50
MISSING = "missing"
OTHER = "no known category"


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """How a column makes groups.

    names: of the groups, from the least value to the largest.
    cuts: between groups of numbers; None where every value is a group.
    """

    names: tuple[str, ...]
    cuts: FloatArray | None

    @classmethod
    def of(cls, column: npt.NDArray[Any], name: str) -> "Grouping":
        known = column[~_missing(column)]
        values = np.unique(known.astype(str) if known.dtype == object else known)
        if known.dtype.kind in "iuf" and len(values) > FEW:
            cuts = np.unique(np.quantile(known, [0.25, 0.5, 0.75]))
            ends = [_spelled(cut) for cut in cuts.tolist()]
            between = [f"{a} to {b}" for a, b in pairwise(ends)]
            return cls((f"up to {ends[0]}", *between, f"over {ends[-1]}"), cuts)
        if len(values) > MOST:
            raise InvalidOption(
                f"column {name!r} has {len(values)} different values, and groups can be {MOST} at most; join some of them."
            )
        return cls(tuple(map(_spelled, values.tolist())), None)

    def labels(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The group of each series, as text."""
        missing = _missing(column)
        if self.cuts is None:
            named = [MISSING if gone else _spelled(value) for value, gone in zip(column.tolist(), missing, strict=True)]
            return np.array(named, dtype=object)
        names = np.array(self.names, dtype=object)
        found = names[np.searchsorted(self.cuts, np.where(missing, 0, column).astype(np.float64), side="left")]
        return np.where(missing, MISSING, found)

    def members(self, column: npt.NDArray[Any]) -> dict[str, IntArray]:
        """The rows of each group that has any, in the order of the groups; those without a value come last."""
        labels = self.labels(column)
        rows = {name: np.flatnonzero(labels == name) for name in (*self.names, MISSING)}
        return {name: own for name, own in rows.items() if len(own)}


def static_column(
    static: FloatArray, names: Sequence[str], categories: Mapping[str, Sequence[str]] | None, name: str
) -> npt.NDArray[Any]:
    """A static feature by name; one of text as its categories, None where it is missing, OTHER where none of them holds."""
    places = {own: k for k, own in enumerate(names)}
    spread = {column: [f"{column}={category}" for category in own] for column, own in (categories or {}).items() if own}
    texts = {column: own for column, own in spread.items() if all(part in places for part in own)}
    lookup(dict.fromkeys((*texts, *names), True), name, "static feature to group by:")
    if name not in texts:
        return np.asarray(static[:, places[name]], dtype=np.float64)
    cells = static[:, [places[part] for part in texts[name]]]
    found = np.full(len(static), OTHER, dtype=object)
    for category, column in zip((categories or {})[name], cells.T, strict=True):
        found[column == 1] = category
    found[np.isnan(cells).any(axis=1)] = None
    return found


def read_labels(frame: Any, id: str, column: str, ids: npt.NDArray[Any]) -> "pd.Series[Any]":
    """The value of a column for each id of a table; it must not change within a series."""
    import pandas as pd

    table: pd.DataFrame = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
    lookup(dict.fromkeys(map(str, table.columns), True), column, "column to group by:")
    by_series = table[column].groupby(table[id].astype(str), sort=False)
    varied = by_series.nunique(dropna=False)
    odd = varied.index[varied > 1]
    if len(odd):
        raise InvalidTable(
            f"column {column!r} has several values within {len(odd)} series, such as {odd[0]!r}; "
            "group by a column that is constant within each series."
        )
    return by_series.first().reindex([str(name) for name in ids.tolist()])


def _missing(column: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    import pandas as pd

    return np.asarray(pd.isna(column))


def _spelled(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
