"""Backbones trained by gradient: a recurrent network, a Transformer, a neural ODE."""

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from denots.backbones import Backbone
from denots.data.series import SeriesSet
from denots.data.split import deal_folds
from denots.data.transforms import thinned_copies
from denots.inference.carried import Carried
from denots.inference.solver import SolverConfig
from denots.ode.used import note
from denots.systems.system import Fitted, Problem, Shape, State, System, check_known, plain_arrays
from denots.tasks import Part, Task
from denots.training.config import TrainConfig
from denots.training.examples import Examples
from denots.training.model import Model, Output, build_model, run_model
from denots.training.progress import Progress

if TYPE_CHECKING:
    from denots.training.fit import History

HELD_BACK = 5  # of so many series one chooses the epoch
THINNED = 0.3


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedModel(Fitted):
    """A backbone with its weights.

    settled: options that were left to the data, as they were decided.
    """

    model: Model
    settled: dict[str, Any] = field(default_factory=dict)

    def outputs(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        network = self.model.network()
        if network is None:
            return run_model(self.model, self.model.backbone.prepare(series), at)
        if isinstance(self.model.backbone.config, SolverConfig):
            note("native")
        return Output.of(network.outputs(series, None if at is None else at.double().numpy()))

    @property
    def carried(self) -> Carried | None:
        return Carried.of(self.model.network())

    def state(self) -> State:
        return State(self.settled, plain_arrays(self.model.state_dict()))


@dataclass(frozen=True)
class Trained(System):
    """A backbone and how it is trained; the options of both have one name space.

    Without a validation part, a fifth of the series tells how many epochs to train; then all are learnt from, for as long.

    anytime: whether a deadline ends the training, after a cycle of it, rather than the attempt.
    """

    name: str
    backbone: type[Backbone]
    description: str
    config: Any
    train: TrainConfig = field(default_factory=TrainConfig)
    anytime: bool = False

    weighs = True

    @property
    def causal(self) -> bool:
        return self.backbone.causal

    @property
    def configs(self) -> tuple[Any, ...]:
        return self.config, self.train

    def with_options(self, **options: Any) -> "Trained":
        check_known(options, self.options, self.name)
        names = {option.name for option in fields(self.config)}
        own = {name: value for name, value in options.items() if name in names}
        train = {name: value for name, value in options.items() if name not in names}
        return replace(self, config=replace(self.config, **own), train=replace(self.train, **train))

    def build(self, task: Task, shape: Shape, seed: int) -> Model:
        """The model before training; its weights depend on the seed alone."""
        return build_model(
            self.backbone, self.config, task, channels=shape.channels, static_size=shape.static, seed=seed
        )

    def check(self, task: Task, shape: Shape) -> None:
        self._expected(task, shape)

    def fit(
        self,
        problem: Problem,
        *,
        seed: int,
        folder: Path | None = None,
        progress: Progress | bool = False,
        deadline: float | None = None,
    ) -> TrainedModel:
        from denots.training.fit import History

        watch = {"progress": progress, "deadline": deadline, "anytime": self.anytime}
        if problem.val is not None or self.train.schedule != "cycles":
            return self._fit(problem, seed, folder, **watch)
        train, held = _hold_back(problem, seed)
        trial = None if folder is None else folder / "length"
        tried = self._fit(replace(problem, train=train, val=held), seed, trial, **watch)
        best = History(tried.curve, self.train.choose).best
        whole = replace(self, train=replace(self.train, schedule="one-cycle", max_epochs=int(best["epoch"]) + 1))
        fitted = whole._fit(problem, seed, folder, **watch)
        fitted.model.sharpen(best.get("sharpness", 1.0))
        return fitted

    def _fit(self, problem: Problem, seed: int, folder: Path | None, **watch: Any) -> TrainedModel:
        from denots.training.fit import fit

        settled = self.backbone.settled(self.config, problem.train.series)
        model = replace(self, config=settled).build(problem.task, Shape.of(problem.train.series), seed)
        model.backbone.calibrate(problem.train.series)
        with model.backbone.in_training():
            train = examples(model, self._augmented(problem.train, seed))
            val = None if problem.val is None else examples(model, problem.val)
            history = fit(model, train, val, replace(self.train, seed=seed), folder=folder, **watch)
        return trained_model(self, settled, model, history, problem.task)

    def _augmented(self, part: Part, seed: int) -> Part:
        """The training part with thinned copies of its series."""
        copies = self.train.copies_of(len(part))
        if not copies or part.at is not None:
            return part
        weight = None if part.weight is None else part.weight.repeat(1 + copies)
        target = torch.cat([part.target] * (1 + copies))
        return Part(thinned_copies(part.series, copies, THINNED, seed), target, weight=weight)

    def restore(self, task: Task, shape: Shape, state: State) -> TrainedModel:
        return replace(self, config=replace(self.config, **state.values))._restore(task, shape, state)

    def _restore(self, task: Task, shape: Shape, state: State) -> TrainedModel:
        expected = self._expected(task, shape)
        weights = {name: torch.from_numpy(array) for name, array in state.arrays.items()}
        found = {name: (tensor.shape, tensor.dtype) for name, tensor in weights.items()}
        if found != expected:
            odd = sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))
            raise ValueError(f"weights do not fit the model: {', '.join(odd[:3])}")
        model = self.build(task, shape, seed=0)
        model.load_state_dict(weights)
        model.eval()
        return TrainedModel(task=task, parameters=model.parameter_count, model=model, settled=state.values)

    def _expected(self, task: Task, shape: Shape) -> dict[str, tuple[torch.Size, torch.dtype]]:
        """Shapes and types of all weights, found without allocating any: sizes may come from a damaged folder."""
        try:
            with torch.device("meta"):
                model = Model(self.backbone(self.config, shape.channels, shape.static), task)
        except RuntimeError as error:
            raise ValueError(f"no weights fit the model: {error}") from error
        return {name: (tensor.shape, tensor.dtype) for name, tensor in model.state_dict().items()}


def trained_model(system: Trained, settled: Any, model: Model, history: "History", task: Task) -> TrainedModel:
    """A model that has been trained, with what is known of it; `settled` are the options as they were decided."""
    best = history.best
    return TrainedModel(
        task=task,
        score=best["val_metric"],
        loss=best["val_loss"],
        curve=history.rows,
        parameters=model.parameter_count,
        seconds=history.seconds,
        failures=int(best["failures"]),
        model=model,
        settled=_differing(system.config, settled),
    )


def _hold_back(problem: Problem, seed: int) -> tuple[Part, Part]:
    """A random fifth of the training part, and the rest before it."""
    part = problem.train
    held = deal_folds(len(part), HELD_BACK, seed=seed, labels=problem.task.strata(part), groups=part.groups)[0]
    return part.select(np.setdiff1d(np.arange(len(part)), held)), part.select(held)


def _differing(config: Any, settled: Any) -> dict[str, Any]:
    """The options that were decided, with their values."""
    names = [option.name for option in fields(config)]
    return {name: getattr(settled, name) for name in names if getattr(settled, name) != getattr(config, name)}


def examples(model: Model, part: Part) -> Examples:
    """A part as the backbone reads it."""
    return Examples(model.backbone.prepare(part.series), part.target, part.at, weight=part.weight)
