"""What is measured along the trajectories of given series: it tells of them, and proves nothing of others."""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from denots.data.series import SeriesSet
from denots.data.transforms import UNVARIED
from denots.errors import NotCertifiable
from denots.tableaus import METHODS
from denots.tasks import Classification
from denots.theory.forgetting import half_life, influence
from denots.theory.lipschitz import jacobians
from denots.theory.logarithmic_norm import logarithmic_norm
from denots.theory.proof import certifiable
from denots.theory.trajectory import Gates, Trajectory, follow, gates, tightened
from denots.training.model import Model, run_model

MOST = 128  # series along which Jacobians are taken
FEWEST_STEPS, MOST_STEPS, A_UNIT = 64, 128, 6  # of them, and how many in a unit of the model's clock
AT_ONCE = 32
NOISE, DRAWS, REMOVALS = 0.1, 8, 512
TIGHT, MOST_SOLVER_STEPS = 1e-7, 1_000_000


@dataclass(frozen=True, eq=False)
class Measurement:
    """Of `series` series, at even shares of the elapsed time.

    growth: the logarithmic norm of the Jacobian [n, K]; below zero, any two states near by come closer.
    influence: the largest singular value of ∂h(T)/∂h(t) [n, K + 1], to a few percent on rough signals.
    lags: how long before the end that is, in units of the series' time [n, K + 1].
    noise: the largest change of an answer per standard deviation of noise in the observed values, over random draws.
    removal: the largest change of an answer when one observation between the first and the last is left out.
    tolerance: the change of an answer from the tolerance of predictions to a much tighter one, per unit of tolerance.
    steps: the largest number of steps of the solver.
    """

    path: Trajectory
    gates: Gates
    growth: Tensor
    influence: Tensor
    lags: Tensor
    noise: float
    removal: float
    removals: int
    tolerance: float
    steps: int

    @property
    def series(self) -> int:
        return len(self.growth)

    @property
    def stable_share(self) -> float:
        return float((self.growth < 0).double().mean())

    @property
    def half_lives(self) -> Tensor:
        """The memory of each series, in units of its time; infinite where its start still counts in the end."""
        back = zip(self.lags.flip(1), self.influence.flip(1), strict=True)
        return torch.tensor([half_life(lags, sizes) for lags, sizes in back], dtype=torch.float64)


def accurate(model: Model) -> Model:
    """The model in double precision, solved far more accurately than it predicts, however many steps that takes."""
    tight = tightened(model, TIGHT).eval()
    backbone = certifiable(tight)
    backbone.config = replace(backbone.config, max_steps=MOST_SOLVER_STEPS)
    return tight


def measure(model: Model, tight: Model, series: SeriesSet) -> Measurement:
    """Follow evenly chosen series, and disturb them.

    Args:
        model: as it predicts.
        tight: the same, `accurate`.
    """
    chosen = series.select(np.unique(np.linspace(0, len(series) - 1, min(len(series), MOST)).astype(np.int64)))
    backbone = certifiable(tight)
    speed = 1.0 if backbone.gain is None else float(backbone.gain)
    clock = backbone.config.depth / float(backbone.intake.time_scale)
    inputs = backbone.prepare(chosen)
    spans = inputs.path.t1 - inputs.path.t0
    steps = min(max(FEWEST_STEPS, math.ceil(A_UNIT * speed * float(spans.max()))), MOST_STEPS)
    path = follow(tight, chosen, points=2 * steps + 1)
    if not len(path.solved):
        raise NotCertifiable("none of these series could be integrated, so nothing can be measured along them.")
    each = speed * spans[path.solved] / steps
    growth, left = zip(
        *(_along(tight, path, rows, each) for rows in torch.arange(len(each)).split(AT_ONCE)), strict=True
    )
    lags = (steps - torch.arange(steps + 1)) * (each / speed / clock)[:, None]
    even = replace(path, shares=path.shares[::2], states=path.states[:, ::2], drive=path.drive[:, ::2])
    noise = _noise(model, chosen)
    removal, removals = _removal(model, chosen)
    told, calls = answers_of(model, chosen)
    exact, _ = answers_of(tight, chosen)
    solving = backbone.config.solving(False)
    stages = len(METHODS[solving["method"]].nodes) - 1
    return Measurement(
        path=even,
        gates=gates(tight, even),
        growth=torch.cat(growth),
        influence=torch.cat(left),
        lags=lags,
        noise=noise,
        removal=removal,
        removals=removals,
        tolerance=_largest(told - exact) / certifiable(model).config.solving(False)["rtol"],
        steps=math.ceil(calls / max(stages, 1)),
    )


def _along(model: Model, path: Trajectory, rows: Tensor, step: Tensor) -> tuple[Tensor, Tensor]:
    """Logarithmic norms half-way between even times, and the influence of each even time on the end."""
    field = certifiable(model).affine_field
    u, h = path.drive[rows, 1::2], path.states[rows, 1::2]
    _, found = jacobians(field, u.flatten(0, 1), h.flatten(0, 1))
    jacobian = found.reshape(*h.shape, -1)
    left = influence(jacobian, step[rows])
    return logarithmic_norm(jacobian), torch.linalg.matrix_norm(left, ord=2)


def answers_of(model: Model, series: SeriesSet) -> tuple[Tensor, int]:
    """Answers, in the unit of the target or as log-odds of pairs of classes, and the most field calls."""
    found = run_model(model, model.backbone.prepare(series))
    calls = 0 if found.evaluations is None else int(found.evaluations.max())
    outputs = found.outputs.double()
    if not isinstance(model.task, Classification):
        return model.task.answer(outputs), calls
    if outputs.shape[1] > 1:
        pairs = torch.combinations(torch.arange(outputs.shape[1]))
        outputs = outputs[:, pairs[:, 0]] - outputs[:, pairs[:, 1]]
    return outputs, calls


def _largest(change: Tensor) -> float:
    """Over series that have an answer."""
    return float(change.abs().nan_to_num(0.0).max())


def _noise(model: Model, series: SeriesSet) -> float:
    """Random signs of a tenth of a standard deviation, on every observed value of a channel that varied in training."""
    scale = certifiable(model).intake.scale[: series.values.shape[1]].numpy()
    spread = np.where(scale < UNVARIED, scale, 0.0)
    told, _ = answers_of(model, series)
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(DRAWS):
        push = NOISE * spread * rng.choice([-1.0, 1.0], size=series.values.shape)
        moved, _ = answers_of(model, replace(series, values=(series.values + push).astype(series.values.dtype)))
        worst = max(worst, _largest(moved - told) / NOISE)
    return worst


def _removal(model: Model, series: SeriesSet) -> tuple[float, int]:
    """One row less, between the first and the last of each series; none is tried of series that have no such row."""
    long = series.select(np.flatnonzero(series.lengths > 2)) if (series.lengths > 2).any() else None
    if long is None:
        return 0.0, 0
    rng, worst, rounds = np.random.default_rng(0), 0.0, max(1, REMOVALS // len(long))
    told, _ = answers_of(model, long)
    offsets = np.concatenate([[0], np.cumsum(long.lengths - 1)])
    for _ in range(rounds):
        inner = long.offsets[:-1] + 1 + (rng.random(len(long)) * (long.lengths - 2)).astype(np.int64)
        times, values = (np.delete(table, inner, axis=0) for table in (long.times, long.values))
        moved, _ = answers_of(model, replace(long, times=times, values=values, offsets=offsets))
        worst = max(worst, _largest(moved - told))
    return worst, rounds * len(long)
