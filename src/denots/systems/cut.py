"""Any system, asked about series that are cut at the moment in question: it cannot look ahead, for nothing is there."""

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from denots.backbones.options import check_options
from denots.data.cut import cut
from denots.data.series import SeriesSet
from denots.errors import InvalidTarget
from denots.inference.cut import CutAnswers
from denots.inference.questions import Questions
from denots.shapes import FloatArray
from denots.systems.held_out import trivial_outputs
from denots.systems.running_trees import row_task
from denots.systems.system import Fitted, Plain, Problem, Shape, State, System, check_known
from denots.tasks import Part, RowTask, Task
from denots.training.model import Output
from denots.training.progress import Progress


@dataclass(frozen=True)
class CutConfig:
    """cuts: moments at which each series is cut in training, drawn among those whose answer is known."""

    cuts: int = 4

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedCut(Fitted):
    """A model of cut series; `base` is said of a moment before which nothing was observed."""

    model: Fitted
    base: FloatArray

    def outputs(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        moments = None if at is None else at.double().numpy()
        return Output.of(CutAnswers(Plain(self.model), self.base).outputs(series, moments))

    def state(self) -> State:
        inner = self.model.state()
        return State({"model": inner.values, "base": self.base.tolist()}, inner.arrays)


@dataclass(frozen=True)
class Cut(System):
    """Learns from series that are cut at random moments, and answers about series that are cut at those asked for.

    Adaptive steps of a solver and curves between observations may reach beyond a moment; cutting is what keeps an
    answer free of it to the last bit. It costs one answer of the system a moment.
    """

    name: str
    description: str
    system: System
    config: CutConfig = field(default_factory=CutConfig)

    weighs = True

    @property
    def causal(self) -> bool:
        return True

    @property
    def configs(self) -> tuple[Any, ...]:
        return self.config, *self.system.configs

    def with_options(self, **options: Any) -> "Cut":
        check_known(options, self.options, self.name)
        own = {name: options.pop(name) for name in [option.name for option in fields(self.config)] if name in options}
        return replace(self, config=replace(self.config, **own), system=self.system.with_options(**options))

    def serves(self, task: type[Task]) -> bool:
        return issubclass(task, RowTask) and self.system.serves(task.kind)

    def check(self, task: Task, shape: Shape) -> None:
        self.system.check(row_task(task, self.name).of, shape)

    def fit(
        self,
        problem: Problem,
        *,
        seed: int,
        folder: Path | None = None,
        progress: Progress | bool = False,
        deadline: float | None = None,
    ) -> FittedCut:
        task, rng = row_task(problem.task, self.name), np.random.default_rng(seed)
        train = self._cut(task, problem.train, rng)
        val = None if problem.val is None else self._cut(task, problem.val, rng)
        inner = Problem(task.of, train, val)
        model = self.system.fit(inner, seed=seed, folder=folder, progress=progress, deadline=deadline)
        base = trivial_outputs(task.of, train.target)[0].numpy()
        return FittedCut(
            task=task,
            score=model.score,
            loss=model.loss,
            curve=model.curve,
            parameters=model.parameters,
            seconds=model.seconds,
            failures=model.failures,
            leaderboard=model.leaderboard,
            model=model,
            base=base,
        )

    def restore(self, task: Task, shape: Shape, state: State) -> FittedCut:
        whole = row_task(task, self.name)
        base = np.array(state.values["base"], dtype=np.float64)
        if base.shape != (whole.outputs,):
            raise ValueError("a model of cut series needs a number for each output")
        model = self.system.restore(whole.of, shape, State(state.values["model"], state.arrays))
        return FittedCut(task=whole, parameters=model.parameters, model=model, base=base)

    def _cut(self, task: RowTask, part: Part, rng: np.random.Generator) -> Part:
        """Some of the known rows of each series, as series of their own."""
        if part.at is None:
            raise InvalidTarget(f"{task.name} is asked at times; this part has none.")
        known = ~part.target.isnan().numpy()
        rank = np.where(known, rng.random(known.shape), np.inf).argsort(axis=1).argsort(axis=1)
        drawn = known & (rank < self.config.cuts)
        moments, owner = Questions.at(part.at.double().numpy(), drawn).moments, np.nonzero(drawn)[0]
        series, seen = cut(part.series, moments)
        if series is None:
            raise InvalidTarget("nothing is observed up to any row whose answer is known; give later labels.")
        own = owner[seen]
        weight = None
        if part.weight is not None:
            every = part.weight[:, None].expand_as(part.target) if part.weight.ndim == 1 else part.weight
            weight = every[torch.from_numpy(drawn)][torch.from_numpy(seen)]
        return Part(
            series,
            task.flat_target(part.target[torch.from_numpy(drawn)])[torch.from_numpy(seen)],
            weight=weight,
            groups=own if part.groups is None else part.groups[own],
        )
