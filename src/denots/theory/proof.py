"""What can be proved of a trained model: from its weights and the ranges of its inputs, without a single trajectory."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from denots.backbones.denots import DeNOTS
from denots.data.series import SeriesSet
from denots.errors import NotCertifiable
from denots.fields.contracting import LARGEST
from denots.paths.extremes import extremes
from denots.tasks import Classification, Regression
from denots.theory.box import Box, reachable_box
from denots.theory.comparison import (
    Comparison,
    Contraction,
    compare,
    contraction,
    growth_over,
    push_of_inputs,
)
from denots.theory.gru_cell import Cell, any_drive, cell_of, drive_box
from denots.theory.interval import Interval
from denots.training.model import Model


@dataclass(frozen=True, eq=False)
class Proof:
    """Bounds on a model's own clock, which runs `clock` times as fast as that of the series.

    mirrored: whether the field is the anti-phase one.
    inputs: the ranges of the channels as the model reads them, or None where any signal is allowed.
    start: where states may begin.
    weights: [Q, H], sizes of what a component of the state can do to each answer.
    noisy: 1 for channels that noise in observed values reaches.
    horizon: the longest series.
    """

    mirrored: bool
    inputs: Interval | None
    start: Interval
    box: Box
    system: Comparison
    contraction: Contraction
    weights: Tensor
    noisy: Tensor
    horizon: float
    clock: float

    @property
    def rate(self) -> float:
        """At which trajectories part at most, per unit of the model's clock; negative where they approach."""
        return self.contraction.rate

    def change(self, noise: Tensor | None = None, time: float | None = None) -> float:
        """The largest change of an answer if each channel of the signal is off by at most these sizes, up to a time.

        Default: by one standard deviation in the values and their slopes, over the longest series.
        """
        noise = self.noisy if noise is None else noise
        push = push_of_inputs(self.system, self.contraction, noise)
        moved = push * growth_over(self.rate, self.horizon if time is None else time)
        return float((self.weights @ self.contraction.scale).max()) * moved

    @property
    def largest_change(self) -> float:
        """Of an answer between any two states of the box."""
        return float((self.weights @ (self.box.state.high - self.box.state.low)).max())

    def change_by_steps(self, steps: float) -> float:
        """Per unit of tolerance, if each of so many steps is off by at most the tolerance times (1 + |h|)."""
        each = float(((1 + self.box.state.magnitude) / self.contraction.scale).max())
        grown = math.exp(min(max(self.rate * self.horizon, 0.0), 700.0))
        return float((self.weights @ self.contraction.scale).max()) * steps * grown * each

    @property
    def half_life(self) -> float:
        """ln 2 / λ in units of the series' time; infinite where no contraction is proved."""
        return math.log(2) / (-self.rate * self.clock) if self.rate < 0 else math.inf


def prove(model: Model, series: SeriesSet | None) -> Proof:
    """Bounds for every signal in the range of these series; without them, for any signal, or for that of training.

    Args:
        model: in double precision.
    """
    backbone = certifiable(model)
    cell = cell_of(backbone.affine_field)
    speed = 1.0 if backbone.gain is None else float(backbone.gain)
    if speed <= 0:
        raise NotCertifiable(f"the learnt gain is {speed:g}: time runs backwards and feedback pushes away. Fit again.")
    if series is None:
        inputs, drive, start, weight = _unseen(backbone, cell)
        horizon = backbone.config.depth * speed
    else:
        inputs, drive, start, weight, longest = _seen(backbone, series)
        horizon = longest * speed
    box = reachable_box(cell, drive, start, horizon)
    system = compare(cell, drive, box.state, weight)
    return Proof(
        cell.mirrored,
        inputs,
        start,
        box,
        system,
        contraction(system),
        answer_weights(model),
        noisy_channels(backbone, weight.shape[1]),
        horizon,
        backbone.config.depth / float(backbone.intake.time_scale) * speed,
    )


def certifiable(model: Model) -> DeNOTS:
    """The backbone of a model of which something can be proved."""
    backbone = model.backbone
    if not isinstance(backbone, DeNOTS):
        raise NotCertifiable(
            f"{type(backbone).__name__} is no differential equation with negative feedback; fit system 'denots' to have a certificate."
        )
    if model.task.asks_times:
        raise NotCertifiable("a forecast has an answer for each time; certificates are made for one answer a series.")
    cell_of(backbone.affine_field)
    return backbone


def _seen(backbone: DeNOTS, series: SeriesSet) -> tuple[Interval, Interval, Interval, Tensor, float]:
    given = backbone.prepare(series)
    seen = backbone.drive(given)
    low, high = extremes(given.path)
    inputs = Interval(low.amin(dim=0).double(), high.amax(dim=0).double())
    bias = Interval(seen.bias.amin(dim=0).detach().double(), seen.bias.amax(dim=0).detach().double())
    weight = seen.weight.detach().double()
    first = backbone.first_state(given).detach().double()
    start = Interval(first.amin(dim=0), first.amax(dim=0))
    return inputs, drive_box(weight, bias, inputs), start, weight, float((given.path.t1 - given.path.t0).max())


def _unseen(backbone: DeNOTS, cell: Cell) -> tuple[Interval | None, Interval, Interval, Tensor]:
    field = backbone.affine_field
    weight = field.weight_ih.detach().double()
    none = torch.zeros(cell.size, dtype=torch.float64)
    if backbone.certified:
        inputs = Interval.symmetric(backbone.reach.double())
        drive = drive_box(weight, Interval.point(field.bias_ih.detach().double()), inputs)
        begins = backbone.from_first is not None or backbone.from_static is not None
        start = Interval.symmetric(none + (LARGEST[type(backbone.field)] if begins else 0.0))
        return inputs, drive, start, weight
    if backbone.from_first is not None or backbone.from_static is not None:
        raise NotCertifiable("where states begin depends on the series; give a table with them.")
    return None, any_drive(cell), Interval.point(none), weight


def answer_weights(model: Model) -> Tensor:
    """[Q, H]: how much a component of the state weighs in each answer; of classes, in the log-odds of each pair."""
    head, task = model.head, model.task
    if not isinstance(head, nn.Linear) or not isinstance(task, Classification | Regression):
        raise NotCertifiable(f"task {task.name!r} reads the state by more than a linear map, so no bound is known.")
    weight = head.weight.detach().double()
    if isinstance(task, Regression):
        weight = weight * torch.tensor(task.scale.factor, dtype=torch.float64)[:, None]
    elif len(weight) > 1:
        pairs = torch.combinations(torch.arange(len(weight)))
        weight = weight[pairs[:, 0]] - weight[pairs[:, 1]]
    return weight.abs().reshape(len(weight), -1, model.backbone.state_size).sum(dim=1)


def noisy_channels(backbone: DeNOTS, channels: int) -> Tensor:
    """1 for each channel that noise in observed values reaches, which are the values and their slopes; else 0."""
    noisy = torch.zeros(channels, dtype=torch.float64)
    noisy[: backbone.intake.observed] = 1
    if backbone.config.slopes:
        noisy[-backbone.intake.observed :] = 1
    return noisy
