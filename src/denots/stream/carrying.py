"""Series of a stream whose state is kept instead of their rows."""

from collections.abc import Sequence

import numpy as np

from denots.inference.carried import Carried
from denots.inference.running import Memory
from denots.inference.told import Told
from denots.stream.memories import Memories
from denots.stream.track import Track

AT_ONCE = 2048  # series that take a step together, which is what a cache holds
MOST_BEHIND = 50_000  # rows that may wait for a question


class Carrying:
    """Rows wait until somebody asks; then all series that are behind take their steps together.

    Of each series the states as far back as the lag are kept, so that a late row is put in from the state before it.
    """

    def __init__(self, carried: Carried) -> None:
        self.carried, self.memories = carried, Memories()
        self._behind: dict[Track, None] = {}
        self._rows = 0

    def pushed(self, track: Track, gone: list[int], lag: float, most: int) -> None:
        """A track has a new row, because of which some states no longer hold."""
        if gone:
            self.memories.drop(gone)
        self._behind[track] = None
        self._rows += 1
        if self._rows > MOST_BEHIND:
            self.catch_up(lag, most)

    def forget(self, track: Track) -> None:
        self.memories.drop(track.states)
        self._behind.pop(track, None)

    def catch_up(self, lag: float, most: int) -> None:
        """Commit every row that waits."""
        tracks = list(self._behind)
        self._behind.clear()
        self._rows = 0
        for first in range(0, len(tracks), AT_ONCE):
            self._commit(tracks[first : first + AT_ONCE])
        self.memories.drop([place for track in tracks for place in track.settle(lag, most)])

    def outputs(self, asked: Sequence[tuple[Track, float]]) -> Told:
        """At times that no track has left behind."""
        memory = self.memories.get([track.states[track.until(time)] for track, time in asked])
        return self.carried.outputs(memory, np.array([time for _, time in asked]))

    def first_states(self, tracks: Sequence[Track]) -> Memory:
        """What is remembered from before the rows that are kept."""
        return self.memories.get([track.states[0] for track in tracks])

    def restore(self, tracks: Sequence[Track], first: Memory) -> None:
        for track, place in zip(tracks, self.memories.put(first), strict=True):
            track.states = [place]
            self._behind[track] = None

    def _commit(self, tracks: list[Track]) -> None:
        backbone = self.carried.backbone
        fresh = [track for track in tracks if not track.states]
        if fresh:
            static = np.array([track.static for track in fresh]).reshape(len(fresh), -1)
            begun = backbone.begin(np.array([track.start for track in fresh]), static)
            for track, place in zip(fresh, self.memories.put(begun), strict=True):
                track.states.append(place)
        while tracks := [track for track in tracks if len(track.states) <= len(track.times)]:
            row = [len(track.states) - 1 for track in tracks]
            stepped = backbone.step(
                self.memories.get([track.states[-1] for track in tracks]),
                np.array([track.times[k] for track, k in zip(tracks, row, strict=True)]),
                np.array([track.rows[k] for track, k in zip(tracks, row, strict=True)]),
            )
            for track, place in zip(tracks, self.memories.put(stepped), strict=True):
                track.states.append(place)
