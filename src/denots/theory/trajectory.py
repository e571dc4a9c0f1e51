"""What a trained neural ODE does between the first and the last observation."""

from copy import deepcopy
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.func import jacrev, vmap

from denots.backbones import DeNOTS
from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.fields.gru import GRUField
from denots.training.model import Model

POINTS = 21
ROUNDING = 1e-12  # of a span


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States, and the drive that the field sees there, at equal shares of the elapsed time."""

    shares: Float[Tensor, " K"]
    states: Float[Tensor, "n K H"]
    drive: Float[Tensor, "n K G"]
    solved: Int[Tensor, " n"]  # places of the series among those that were asked for

    @property
    def norms(self) -> Float[Tensor, "n K"]:
        return self.states.norm(dim=2)


@torch.no_grad()
def follow(model: Model, series: SeriesSet, points: int = POINTS) -> Trajectory:
    """Trajectories of those series that could be solved."""
    backbone = driven(model)
    model.eval()
    inputs = backbone.prepare(series)
    shares = torch.linspace(0, 1, points, dtype=torch.float64)
    start, end = torch.from_numpy(series.start), torch.from_numpy(series.ends)
    begin = start if backbone.config.initial == "zero" else torch.from_numpy(series.times[series.offsets[:-1]])
    late = 0.0 if backbone.config.initial == "zero" else ROUNDING  # a first query may be rounded to before the start
    encoded = backbone(inputs, begin[:, None] + shares.clamp_min(late) * (end - begin)[:, None])
    seen, rows = backbone.drive(inputs), torch.arange(len(series))
    clock = inputs.path.t0[:, None] + shares * (inputs.path.t1 - inputs.path.t0)[:, None]
    drive = torch.stack([seen(inputs.path.value(t), rows) for t in clock.T], dim=1)
    return Trajectory(shares, encoded.states[encoded.ok], drive[encoded.ok], encoded.ok.nonzero().flatten())


def driven(model: Model) -> DeNOTS:
    if not isinstance(model.backbone, DeNOTS):
        raise InvalidOption(f"{type(model.backbone).__name__} has no trajectory; only driven ODEs have one.")
    return model.backbone


def tightened(model: Model, tolerance: float = 1e-8) -> Model:
    """The same model in float64, solved to a tolerance that float32 could not reach."""
    tight = deepcopy(model).double()
    driven(tight).config = replace(driven(model).config, tolerance=tolerance)
    return tight


@dataclass(frozen=True, eq=False)
class Gates:
    """Of a GRU field along trajectories: its gate, and how its candidate answers to the state."""

    update: Float[Tensor, "n K"]  # a, the mean of 1 - z
    decay: Float[Tensor, "n K"]  # b, the mean of z
    along: Float[Tensor, "n K"]  # |J h| / |h|, with J the Jacobian of the candidate; NaN where h = 0
    worst: Float[Tensor, "n K"]  # the largest singular value of J


def gates(model: Model, path: Trajectory) -> Gates:
    """Evaluate the gates of a GRU field; what the anti-phase field sees is the mirrored state."""
    field = driven(model).affine_field
    if not isinstance(field, GRUField):
        raise InvalidOption(f"{type(field).__name__} has no gates.")
    shown = -path.states if driven(model).config.field == "anti" else path.states
    u, h = path.drive.flatten(0, 1), shown.flatten(0, 1)

    def candidate(u: Tensor, h: Tensor) -> Tensor:
        return field.gates(u[None], h[None])[1][0]

    with torch.no_grad():
        z = field.gates(u, h)[0].mean(dim=1)
        jacobian = vmap(jacrev(candidate, argnums=1))(u, h)
        along = (jacobian @ h[:, :, None]).squeeze(2).norm(dim=1) / h.norm(dim=1)
        worst = torch.linalg.matrix_norm(jacobian, ord=2)
    shape = path.norms.shape
    return Gates((1 - z).reshape(shape), z.reshape(shape), along.reshape(shape), worst.reshape(shape))


def contraction(model: Model, path: Trajectory) -> Float[Tensor, "n K"]:
    """The logarithmic norm of the field's Jacobian: below zero, any two states come closer."""
    field = driven(model).affine_field
    u, h = path.drive.flatten(0, 1), path.states.flatten(0, 1)
    with torch.no_grad():
        jacobian = vmap(jacrev(lambda u, h: field.slope(u[None], h[None])[0], argnums=1))(u, h)
        growth = torch.linalg.eigvalsh((jacobian + jacobian.mT) / 2)[:, -1]
    return growth.reshape(path.norms.shape)
