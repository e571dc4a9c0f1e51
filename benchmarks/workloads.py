"""What is solved: data, weights, depth and tolerance, the same for every contender."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from denots.data import SeriesSet
from denots.data.transforms import Standardiser, append_time_differences, scale_clock
from denots.datasets import load
from denots.fields import AntiFeedbackGRU, ControlledField, VectorField
from denots.paths import NaturalCubic, Path
from denots.shapes import FloatArray

KINDS: dict[str, type[VectorField]] = {"anti": AntiFeedbackGRU, "controlled": ControlledField}


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """One batch to solve from zero states, and the gradient of `(states * cotangent).sum()` to the weights.

    The series are standardised, and their clock runs in units of the median span. The field is
    the GRU with anti-phase feedback ("anti"; `weights` as in `torch.nn.GRUCell`), or the
    "controlled" one, which reads the derivative of the path.
    """

    name: str
    title: str
    series: SeriesSet
    depth: float
    tolerance: float
    weights: dict[str, Tensor]
    cotangent: Tensor
    kind: str = "anti"

    @property
    def states(self) -> int:
        return self.cotangent.shape[1]

    @property
    def channels(self) -> int:
        return len(self.series.channels)

    @property
    def flops(self) -> int:
        """Of one evaluation of one series: the products with both weight matrices, and nothing else."""
        return 2 * sum(weight.numel() for weight in self.weights.values() if weight.ndim == 2)

    def path(self, dtype: torch.dtype = torch.float32) -> Path:
        """The splines, on the stretched clock."""
        return NaturalCubic.fit(self.series, dtype).scale_time(self.depth)

    def field(self, dtype: torch.dtype = torch.float32) -> VectorField:
        field = KINDS[self.kind](self.channels, self.states)
        field.load_state_dict(self.weights)
        return field.to(dtype)

    def first(self, n: int) -> "Workload":
        """The same work for the first n series only."""
        return replace(self, series=self.series.select(np.arange(n)), cotangent=self.cotangent[:n])


def build(
    name: str,
    title: str,
    series: SeriesSet,
    *,
    depth: float,
    tolerance: float = 1e-3,
    states: int = 32,
    time_differences: bool = True,
    kind: str = "anti",
) -> Workload:
    """Standardise the series, draw weights as torch does, and a cotangent."""
    clocked = scale_clock(series, 1 / float(np.median(series.spans)))
    if time_differences:
        clocked = append_time_differences(clocked)
    values = clocked.values.astype(np.float64)
    clocked = replace(clocked, values=Standardiser.fit(values).apply(values).astype(np.float32))
    generator = torch.Generator().manual_seed(1)
    bound = states**-0.5
    shapes = {key: weight.shape for key, weight in KINDS[kind](len(clocked.channels), states).named_parameters()}
    weights = {key: torch.empty(shape).uniform_(-bound, bound, generator=generator) for key, shape in shapes.items()}
    cotangent = torch.randn(len(series), states, generator=generator) / len(series)
    return Workload(name, title, clocked, depth, tolerance, weights, cotangent, kind)


def pendulum(n: int = 128) -> SeriesSet:
    return load("pendulum", size=(n, 1, 1)).splits.train


def rough(n: int = 32, points: int = 5000) -> SeriesSet:
    """Random walks seen at random times, a third of the values missing."""
    rng = np.random.default_rng(2)
    times = [np.cumsum(rng.exponential(1 / points, points)) for _ in range(n)]
    return _with_holes(times, [rng.normal(size=(points, 2)).cumsum(axis=0) for _ in range(n)], rng, share=0.33)


def wide(n: int = 128, channels: int = 69) -> SeriesSet:
    """Smooth waves in many channels; with the time differences there are 70."""
    rng = np.random.default_rng(3)
    times = [np.sort(rng.uniform(0, 1, rng.integers(60, 140))) for _ in range(n)]
    values = []
    for t in times:
        speed, phase = rng.uniform(5, 30, channels), rng.uniform(0, 2 * np.pi, channels)
        values.append(np.sin(t[:, None] * speed + phase))
    return _with_holes(times, values, rng, share=0.5)


def smooth(n: int = 16, points: int = 40) -> SeriesSet:
    """Slow waves on an uneven grid, so smooth that a tolerance bounds the error: here all must agree."""
    rng = np.random.default_rng(4)
    times = [np.cumsum(rng.uniform(0.8, 1.2, points)) / points for _ in range(n)]
    values = [np.sin(t[:, None] * rng.uniform(2, 6, 3) + rng.uniform(0, 6, 3)) for t in times]
    return _with_holes(times, values, rng, share=0.1)


def gridded(n: int = 64, points: int = 100, fastest: float = 12.0) -> SeriesSet:
    """Time and slow waves, all series on one grid and seen at both of its ends, as torchcde wants them."""
    rng = np.random.default_rng(6)
    t = np.concatenate([[0.0], np.cumsum(rng.uniform(0.5, 1.5, points - 1))]) / points
    waves = [np.sin(t[:, None] * rng.uniform(fastest / 6, fastest, 2) + rng.uniform(0, 6, 2)) for _ in range(n)]
    for table in waves:
        table[1:-1][rng.uniform(size=(points - 2, 2)) < 0.3] = np.nan
    return SeriesSet.from_arrays([t] * n, [np.column_stack([t, table]) for table in waves], start=0.0)


def _with_holes(times: list[FloatArray], values: list[FloatArray], rng: np.random.Generator, share: float) -> SeriesSet:
    for table in values:
        hidden = rng.uniform(size=table.shape) < share
        hidden[0] = False
        table[hidden] = np.nan
    return SeriesSet.from_arrays(times, values, start=0.0)


def _pendulum(name: str, title: str, **options: float) -> Callable[[], Workload]:
    states = int(options.pop("states", 32))
    return lambda: build(name, title, pendulum(), states=states, **options)


WORKLOADS: dict[str, Callable[[], Workload]] = {
    "pendulum-1": _pendulum("pendulum-1", "Pendulum, depth 1", depth=1),
    "pendulum-10": _pendulum("pendulum-10", "Pendulum, depth 10", depth=10),
    "pendulum-30": _pendulum("pendulum-30", "Pendulum, depth 30", depth=30),
    "rough": lambda: build("rough", "Long and rough series, 5,000 points", rough(), depth=10),
    "wide": lambda: build("wide", "Wide series, 70 channels", wide(), depth=10),
    "states-64": _pendulum("states-64", "64 states", depth=10, states=64),
    "states-128": _pendulum("states-128", "128 states", depth=10, states=128),
    "controlled": lambda: build(
        "controlled", "Controlled field, one grid", gridded(), depth=1, time_differences=False, kind="controlled"
    ),
    "tight": _pendulum("tight", "Tight tolerance, 1e-6", depth=10, tolerance=1e-6),
}


def agreement(kind: str = "anti") -> Workload:
    """What every contender must solve alike before any is timed."""
    series, depth = (gridded(16, 40), 1) if kind == "controlled" else (smooth(), 3)
    return build("agreement", "Smooth series", series, depth=depth, tolerance=1e-4, time_differences=False, kind=kind)


QUICK = ("pendulum-1", "pendulum-10")
