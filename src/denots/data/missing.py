"""Cells that stand for no value: spellings that every table may have, and those that a user adds."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

# What R, pandas, SQL and polars write for a cell without a value. Other words are errors unless they are added.
MISSING_WORDS = ("", "NaN", "nan", "NA", "null", "NULL")


def emptied(column: "pd.Series[Any]", words: tuple[str, ...]) -> "pd.Series[Any]":
    """The column without the cells that are spelled like one of `words`; what is left are numbers where all are.

    A word that is a number, such as -999, stands for every spelling of this number.
    """
    from pandas.api import types

    if not words or types.is_bool_dtype(column.dtype):
        return column
    numbers = [number for number in map(_number, words) if not math.isnan(number)]
    if types.is_numeric_dtype(column.dtype):
        hit = column.isin(numbers)
        whole = hit.any() and types.is_integer_dtype(column.dtype)
        return (column.convert_dtypes() if whole else column).mask(hit)
    if not (types.is_object_dtype(column.dtype) or types.is_string_dtype(column.dtype)):
        return column
    hit = column.astype(str).str.strip().isin(words) & column.notna()
    if numbers:
        hit |= as_numbers(column).isin(numbers)
    if not hit.any():
        return column
    left = column.mask(hit)
    return left if odd_words(left).any() else as_numbers(left)


def odd_words(column: "pd.Series[Any]") -> npt.NDArray[np.bool_]:
    """Which cells are neither numbers, nor written like numbers, nor missing."""
    present: npt.NDArray[np.bool_] = column.notna().to_numpy() & ~column.astype(str).isin(MISSING_WORDS).to_numpy()
    return present & as_numbers(column).isna().to_numpy()


def as_numbers(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """The cells as numbers, missing where they are not written like one."""
    import pandas as pd

    return pd.to_numeric(column.astype(str), errors="coerce")


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return math.nan
