"""All matches between chosen contenders on chosen sets, each made once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from denots.cluster.workers import Here, Workers
from denots.competition.contest import open_contest
from denots.competition.match import Match, MatchRecord, MatchStore, play
from denots.competition.peers import find_contender
from denots.datasets.archive import PREFIX
from denots.errors import InvalidOption
from denots.runs.origin import code_version


@dataclass(frozen=True)
class Tournament:
    """What is to be played.

    gaps: shares of the time steps that are dropped from sets of the archive; other sets have gaps of their own.
    draws: of the gaps and of what is learnt from, each with another seed of the contender; where there is
        nothing to draw, sets of the archive have one.
    resamples: further splits of the archive's sets, beside the official one.
    learn: series of the training part to learn from; None is all of them.
    """

    sets: tuple[str, ...]
    systems: tuple[str, ...]
    gaps: tuple[float, ...] = (0.5,)
    draws: int = 5
    resamples: int = 0
    learn: int | None = None

    def __post_init__(self) -> None:
        wrong = [gap for gap in self.gaps if not 0 <= gap < 1]
        if wrong:
            raise InvalidOption(f"a gap is a share of the time steps from 0 to below 1; got {wrong[0]:g}.")

    def matches(self) -> list[Match]:
        """Every match once; whole rounds first, so that what is finished early can be compared."""
        found = [
            Match(dataset, system, gap, draw, resample, self.learn)
            for draw in range(self.draws)
            for resample in range(self.resamples + 1)
            for dataset in self.sets
            for gap, count in self._rounds(dataset)
            if draw < count and (not resample or dataset.startswith(PREFIX))
            for system in self.systems
        ]
        return list(dict.fromkeys(found))

    def _rounds(self, dataset: str) -> list[tuple[float | None, int]]:
        """The gaps of a set, each with the number of its draws."""
        if not dataset.startswith(PREFIX):
            return [(None, self.draws)]
        return [(gap, self.draws if gap or self.learn is not None else 1) for gap in self.gaps]


def hold(
    tournament: Tournament,
    store: MatchStore,
    *,
    deadline: float | None = None,
    again: bool = False,
    workers: Workers | None = None,
    tell: Callable[[int, int, MatchRecord], None] = lambda number, total, record: None,
) -> list[Match]:
    """Play what is not recorded yet, and return what is left when time is up.

    Args:
        deadline: as of `time.monotonic()`; no match is begun after it.
        again: play matches again that other code has recorded.
        workers: who plays; None is this process.
        tell: called after each match with its number, how many there are, and its record.
    """
    for name in tournament.systems:
        find_contender(name).check()
    known = store.records()
    todo = [match for match in tournament.matches() if _is_due(known.get(match), again)]
    left = dict.fromkeys(todo)
    _opened.cache_clear()
    for match, record in (workers or Here()).each(_played, todo, deadline=deadline):
        store.add(record)
        del left[match]
        tell(len(todo) - len(left), len(todo), record)
    return list(left)


def _played(match: Match) -> MatchRecord:
    return play(match, _opened(match.dataset), find_contender(match.system))


_opened = cache(open_contest)


def _is_due(record: MatchRecord | None, again: bool) -> bool:
    return record is None or (again and record.origin.code != code_version())


def recorded(records: Sequence[MatchRecord], tournament: Tournament) -> list[MatchRecord]:
    """Those of the records that belong to the tournament."""
    wanted = set(tournament.matches())
    return [record for record in records if record.match in wanted]
