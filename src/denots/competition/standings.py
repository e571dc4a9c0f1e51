"""Who stands where: means, ranks, and wins, ties and losses that know their standard error."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from denots.competition.match import MatchRecord

Round = tuple[int, int]  # draw and resample


class Tally(NamedTuple):
    """Sets on which one is better than another by more than a standard error, as good, and worse."""

    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins} / {self.ties} / {self.losses}"


class Cell(NamedTuple):
    """Mean score of a system on a set, its standard error over the rounds, and how many those are."""

    mean: float
    error: float
    rounds: int


@dataclass(frozen=True)
class Standings:
    """Records of one kind: the same share dropped, or gaps of the sets' own, and as many series to learn from.

    Systems stand in the order of their mean rank, those that lack a set or failed somewhere last.
    """

    records: tuple[MatchRecord, ...]

    @property
    def gap(self) -> float | None:
        return self.records[0].match.gap

    @property
    def learn(self) -> int | None:
        return self.records[0].match.learn

    @cached_property
    def sets(self) -> list[str]:
        return sorted({record.match.dataset for record in self.records})

    @cached_property
    def metrics(self) -> dict[str, str]:
        """The metric that decides on each set."""
        return {record.match.dataset: record.metric for record in self.records}

    @property
    def mixed(self) -> bool:
        """Whether different metrics decide on different sets."""
        return len(set(self.metrics.values())) > 1

    @cached_property
    def systems(self) -> list[str]:
        names = sorted({record.match.system for record in self.records})
        means = self.means
        return sorted(names, key=lambda name: (self.ranks.get(name, math.inf), -means.get(name, -math.inf), name))

    @cached_property
    def _scores(self) -> Mapping[tuple[str, str], dict[Round, MatchRecord]]:
        found: dict[tuple[str, str], dict[Round, MatchRecord]] = {}
        for record in self.records:
            match = record.match
            found.setdefault((match.dataset, match.system), {})[match.draw, match.resample] = record
        return found

    def cell(self, dataset: str, system: str, metric: str | None = None) -> Cell | None:
        """None where the system did not compete or has no such metric; NaN where it failed in any round."""
        rounds = self._scores.get((dataset, system))
        if not rounds:
            return None
        found = [record.score if metric is None else record.metrics.get(metric) for record in rounds.values()]
        scores = np.array([score for score in found if score is not None])
        if len(scores) < len(found):
            return None
        error = float(scores.std(ddof=1) / math.sqrt(len(scores))) if len(scores) > 1 else float("nan")
        return Cell(float(scores.mean()), error, len(scores))

    @cached_property
    def complete(self) -> list[str]:
        """Systems that have a score on every set."""
        names = sorted({record.match.system for record in self.records})
        return [name for name in names if all(_finite(self.cell(dataset, name)) for dataset in self.sets)]

    @cached_property
    def means(self) -> dict[str, float]:
        """Mean over all sets of the complete systems, where one metric decides on all of them."""
        if self.mixed:
            return {}
        return {name: float(np.mean(self._column(name))) for name in self.complete}

    @cached_property
    def ranks(self) -> dict[str, float]:
        """Mean rank of the complete systems among themselves; 1 is best, those that are equal share theirs."""
        from scipy.stats import rankdata

        if not self.complete:
            return {}
        table = np.array([self._column(name) for name in self.complete])
        ranks = rankdata(-table.round(9), axis=0).mean(axis=1)  # means of equal scores differ in the last digits
        return dict(zip(self.complete, ranks.tolist(), strict=True))

    def _column(self, system: str) -> list[float]:
        return [cell.mean for dataset in self.sets if (cell := self.cell(dataset, system)) is not None]

    def seconds(self, system: str) -> tuple[float, float]:
        """Mean over all matches of the time to fit and tell, by the clock and of the processor."""
        own = [record for record in self.records if record.match.system == system and record.error is None]
        if not own:
            return float("nan"), float("nan")
        clock = float(np.mean([sum(record.seconds.values()) for record in own]))
        return clock, float(np.mean([record.processor_seconds for record in own]))

    def tally(self, system: str, other: str) -> Tally:
        """Sets on which the system is better, as good and worse than the other, in the rounds that both have."""
        signs = [sign for dataset in self.sets if (sign := self.compare(dataset, system, other)) is not None]
        return Tally(signs.count(1), signs.count(0), signs.count(-1))

    def compare(self, dataset: str, system: str, other: str) -> int | None:
        """1, 0 or -1: better, as good within a standard error of the difference, worse; None if not both are there.

        With several rounds it is the error of their paired differences; with one, that of drawing so many
        test series for a share of right answers, and zero for any other metric.
        """
        ours, theirs = self._scores.get((dataset, system), {}), self._scores.get((dataset, other), {})
        common = sorted(ours.keys() & theirs.keys())
        if not common:
            return None
        a, b = (np.array([side[each].score for each in common]) for side in (ours, theirs))
        if np.isnan(a).any() or np.isnan(b).any():
            return int(np.isnan(b).any()) - int(np.isnan(a).any())
        difference = a - b
        if len(common) > 1:
            error = float(difference.std(ddof=1) / math.sqrt(len(common)))
        elif self.metrics[dataset] == "accuracy":
            error = math.sqrt((a[0] * (1 - a[0]) + b[0] * (1 - b[0])) / ours[common[0]].test)
        else:
            error = 0.0
        mean = float(difference.mean())
        return 0 if abs(mean) <= error else int(math.copysign(1, mean))


def _finite(cell: Cell | None) -> bool:
    return cell is not None and math.isfinite(cell.mean)


def all_standings(records: Sequence[MatchRecord]) -> list[Standings]:
    """One for each share of dropped steps, in ascending order, and one for sets with gaps of their own.

    What was learnt from a part of the series stands apart.
    """
    groups: dict[tuple[float | None, int | None], list[MatchRecord]] = {}
    for record in records:
        groups.setdefault((record.match.gap, record.match.learn), []).append(record)
    order = sorted(groups, key=lambda kind: tuple(math.inf if part is None else part for part in kind))
    return [Standings(tuple(groups[kind])) for kind in order]


def title_of(standings: Standings) -> str:
    gap = standings.gap
    if gap is None:
        kind = "Sets with gaps of their own"
    else:
        kind = f"{gap:.0%} of the time steps dropped" if gap else "No gaps"
    return kind if standings.learn is None else f"{kind}, {standings.learn} series to learn from"
