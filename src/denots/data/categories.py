"""Columns of text as categories: a column of zeros and ones for each category that the first table has.

Column `ward` with the categories `er` and `icu` becomes `ward=er` and `ward=icu`. A missing cell is missing in
both, and a category that the first table does not have is zero in both.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from denots.data.column import Columns, kind_of, odd_cells, seen
from denots.data.missing import odd_words
from denots.errors import InvalidTable
from denots.shapes import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd

MOST = 100  # categories of one column; free text has more


def learn_categories(columns: Columns, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The categories, sorted, of those of the named columns that hold text."""
    found = {}
    for name in names:
        column = columns[name]
        if _is_text(column):
            found[name] = tuple(sorted(set(column[column.notna()].astype(str)) - {""}))
            if len(found[name]) > MOST:
                row = int(column.notna().to_numpy().argmax())
                raise InvalidTable(
                    f"column {name!r} holds {len(found[name])} different texts, such as {seen(column, row)}; at most {MOST} "
                    "are read as categories, so group them, or leave the column out."
                )
    return found


def encoded_names(names: Iterable[str], known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The names of the columns once those with categories are spread out."""
    spread = ([f"{name}={category}" for category in known[name]] if name in known else [name] for name in names)
    return tuple(name for part in spread for name in part)


def encode(column: "pd.Series[Any]", categories: tuple[str, ...]) -> FloatArray:
    """Zeros and ones [rows, categories]; NaN in rows without a value."""
    import pandas as pd

    codes = pd.Index(categories).get_indexer(pd.Index(column.astype(str)))
    table = np.zeros((len(column), len(categories)))
    known = np.flatnonzero(codes >= 0)
    table[known, codes[known]] = 1.0
    table[column.isna().to_numpy() | (column.astype(str) == "").to_numpy()] = np.nan
    return table


def unknown_texts(column: "pd.Series[Any]", categories: tuple[str, ...], codes: IntArray) -> dict[int, str]:
    """The first text of each group of rows (`codes`) that is no category."""
    cells = column.astype(str)
    unknown = np.flatnonzero(~(cells.isin(categories) | column.isna() | (cells == "")).to_numpy())
    owners, first = np.unique(codes[unknown], return_index=True)
    return dict(zip(owners.tolist(), cells.iloc[unknown[first]].tolist(), strict=True))


def _is_text(column: "pd.Series[Any]") -> bool:
    """Words, that is neither numbers nor numbers with some odd cells among them."""
    return kind_of(column) == "text" and odd_cells(column) is None and bool(odd_words(column).any())
