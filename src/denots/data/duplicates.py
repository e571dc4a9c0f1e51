"""Several values of one channel of a series at one time, made one."""

import numpy as np

from denots.shapes import FloatArray, IntArray

REFUSE = "error"
DUPLICATES = (REFUSE, "mean", "last", "first")


def merge(cells: FloatArray, place: IntArray, size: int, how: str) -> FloatArray:
    """A row of `size` cells, each made of the observed values that are meant for its place; NaN where there is none.

    The mean, the last or the first is that of the observed values: an empty cell says nothing and replaces nothing.
    """
    seen = ~np.isnan(cells)
    found, place = cells[seen], place[seen]
    if how == "mean":
        count = np.bincount(place, minlength=size)
        total = np.bincount(place, weights=found, minlength=size)
        return np.divide(total, count, out=np.full(size, np.nan), where=count > 0).astype(cells.dtype)
    merged = np.full(size, np.nan, cells.dtype)
    order = slice(None, None, -1) if how == "first" else slice(None)
    merged[place[order]] = found[order]  # of several values for one place the last one stays
    return merged
