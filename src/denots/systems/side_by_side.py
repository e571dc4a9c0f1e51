"""Members of a blend and their folds as pieces of work that others do at the same time.

The budget is time by the clock. Nobody waits for anybody, so no piece has a share of it: each may take all of what is left,
and none is begun afterwards. Where nothing is cut by the budget, members are those of a run in which one follows the other.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from denots.cluster.workers import Workers
from denots.errors import OutOfTime
from denots.shapes import IntArray
from denots.systems.bagged import FOLDS, FoldModel, bag_of, fit_fold, folds_needed
from denots.systems.held_out import folds
from denots.systems.system import Fitted, Problem, System
from denots.systems.trained import Trained


class Piece(NamedTuple):
    """A member, or the model of it that does not learn from a fold."""

    member: str
    fold: int | None


def fit_members(
    workers: Workers,
    members: Sequence[tuple[str, System]],
    problem: Problem,
    *,
    seed: int,
    folder: Path | None,
    limit: float,
) -> dict[str, Fitted]:
    """The members that are ready by the limit (as of `time.time()`), with their held-out outputs."""
    parts = folds(problem.task, problem.train, FOLDS, seed)
    pieces = [
        Piece(name, fold) for name, system in members for fold in (range(len(parts)) if system.holds_out else (None,))
    ]
    work = _Fit(dict(members), replace(problem, val=None), parts, seed, folder, limit)
    whole: dict[str, Fitted] = {}
    bags: dict[str, dict[int, FoldModel]] = {}
    deadline = time.monotonic() + limit - time.time()
    for piece, found in workers.each(work, pieces, deadline=deadline):
        if isinstance(found, FoldModel) and piece.fold is not None:
            bags.setdefault(piece.member, {})[piece.fold] = found
        elif isinstance(found, Fitted):
            whole[piece.member] = found
    enough = {name: bag for name, bag in bags.items() if len(bag) >= folds_needed(parts)}
    return whole | {name: bag_of(problem, parts, bag) for name, bag in enough.items()}


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """Fits a piece, in whatever process; tells None where time is over before it is ready."""

    members: Mapping[str, System]
    problem: Problem
    parts: list[tuple[IntArray, IntArray]]
    seed: int
    folder: Path | None
    limit: float

    def __call__(self, piece: Piece) -> Fitted | FoldModel | None:
        if time.time() >= self.limit:
            return None
        system = self.members[piece.member]
        if isinstance(system, Trained):
            system = replace(system, anytime=True)
        place = None if self.folder is None else self.folder / piece.member
        try:
            if piece.fold is None:
                return system.fit(self.problem, seed=self.seed, folder=place, deadline=self.limit)
            return fit_fold(
                system,
                self.problem,
                self.parts,
                piece.fold,
                seed=self.seed,
                folder=place,
                progress=False,
                deadline=self.limit,
            )
        except OutOfTime:
            return None
