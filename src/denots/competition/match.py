"""One match: a contender learns from a training part and is judged by the test part; one line of JSON."""

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from denots.competition.contender import Contender
from denots.competition.contest import Contest
from denots.competition.judge import judge
from denots.errors import DenotsError, InvalidFolder
from denots.ode.used import solvers_used
from denots.runs.origin import Origin, origin_here
from denots.runs.record import append_line, plain, read_lines, versions


@dataclass(frozen=True)
class Match:
    """Who competes on what.

    gap: share of the time steps that are dropped; None where a set has gaps of its own.
    draw: of the gaps, and the seed of the contender.
    resample: 0 is the official split.
    learn: from so many series of the training part, another choice for each draw; None is all of them.
    """

    dataset: str
    system: str
    gap: float | None
    draw: int = 0
    resample: int = 0
    learn: int | None = None


@dataclass(frozen=True)
class MatchRecord:
    """What came out of a match.

    metric: the one that decides; `metrics` has all of them, nothing where the contender failed.
    error: why it failed.
    seconds: to fit and to tell; `processor_seconds` both together, over all threads.
    test: series that it was judged by.
    """

    match: Match
    metric: str
    metrics: dict[str, float | None]
    seconds: dict[str, float]
    processor_seconds: float
    test: int
    error: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    origin: Origin = field(default_factory=Origin)

    @property
    def score(self) -> float:
        """The metric that decides; NaN where the contender failed."""
        value = self.metrics.get(self.metric)
        return float("nan") if value is None else value

    def to_json(self) -> str:
        return json.dumps(plain(asdict(self)), allow_nan=False)

    @classmethod
    def from_json(cls, line: str) -> "MatchRecord":
        content: dict[str, Any] = json.loads(line)
        return cls(**{**content, "match": Match(**content["match"]), "origin": Origin(**content["origin"])})


def play(match: Match, contest: Contest, contender: Contender) -> MatchRecord:
    """Fit and judge; what a contender cannot do is recorded with its reason."""
    train, test, grid = contest.arranged(match.gap, match.draw, match.resample)
    if match.learn is not None:
        train = contest.some_of(train, match.learn, match.draw)
    seconds = {"fit": 0.0, "predict": 0.0}
    metrics: dict[str, float | None] = {}
    error = None
    work = 0.0
    with solvers_used() as solvers:
        try:
            contender.warm_up(train, contest.task, contest.metric, grid)
            began, processor = time.perf_counter(), time.process_time()
            tell = contender.fit(train, contest.task, contest.metric, grid, match.draw)
            middle = time.perf_counter()
            told = tell(test.with_target(None))
            seconds = {"fit": middle - began, "predict": time.perf_counter() - middle}
            work = time.process_time() - processor
            metrics = {**judge(told, np.asarray(test.target))}
        except (DenotsError, ValueError, ArithmeticError) as failure:
            error = f"{type(failure).__name__}: {failure}"
    return MatchRecord(
        match=match,
        metric=contest.metric,
        metrics=metrics,
        seconds={name: round(value, 3) for name, value in seconds.items()},
        processor_seconds=round(work, 3),
        test=len(test),
        error=error,
        versions=versions(),
        origin=origin_here(solvers, None),
    )


class MatchStore:
    """A file of matches, a line each, never edited; a later record of the same match stands for the earlier one."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def records(self) -> dict[Match, MatchRecord]:
        found = {}
        for number, line in enumerate(read_lines(self.file), start=1):
            try:
                record = MatchRecord.from_json(line)
            except (ValueError, KeyError, TypeError) as error:
                raise InvalidFolder(f"{self.file}, line {number} is no match ({error}); remove the line.") from error
            found[record.match] = record
        return found

    def add(self, record: MatchRecord) -> None:
        append_line(record.to_json(), self.file)
