"""What a stream remembers of one series."""

import bisect
import math
from dataclasses import dataclass, field

import numpy as np

from denots.errors import InvalidEvent
from denots.shapes import FloatArray


@dataclass(eq=False, slots=True)
class Track:
    """The rows of one series in order of time; `start` is when its clock began.

    told: whether somebody said so; else the clock begins with the first row.
    seen: whether anything was observed in each row.
    latest: of all rows that were ever pushed, by which late ones are judged.
    states: where the state before these rows is kept, and those after the first ones of them; none where rows are read again.
    before, seen_before: of the rows that went into the first state, the time of the last one, and whether any saw something.
    """

    id: str | int
    start: float
    static: FloatArray
    told: bool = True
    times: list[float] = field(default_factory=list)
    rows: list[FloatArray] = field(default_factory=list)
    seen: list[bool] = field(default_factory=list)
    latest: float = -math.inf
    states: list[int] = field(default_factory=list)
    before: float = -math.inf
    seen_before: bool = False

    def add(self, time: float, row: FloatArray, seen: bool, lag: float, most: int) -> list[int]:
        """Put a row in its place; one at a known time adds to it what was not seen there.

        Returns the states that no longer hold.
        """
        self._check_time(time, lag)
        place = len(self.times) if time > self.latest else bisect.bisect_left(self.times, time)
        known = place < len(self.times) and self.times[place] == time
        if len(self.times) - place - known >= most:
            raise InvalidEvent(
                f"series {self.id!r}: the row at time {time:g} lies before the {most} rows that are kept of a series."
            )
        if known:
            self.rows[place] = self._merged(time, self.rows[place], row)
            self.seen[place] |= seen
        else:
            self.times.insert(place, time)
            self.rows.insert(place, row)
            self.seen.insert(place, seen)
        first = place + 1
        if time < self.start:
            self.start, first = time, 0
        gone = self.states[first:]
        del self.states[first:]
        self.latest = max(self.latest, time)
        return gone

    def keep_latest(self, most: int) -> None:
        """Forget all rows but the latest ones."""
        if len(self.times) > most:
            del self.times[:-most], self.rows[:-most], self.seen[:-most]

    def settle(self, lag: float, most: int) -> list[int]:
        """Leave to the state what no late row can come before any more; returns the states that are not needed then."""
        first = bisect.bisect_left(self.times, self.latest - lag) if self.times[0] < self.latest - lag else 0
        first = max(first, len(self.times) - most)
        if first == 0:
            return []
        self.before = self.times[first - 1]
        self.seen_before |= any(self.seen[:first])
        gone = self.states[:first]
        del self.times[:first], self.rows[:first], self.seen[:first], self.states[:first]
        return gone

    def until(self, time: float) -> int:
        """How many rows there are up to a time."""
        return len(self.times) if time >= self.latest else bisect.bisect_right(self.times, time)

    def begun(self, time: float) -> bool:
        """Whether there was any row by then."""
        return time >= self.start and (self.before > -math.inf or self.until(time) > 0)

    def observed(self, time: float) -> bool:
        """Whether anything was seen up to a time."""
        return self.seen_before or any(self.seen[: self.until(time)])

    def _check_time(self, time: float, lag: float) -> None:
        if time < self.latest - lag:
            raise InvalidEvent(
                f"series {self.id!r}: the row at time {time:g} is {self.latest - time:g} late, and rows may be {lag:g} late; "
                "push rows in order, or allow a larger lag."
            )
        if time < self.start and self.told:
            raise InvalidEvent(f"series {self.id!r} began at {self.start:g}, after the row at time {time:g}.")

    def _merged(self, time: float, known: FloatArray, row: FloatArray) -> FloatArray:
        both = ~np.isnan(known) & ~np.isnan(row) & (known != row)
        if both.any():
            raise InvalidEvent(
                f"series {self.id!r} has two values of one channel at time {time:g}, {known[both][0]:g} and {row[both][0]:g}; "
                "send one of them."
            )
        return np.where(np.isnan(row), known, row)
