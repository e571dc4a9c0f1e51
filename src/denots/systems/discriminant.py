"""Gaussian discriminant analysis of the curves behind the series, from the rows that there are."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from denots.backbones.options import check_options
from denots.data.blocks import in_blocks
from denots.data.series import SeriesSet
from denots.errors import OutOfTime
from denots.features import NormalScores
from denots.heads.combine import calibrate
from denots.heads.gaussians import Groups, fit_groups
from denots.inference.discriminant import FEWEST, MOST, TOGETHER, Curves, Discriminant, Evidence, likelihoods
from denots.inference.even_grid import EvenGrid
from denots.inference.ranked_summary import Ranks
from denots.options import Range, tunable
from denots.shapes import FloatArray, IntArray
from denots.systems.bagged import FOLDS
from denots.systems.held_out import folds, held_out_loss
from denots.systems.linear import judged, refuse_times
from denots.systems.system import Configured, Fitted, Problem, Shape, State
from denots.tasks import Part, Task
from denots.training.model import Output
from denots.training.progress import Progress

STRENGTHS = (3.0, 10.0, 30.0, 100.0)  # of the covariance that all classes share, in series
SAMPLE = 500  # training series that tell directions, and what all classes share
ENOUGH = 5000  # training series that tell what classes have of their own, and what that is worth


class Choice(NamedTuple):
    """How many directions, and how strongly covariances are drawn to the shared one."""

    size: int
    strength: float


@dataclass(frozen=True)
class DiscriminantConfig:
    """directions: of the curves, at most; half and a quarter of them are tried, too."""

    directions: int = tunable(32, Range(8, 64))

    def __post_init__(self) -> None:
        check_options(self)

    def tried(self) -> list[int]:
        return [count for count in (self.directions, self.directions // 2, self.directions // 4) if count]


@dataclass(frozen=True, kw_only=True, eq=False)
class Gaussians(Fitted):
    model: Discriminant

    def outputs(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        return Output.of(self.model.outputs(series))

    def state(self) -> State:
        return State({"noise": self.model.noise, "factor": self.model.factor}, self.model.state())


@dataclass(frozen=True)
class DiscriminantSystem(Configured):
    """Answers with classes, once a series; folds choose how much the classes share, and the scale of the answers."""

    name: str
    description: str
    config: DiscriminantConfig = DiscriminantConfig()

    holds_out, weighs = False, True

    def serves(self, task: type[Task]) -> bool:
        return task.learns == "classes" and not task.asks_times

    def check(self, task: Task, shape: Shape) -> None:
        refuse_times(self.name, task)

    def fit(
        self,
        problem: Problem,
        *,
        seed: int,
        folder: Path | None = None,
        progress: Progress | bool = False,
        deadline: float | None = None,
    ) -> Gaussians:
        started = time.perf_counter()
        task, some = problem.task, _sample(len(problem.train), seed, ENOUGH)
        train = problem.train.select(some)
        self.check(task, Shape.of(train.series))
        tried = [Choice(size, strength) for size in self.config.tried() for strength in STRENGTHS]
        left_out = self._left_out(task, train, tried, seed, deadline)
        loss = held_out_loss(task, train.target, train.weight)
        scales = [calibrate(torch.from_numpy(told), loss) for told in left_out]
        held_out = [told * factor + shift for told, (factor, shift) in zip(left_out, scales, strict=True)]
        best = int(np.argmin([float(loss(torch.from_numpy(told))) for told in held_out]))
        told_of_all = np.full((len(problem.train), task.outputs), np.nan)
        told_of_all[some] = held_out[best]
        model = self._learn(task, train, tried[best], seed, deadline, *scales[best])
        found: Gaussians = judged(
            Gaussians(task=task, parameters=size_of(model), held_out=torch.from_numpy(told_of_all), model=model),
            problem,
        )
        return replace(found, seconds=time.perf_counter() - started)

    def restore(self, task: Task, shape: Shape, state: State) -> Gaussians:
        model = Discriminant.restore(state.values, state.arrays, task.outputs)
        return Gaussians(task=task, parameters=size_of(model), model=model)

    def _left_out(
        self, task: Task, train: Part, tried: list[Choice], seed: int, deadline: float | None
    ) -> list[FloatArray]:
        """For each choice, likelihoods of series by classes that were learnt from the other folds."""
        found = [np.full((len(train), task.outputs), np.nan) for _ in tried]
        parts = folds(task, train, FOLDS, seed)
        for k, (learnt, held) in enumerate(parts):
            part = train.select(learnt)
            curves, evidence = self._read(part.series, seed, deadline, passes=len(parts) - k)
            unseen, groups = curves.evidence(train.series.select(held)), {}
            for told, (size, strength) in zip(found, tried, strict=True):
                _stop_at(deadline)
                if size not in groups:
                    groups[size] = _grouped(task, part, evidence.first(size), seed)
                told[held] = likelihoods(unseen.first(size), groups[size].gaussians(strength), groups[size].noise)
        return found

    def _learn(
        self,
        task: Task,
        train: Part,
        chosen: Choice,
        seed: int,
        deadline: float | None,
        factor: float,
        shift: FloatArray,
    ) -> Discriminant:
        curves, evidence = self._read(train.series, seed, deadline)
        groups = _grouped(task, train, evidence.first(chosen.size), seed)
        classes = groups.gaussians(chosen.strength)
        return Discriminant(curves.first(chosen.size), groups.noise, classes.means, classes.factors, factor, shift)

    def _read(self, series: SeriesSet, seed: int, deadline: float | None, passes: int = 0) -> tuple[Curves, Evidence]:
        """Curves, and the evidence for them; given up as soon as this, and so many more of it, would take too long."""
        curves, parts = fit_curves(series, _sample(len(series), seed), self.config.directions), []
        begun = time.time()
        for block in in_blocks(series, TOGETHER):
            parts.append(curves.evidence(block))
            whole = (time.time() - begun) * max(1.0, len(series) / (len(parts) * TOGETHER))
            _stop_at(deadline, ahead=begun - time.time() + whole * (1 + passes))
        return curves, Evidence(*map(np.concatenate, zip(*parts, strict=True)))


def size_of(model: Discriminant) -> int:
    return int(model.means.size + model.factors.size)


def _sample(series: int, seed: int, most: int = SAMPLE) -> IntArray:
    return np.sort(np.random.default_rng(seed).permutation(series)[:most])


def _grouped(task: Task, train: Part, evidence: Evidence, seed: int) -> Groups:
    weight = np.ones(len(train)) if train.weight is None else train.weight.double().numpy()
    return fit_groups(evidence, train.target.numpy(), max(2, task.outputs), weight, _sample(len(train), seed))


def _stop_at(deadline: float | None, *, ahead: float = 0.0) -> None:
    if deadline is not None and time.time() + ahead > deadline:
        raise OutOfTime("a discriminant takes longer than there is time")


def fit_curves(series: SeriesSet, sample: IntArray, directions: int) -> Curves:
    """Mean and directions of training series that are joined by straight lines where rows are missing.

    A direction is as long as its weight varies, so that weights are about one.
    """
    scores = NormalScores().fit(series.values)
    ranks = Ranks(scores.edges_, scores.holes_)
    channels = series.values.shape[1]
    scored = replace(series, values=ranks.keep_holes(series.values))
    grid = EvenGrid.fit(scored, FEWEST, MOST)
    filled: FloatArray = grid.read(scored.select(sample))[:, :channels].astype(np.float64)
    mean = filled.mean(axis=0)
    _, strength, found = np.linalg.svd((filled - mean).reshape(len(filled), -1), full_matrices=False)
    kept = min(directions, max(1, len(filled) - 1), len(found))
    found = found[:kept] * (strength[:kept, None] / np.sqrt(len(filled)))
    return Curves(ranks, grid, mean, np.ascontiguousarray(found.T.reshape(channels, grid.points, kept)))
