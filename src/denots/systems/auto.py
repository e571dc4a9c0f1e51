"""Try what is fast, then what may be better, and weigh what each says: the system for people who ask for none."""

import time
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from denots.backbones.options import check_options
from denots.cluster.workers import Here, Workers
from denots.data.series import SeriesSet
from denots.errors import NothingLearnt, OutOfTime
from denots.heads.combine import weigh
from denots.inference.blend import blend
from denots.inference.state import join_states, split_state
from denots.shapes import FloatArray
from denots.systems.bagged import FOLDS, fit_bag, restore_bag
from denots.systems.held_out import held_out_loss, one_by_one, standard_error, trivial_outputs, weighed_loss
from denots.systems.linear import refuse_times
from denots.systems.running_trees import row_task
from denots.systems.side_by_side import fit_members
from denots.systems.system import Configured, Fitted, Problem, Shape, State, System
from denots.systems.trained import Trained
from denots.tasks import Task
from denots.training.model import Output
from denots.training.progress import Progress, shown

MANY_SERIES = 1000  # from so many on, all but the early ones wait for trained systems
# Of the time that is left, at most, for a member that is not the last: one that is trained, and another one where
# there are few series or many.
TRAINED_SHARE, FEW_SHARE, MANY_SHARE = 2 / 3, 1 / 2, 1 / 4
LEAST_SHARE = 0.2  # of the whole time; with less nothing is begun
LEAST_WEIGHT = 0.02  # a member that counts for less is left out
# From so many series on there are many to answer, too: then members are left out that are worth no more than this
# share of the loss, all of them together.
MANY_ANSWERS, WORTH = 4000, 0.005
TRIVIAL, BLEND = "trivial answer", "blend"


@dataclass(frozen=True)
class AutoConfig:
    """How long to try.

    budget: seconds by the clock, here and on a cluster; systems that do not fit into it are left out, and it says so.
        None goes by the number of series, and is five minutes at most.
    """

    budget: float | None = None

    def __post_init__(self) -> None:
        check_options(self)

    def seconds(self, series: int) -> float:
        """What so many series deserve, or what was asked for."""
        return self.budget or min(300.0, 20.0 + 0.1 * series)


