"""What a stream remembers of one series."""

import bisect
import math
from dataclasses import dataclass, field

import numpy as np

from denots.errors import InvalidEvent
from denots.shapes import FloatArray


@dataclass(eq=False)
class Track:
    """The rows of one series in order of time; `start` is when its clock began.

    latest: of all rows that were ever pushed, by which late ones are judged.
    """

    id: str | int
    start: float
    static: FloatArray
    times: list[float] = field(default_factory=list)
    rows: list[FloatArray] = field(default_factory=list)
    latest: float = -math.inf

    def add(self, time: float, row: FloatArray, lag: float, most: int) -> None:
        """Put a row in its place; one at a known time adds to it what was not seen there."""
        if time < self.latest - lag:
            raise InvalidEvent(
                f"series {self.id!r}: the row at time {time:g} is {self.latest - time:g} late, and rows may be {lag:g} late; "
                "push rows in order, or allow a larger lag."
            )
        if time < self.start:
            raise InvalidEvent(f"series {self.id!r} began at {self.start:g}, after the row at time {time:g}.")
        place = bisect.bisect_left(self.times, time)
        if place < len(self.times) and self.times[place] == time:
            self.rows[place] = self._merged(time, self.rows[place], row)
        elif len(self.times) >= most and place == 0:
            raise InvalidEvent(
                f"series {self.id!r}: the row at time {time:g} lies before the {most} rows that are kept of a series."
            )
        else:
            self.times.insert(place, time)
            self.rows.insert(place, row)
            del self.times[:-most], self.rows[:-most]
        self.latest = max(self.latest, time)

    def until(self, time: float) -> int:
        """How many rows there are up to a time."""
        return bisect.bisect_right(self.times, time)

    def observed(self, time: float) -> bool:
        """Whether anything was seen up to a time."""
        return any(not np.isnan(row).all() for row in self.rows[: self.until(time)])

    def _merged(self, time: float, known: FloatArray, row: FloatArray) -> FloatArray:
        both = ~np.isnan(known) & ~np.isnan(row) & (known != row)
        if both.any():
            raise InvalidEvent(
                f"series {self.id!r} has two values of one channel at time {time:g}, {known[both][0]:g} and {row[both][0]:g}; "
                "send one of them."
            )
        return np.where(np.isnan(row), known, row)
