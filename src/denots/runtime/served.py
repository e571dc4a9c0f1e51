"""Which systems are served without torch, how each is made of its stored state, and why the others are not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np

from denots.data.series import SeriesSet
from denots.errors import NotServed
from denots.inference import denots
from denots.inference.answers import ClassAnswers, RowAnswers, TaskAnswers
from denots.inference.blend import average, blend
from denots.inference.convolutions import ConvolutionShares
from denots.inference.cut import CutAnswers
from denots.inference.denots_config import DeNOTSConfig
from denots.inference.discriminant import Discriminant
from denots.inference.forest import Forest, ForestAnswers
from denots.inference.intervals import IntervalQuantiles
from denots.inference.linear_model import LinearAnswers
from denots.inference.network import Encoder, Network, weights_of
from denots.inference.oscillators import OscillatorShares
from denots.inference.ranked_summary import RankedSummary, Ranks
from denots.inference.running_denots import RunningDeNOTS
from denots.inference.running_denots_config import RunningDeNOTSConfig
from denots.inference.running_gru import RunningGRU
from denots.inference.running_trees import RunningTreeAnswers
from denots.inference.solve import unsolved
from denots.inference.state import Shape, State, split_state
from denots.inference.told import Model, Told
from denots.inference.trees import TreeAnswers, read_forests
from denots.shapes import FloatArray

Config = TypeVar("Config", DeNOTSConfig, RunningDeNOTSConfig)


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """A system as a model folder has it: its options, the task that it answers and what it learnt."""

    options: Mapping[str, Any]
    task: TaskAnswers
    shape: Shape
    state: State

    @property
    def asks_times(self) -> bool:
        return isinstance(self.task, RowAnswers)

    @property
    def classes(self) -> int:
        """How many there are; none where numbers are told."""
        of = self.task.of if isinstance(self.task, RowAnswers) else self.task
        return len(of.labels) if isinstance(of, ClassAnswers) else 0


@dataclass(frozen=True, slots=True, eq=False)
class _Blend:
    base: FloatArray
    weights: FloatArray
    members: tuple[Model, ...]

    def outputs(self, series: SeriesSet, at: FloatArray | None = None) -> Told:
        told = [member.outputs(series, at) for member in self.members]
        return blend((len(series),) if at is None else at.shape, self.base, self.weights, told)


@dataclass(frozen=True, slots=True, eq=False)
class _Bag:
    members: tuple[Model, ...]

    def outputs(self, series: SeriesSet, at: FloatArray | None = None) -> Told:
        return average([member.outputs(series, at) for member in self.members])


def _denots(stored: Stored) -> Model:
    options = _options(DeNOTSConfig, stored)
    _refuse(denots.unserved(options))
    return _network(denots.DeNOTS.restore(options, stored.shape.channels, _backbone(stored)), stored)


def _running_denots(stored: Stored) -> Model:
    options = _options(RunningDeNOTSConfig, stored)
    _refuse(unsolved(options, options.field, options.state_size))
    return _network(RunningDeNOTS.restore(options, stored.shape.channels, _backbone(stored)), stored)


def _running_gru(stored: Stored) -> Model:
    return _network(RunningGRU.restore(stored.shape.channels, _backbone(stored)), stored)


def _options(kind: type[Config], stored: Stored) -> Config:
    """What a backbone was told, and what was decided by the data."""
    known = {option.name for option in fields(kind)}
    options = kind(**{name: value for name, value in stored.options.items() if name in known})
    return replace(options, **stored.state.values)


def _refuse(reason: str | None) -> None:
    if reason:
        raise NotServed(f"the model needs torch: {reason}. Load it with denots.load.")


def _backbone(stored: Stored) -> dict[str, Any]:
    return weights_of(stored.state.arrays, "backbone")


def _network(encoder: Encoder, stored: Stored) -> Network:
    head = weights_of(stored.state.arrays, "head")
    return Network(encoder, head["weight"], head["bias"], stored.asks_times)


def _linear(features: Callable[[dict[str, Any]], Any]) -> Callable[[Stored], Model]:
    def restore(stored: Stored) -> Model:
        arrays = stored.state.arrays
        weight, bias, shift = (arrays[name] for name in ("weight", "bias", "shift"))
        if weight.ndim != 2 or len(weight) != stored.task.outputs or bias.shape != shift.shape:
            raise ValueError(f"a ridge needs {stored.task.outputs} rows of weights")
        static = Ranks.restore(weights_of(arrays, "static")) if stored.shape.static else None
        found = features(weights_of(arrays, "features"))
        return LinearAnswers(found, static, weight, bias, float(stored.state.values["factor"]), shift)

    return restore


def _trees(stored: Stored) -> Model:
    return TreeAnswers(read_forests(stored.state.values["forests"], 1 if stored.classes else stored.task.outputs))


def _forest(stored: Stored) -> Model:
    arrays = stored.state.arrays
    forest = Forest.restore(arrays, stored.classes or stored.task.outputs)
    return ForestAnswers(IntervalQuantiles.restore(arrays), forest, stored.classes)


def _discriminant(stored: Stored) -> Model:
    return Discriminant.restore(stored.state.values, stored.state.arrays, stored.task.outputs)


def _running_trees(stored: Stored) -> Model:
    return RunningTreeAnswers.restore(stored.state)


def _cut(inner: Callable[[Stored], Model]) -> Callable[[Stored], Model]:
    def restore(stored: Stored) -> Model:
        values, arrays = stored.state
        if not isinstance(stored.task, RowAnswers):
            raise ValueError("a model of cut series tells something of rows")
        base = np.array(values["base"], dtype=np.float64)
        if base.shape != (stored.task.outputs,):
            raise ValueError("a model of cut series needs a number for each output")
        known = Stored(stored.options, stored.task.of, stored.shape, State(values["model"], arrays))
        return CutAnswers(inner(known), base)

    return restore


def _blended(stored: Stored) -> Model:
    arrays = dict(stored.state.arrays)
    base = arrays.pop("base")
    parts = split_state(State(stored.state.values["members"], arrays))
    weights = {str(name): float(weight) for name, weight in stored.state.values["weights"]}
    if set(weights) != set(parts) or base.shape != (stored.task.outputs,):
        raise ValueError("a blend needs a weight for each member and a base for each output")
    members = tuple(_member(name, Stored({}, stored.task, stored.shape, parts[name])) for name in weights)
    return _Blend(base, np.array(list(weights.values())), members)


def _member(name: str, stored: Stored) -> Model:
    if name not in _BAGGED:
        return SERVED[name](stored)
    parts = split_state(stored.state).values()
    return _Bag(tuple(SERVED[name](Stored(MEMBERS.get(name, {}), stored.task, stored.shape, part)) for part in parts))


SERVED: dict[str, Callable[[Stored], Model]] = {
    "denots": _denots,
    "sync": _denots,
    "none": _denots,
    "tanh": _denots,
    "relu": _denots,
    "gru-ode": _denots,
    "summary": _linear(RankedSummary.restore),
    "summary-logistic": _linear(RankedSummary.restore),
    "oscillators": _linear(OscillatorShares.restore),
    "timed-oscillators": _linear(OscillatorShares.restore),
    "convolutions": _linear(ConvolutionShares.restore),
    "discriminant": _discriminant,
    "trees": _trees,
    "forest": _forest,
    "fast": _blended,
    "auto": _blended,
    "running-trees": _running_trees,
    "running-gru": _running_gru,
    "running-denots": _running_denots,
    "running-auto": _blended,
    "cut-denots": _cut(_denots),
}
# Members of a blend that are fitted once a fold.
_BAGGED = {"trees", "forest", "denots", "running-trees", "running-gru", "running-denots"}
MEMBERS: dict[str, dict[str, Any]] = {"denots": {"field": "anti", "initial": "first"}}  # options of members of a blend

_TORCH = "its states are computed by torch"
UNSERVED = {
    "neural-cde": _TORCH,
    "neural-rde": _TORCH,
    "latent-ode": _TORCH,
    "rnn": _TORCH,
    "gru": _TORCH,
    "tempformer": _TORCH,
    "roformer": _TORCH,
    "mamba2": _TORCH,
    "constant": _TORCH,
    "last-value": _TORCH,
    "fields": "its features are computed by torch",
    "forecast": "forecasts are not served yet",
    "hold": "forecasts are not served yet",
    "recent-mean": "forecasts are not served yet",
    "running-mean": "forecasts are not served yet",
    "damped-trend": "forecasts are not served yet",
}