@dataclass(frozen=True, kw_only=True, eq=False)
class Blend(Fitted):
    """A weighted sum of what its members say, above what is said without having seen a series."""

    members: dict[str, Fitted]
    weights: FloatArray
    base: FloatArray

    def outputs(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        told = [member.outputs(series, at).told() for member in self.members.values()]
        return Output.of(blend((len(series),) if at is None else tuple(at.shape), self.base, self.weights, told))

    def state(self) -> State:
        joined = join_states({name: member.state() for name, member in self.members.items()})
        # By pairs, because the keys of JSON have no order and sums do.
        weights = list(zip(self.members, self.weights.tolist(), strict=True))
        values = {"members": joined.values, "weights": weights, "leaderboard": self.leaderboard}
        return State(values, {**joined.arrays, "base": self.base})


@dataclass(frozen=True)
class Auto(Configured):
    """Members are systems by name, in the order in which they are tried.

    Those that are trained by gradient come last for few series, where they seldom lead, and for many right after
    the early ones. Nothing speaks for the unlikely ones before held-out answers do; all others count alike until then.

    workers: who fits the members; elsewhere all of them, and their folds, are begun as soon as there is room.
    """

    name: str
    description: str
    members: Mapping[str, System]
    config: AutoConfig = field(default_factory=AutoConfig)
    early: tuple[str, ...] = ()
    unlikely: tuple[str, ...] = ()
    workers: Workers = field(default_factory=Here, compare=False, repr=False)

    holds_out, weighs = False, True

    @property
    def causal(self) -> bool:
        return all(member.causal for member in self.members.values())

    def on(self, workers: Workers) -> "Auto":
        """The same system, whose members others fit."""
        return replace(self, workers=workers)

    def serves(self, task: type[Task]) -> bool:
        return task.causal if self.causal else not task.asks_times

    def check(self, task: Task, shape: Shape) -> None:
        if self.causal:
            row_task(task, self.name)
        else:
            refuse_times(self.name, task)

    def fit(
        self,
        problem: Problem,
        *,
        seed: int,
        folder: Path | None = None,
        progress: Progress | bool = False,
        deadline: float | None = None,
    ) -> Blend:
        started, budget, watcher = time.perf_counter(), self.config.seconds(len(problem.train)), shown(progress)
        limit = time.time() + budget
        limit = limit if deadline is None else min(limit, deadline)
        task, target = problem.task, problem.train.target
        trivial = trivial_outputs(task, target, problem.train.weight)
        board = [_row(TRIVIAL, task, trivial, target, 0.0)]
        found: dict[str, Fitted] = {}
        ordered = [(name, system) for name, system in self._ordered(len(target)) if system.serves(type(task))]
        able = [(name, system) for name, system in ordered if self._weighs(system, problem)]
        if isinstance(self.workers, Here):
            fitted = dict(self._in_turn(able, problem, seed, folder, watcher, limit, budget))
        else:
            fitted = fit_members(self.workers, able, problem, seed=seed, folder=folder, limit=limit)
        for name, system in ordered:
            tried = fitted.get(name)
            if not self._weighs(system, problem):
                board.append({"system": name, "note": "left out: it cannot weigh series"})
            elif tried is None or tried.held_out is None:
                board.append({"system": name, "note": "left out: it would not have fitted into the budget"})
            else:
                found[name] = tried
                board.append(_row(name, task, tried.held_out, target, tried.seconds, tried.compared))
        blended = combine(task, found, trivial, target, problem.train.weight, unlikely=self.unlikely)
        told = trivial if blended.held_out is None else blended.held_out
        last = _row(BLEND, task, told, target, time.perf_counter() - started, blended.compared)
        last["weights"] = _weights(blended)
        if not blended.members:
            warnings.warn(
                "nothing that was tried beats the trivial answer, so that is what the model gives: either these series "
                "say nothing about the target, or there are too few of them.",
                NothingLearnt,
                stacklevel=2,
            )
        return replace(
            blended,
            score=last["score"],
            loss=last["loss"],
            seconds=time.perf_counter() - started,
            leaderboard=[*board, last],
        )

    def restore(self, task: Task, shape: Shape, state: State) -> Blend:
        arrays = dict(state.arrays)
        base = arrays.pop("base")
        parts = split_state(State(state.values["members"], arrays))
        weights = {str(name): float(weight) for name, weight in state.values["weights"]}
        if set(weights) != set(parts) or base.shape != (task.outputs,):
            raise ValueError("a blend needs a weight for each member and a base for each output")
        members = {name: self._restored(name, task, shape, parts[name]) for name in weights}
        return Blend(
            task=task,
            parameters=sum(member.parameters for member in members.values()),
            leaderboard=list(state.values["leaderboard"]),
            members=members,
            weights=np.array(list(weights.values())),
            base=base,
        )

    def _ordered(self, series: int) -> list[tuple[str, System]]:
        """Members in the order for so many series."""
        trained = [name for name in self.members if isinstance(self.members[name], Trained)]
        first = [name for name in self.early if name in self.members] if series >= MANY_SERIES else []
        others = [name for name in self.members if name not in (*trained, *first)]
        order = [*first, *trained, *others] if first else [*others, *trained]
        return [(name, self.members[name]) for name in order]

    @staticmethod
    def _weighs(system: System, problem: Problem) -> bool:
        return system.weighs or problem.train.weight is None

    def _in_turn(
        self,
        ordered: list[tuple[str, System]],
        problem: Problem,
        seed: int,
        folder: Path | None,
        watcher: Progress,
        limit: float,
        budget: float,
    ) -> Iterator[tuple[str, Fitted]]:
        """One member after the other, each with its share of the time that is left."""
        other = MANY_SHARE if len(problem.train) >= MANY_SERIES else FEW_SHARE
        slowest = 0.0  # of those that cannot stop once they have begun
        for name, system in ordered:
            left = limit - time.time()
            share = TRAINED_SHARE if isinstance(system, Trained) else other
            share = left if name == ordered[-1][0] else left * share
            if left <= max(LEAST_SHARE * budget, 0.0 if system.holds_out else slowest):
                continue
            watcher.stage(name, left)
            tried = self._try(name, system, problem, seed, folder, time.time() + share, watcher)
            if tried is not None:
                slowest = slowest if system.holds_out else max(slowest, tried.seconds)
                yield name, tried

    def _try(
        self,
        name: str,
        system: System,
        problem: Problem,
        seed: int,
        folder: Path | None,
        limit: float,
        progress: Progress,
    ) -> Fitted | None:
        """A member with its held-out outputs; None where time is over before it is ready."""
        if time.time() >= limit:
            return None
        place = None if folder is None else folder / name
        if isinstance(system, Trained):
            system = replace(system, anytime=True)
        try:
            if system.holds_out:
                return fit_bag(system, problem, FOLDS, seed=seed, folder=place, progress=progress, deadline=limit)
            return system.fit(replace(problem, val=None), seed=seed, folder=place, deadline=limit)
        except OutOfTime:
            return None

    def _restored(self, name: str, task: Task, shape: Shape, state: State) -> Fitted:
        system = self.members[name]
        return restore_bag(system, task, shape, state) if system.holds_out else system.restore(task, shape, state)


def combine(
    task: Task,
    found: Mapping[str, Fitted],
    trivial: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    unlikely: Collection[str] = (),
) -> Blend:
    """Members weighed by what they say of series that they have not seen; none where that does not beat the trivial.

    Of many series, those are left out again that are not worth the time of their answers. Before any series is seen, all count alike but for those that are unlikely to count.
    """
    told = {name: member.held_out for name, member in found.items() if member.held_out is not None}

    def weighed(names: list[str]) -> tuple[FloatArray, Tensor]:
        likely = np.array([float(name not in unlikely) for name in names])
        return _weighed(task, [told[name] for name in names], likely, trivial, target, weight)

    kept, total = list(told), trivial
    weights: FloatArray = np.zeros(0)
    for least in (LEAST_WEIGHT, 0.0):
        weights, total = weighed(kept)
        kept = [name for name, weight in zip(kept, weights.tolist(), strict=True) if weight >= least]
        if not kept:
            break
    known = ~total.flatten(1).isnan().any(dim=1)
    loss = weighed_loss(task, target[known], None if weight is None else weight[known])
    most = float(loss(total[known])) * (1 + WORTH)
    while len(target) >= MANY_ANSWERS and len(kept) > 1:
        fewer = [[other for other in kept if other != name] for name in kept]
        errors = [float(loss(weighed(names)[1][known])) for names in fewer]
        if not min(errors) <= most:
            break
        kept = fewer[int(np.argmin(errors))]
        weights, total = weighed(kept)
    if not kept or not float(loss(total[known])) < float(loss(trivial[known])):
        kept, weights, total = [], np.zeros(0), trivial
    members = {name: found[name] for name in kept}
    own = zip(weights.tolist(), members.values(), strict=True)
    leans = [weight * member.lean for weight, member in own if member.lean is not None]
    return Blend(
        task=task,
        parameters=sum(member.parameters for member in members.values()),
        held_out=total,
        lean=torch.stack(leans).sum(dim=0) if leans else None,
        members=members,
        weights=weights,
        base=trivial.reshape(-1, task.outputs)[0].numpy() * (1 - weights.sum()),
    )


def _weighed(
    task: Task, told: list[Tensor], likely: FloatArray, trivial: Tensor, target: Tensor, weight: Tensor | None
) -> tuple[FloatArray, Tensor]:
    """Weights of departures from the trivial answer, learnt where every member says something, and their sum."""
    if not told:
        return np.zeros(0), trivial
    known = ~torch.stack(told).flatten(2).isnan().any(dim=2).any(dim=0)
    given = None if weight is None else weight[known]
    of, truth, own, (base, *each) = one_by_one(task, target[known], given, [part[known] for part in (trivial, *told)])
    loss = held_out_loss(of, truth, own)
    likely = likely if likely.any() else np.ones(len(told))
    weights = weigh([part - base for part in each], lambda outputs: loss(outputs + base), likely / likely.sum())
    parts = [weight * (each - trivial) for weight, each in zip(weights.tolist(), told, strict=True)]
    return weights, trivial + torch.stack(parts).sum(dim=0)


def _row(
    name: str, task: Task, outputs: Tensor, target: Tensor, seconds: float, compared: Tensor | None = None
) -> dict[str, Any]:
    """Metric with its standard error over series, loss and time; of the series that something is said of."""
    known = ~outputs.flatten(1).isnan().any(dim=1)
    compared = (outputs if compared is None else compared)[known]
    outputs, target = outputs[known], target[known]
    return {
        "system": name,
        "metric": task.metric_name,
        "score": float(task.metric(compared, target)),
        "spread": standard_error(task, compared, target),
        "loss": float(task.loss(outputs, target)),
        "series": len(target),
        "seconds": round(seconds, 2),
    }


def _weights(found: Blend) -> dict[str, float]:
    return {name: round(weight, 3) for name, weight in zip(found.members, found.weights.tolist(), strict=True)}
