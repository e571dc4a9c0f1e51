"""Times at which answers are asked for, as a rectangle: one row a series, NaN where there is no question."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from denots.data.questions import Questions
from denots.errors import InvalidSeries
from denots.shapes import FloatArray, IntArray


def asked_times(times: Any, n: int) -> tuple[FloatArray, list[int] | None]:
    """Query times [n, K] for n series; with one array a series, NaN behind the end of each, and their lengths."""
    if isinstance(times, Sequence) and len(times) and np.ndim(times[0]) == 1:
        each = [np.asarray(own, dtype=np.float64) for own in times]
        if len(each) != n:
            raise InvalidSeries(f"{len(each)} arrays of query times for {n} series; give one each.")
        table = np.full((n, max(max(map(len, each)), 1)), np.nan)  # NaN is no question
        for row, own in enumerate(each):
            if np.isnan(own).any():
                raise InvalidSeries(f"query time {int(np.isnan(own).argmax())} of series {row} is NaN; ask at numbers.")
            table[row, : len(own)] = own
        return table, [len(own) for own in each]
    shared = np.asarray(times, dtype=np.float64)
    if shared.ndim not in (1, 2) or (shared.ndim == 2 and len(shared) != n):
        raise InvalidSeries(
            f"times have shape {shared.shape}; expected (K,) for all series, ({n}, K), or a list of arrays."
        )
    return np.broadcast_to(shared, (n, shared.shape[-1])), None


def as_rectangle(told: Questions, n: int) -> tuple[FloatArray, IntArray, IntArray]:
    """The questions about n series as [n, K], and row and column of each question of the table."""
    at = np.full((n, max(max(map(len, told.times), default=0), 1)), np.nan)
    place = np.empty((2, len(told.asked)), dtype=np.int64)
    for owner, own, rows in zip(told.series, told.times, told.rows, strict=True):
        at[owner, : len(own)] = own
        place[0, rows], place[1, rows] = owner, np.arange(len(own))
    return at, place[0], place[1]
