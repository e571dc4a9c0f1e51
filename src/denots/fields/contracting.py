"""A gated field whose weights are held so small that trajectories cannot part: contraction by construction.

Row by row, the weights of each gate are scaled down until what they can do at worst is less than what the feedback takes away.
Row i of the Jacobian of h' = (1 - z) n - d h, in the maximum norm, grows at most by

    -d + (1 - z) (A + B),   A = Σ|W_n| + |v| Σ|W_r| / 4,   |v| ≤ c Σ|W_n| + |b_n|,   B = (1 + c) z Σ|W_z|,

on the box |h| ≤ c. Synchronous, d = 1 - z and c = 1: it is negative for any signal where A + B < 1, and no smaller than
a rate where z / (1 - z) ≤ SLOWEST. Anti-phase, d = z: it is least favourable where z is least, z / (1 - z) = e^p, so
A + B < e^p is needed there, and the box is kept where e^-p ≤ c = SLOWEST. The signal moves z; so the rate holds for
signals within `reach`, in each channel.
"""

import math

import torch
from torch import Tensor

from denots.errors import InvalidOption
from denots.fields.field import AffineInputField, Kernel, VectorField
from denots.fields.gru import AntiFeedbackGRU, GRUField, SyncFeedbackGRU

SLOWEST = 8.0  # the feedback is never weaker than 1 / (1 + SLOWEST)
LARGEST: dict[type[VectorField], float] = {AntiFeedbackGRU: SLOWEST, SyncFeedbackGRU: 1.0}  # c, of the state
MARGIN = 0.1  # of the feedback, that is never used up
FOR_SIGNAL, FOR_CANDIDATE = 0.5, 0.8  # shares of a budget; the other gate has the rest
OF_UPDATE = 0.25  # the largest B


class ContractingGRU(GRUField):
    """A synchronous or anti-phase field seen through limits on its weights, which stay its own to be learnt.

    Args:
        reach: how far from zero each channel of the signal may go.
    """

    def __init__(self, field: VectorField, reach: Tensor) -> None:
        AffineInputField.__init__(self)
        if not isinstance(field, GRUField) or type(field) not in LARGEST:
            raise InvalidOption(
                f"stability 'certified' needs negative feedback, and {type(field).__name__} has none; take field 'anti' or 'sync'."
            )
        self.input_size, self.state_size, self.kind = field.input_size, field.state_size, type(field)
        limit = _anti if self.kind is AntiFeedbackGRU else _sync
        for name, weight in limit(field, reach.to(field.weight_ih.dtype)).items():
            setattr(self, name, weight)

    def slope(self, u: Tensor, h: Tensor) -> Tensor:
        return self.kind.slope(self, u, h)

    def kernel(self) -> Kernel:
        return self._kernel("gru-anti" if self.kind is AntiFeedbackGRU else "gru-sync")


def held(h: Tensor, kind: type[VectorField]) -> Tensor:
    """A first state, moved into the box that a contracting field of a kind keeps."""
    return LARGEST[kind] * torch.tanh(h / LARGEST[kind])


def _shrunk(rows: Tensor, limit: Tensor | float, size: Tensor | None = None) -> Tensor:
    """Rows scaled down to a sum of sizes (default: of their entries) of at most a limit."""
    size = rows.abs().sum(dim=1) if size is None else size
    return rows * (limit / size.clamp_min(1e-12)).clamp_max(1)[:, None]


def _candidate(reset: Tensor, candidate: Tensor, bias: Tensor, budget: Tensor, largest: float) -> tuple[Tensor, Tensor]:
    """W_r and W_n, such that A is at most the budget of each row."""
    candidate = _shrunk(candidate, FOR_CANDIDATE * budget)
    own = candidate.abs().sum(dim=1)
    return _shrunk(reset, 4 * (budget - own) / (largest * own + bias.abs()).clamp_min(1e-12)), candidate


def _sync(field: GRUField, reach: Tensor) -> dict[str, Tensor]:
    """The gate is kept from closing; B ≤ OF_UPDATE with |n - h| ≤ 2, and A takes the rest up to the margin."""
    in_reset, in_update, in_candidate = field.weight_ih.chunk(3)
    reset, update, candidate = field.weight_hh.chunk(3)
    of_reset, of_update, bias = field.bias_hh.chunk(3)
    centre = field.bias_ih.chunk(3)[1] + of_update
    drop = (centre - math.log(SLOWEST) + MARGIN).clamp_min(0)
    budget = (1 - MARGIN) * (math.log(SLOWEST) - centre + drop)
    in_update = _shrunk(in_update, FOR_SIGNAL * budget, in_update.abs() @ reach)
    left = budget - in_update.abs() @ reach
    update = _shrunk(update, left.clamp_max(OF_UPDATE / 2))
    rest = torch.full_like(bias, 1 - OF_UPDATE - MARGIN)
    reset, candidate = _candidate(reset, candidate, bias, rest, LARGEST[SyncFeedbackGRU])
    return {
        "weight_ih": torch.cat([in_reset, in_update, in_candidate]),
        "bias_ih": field.bias_ih,
        "weight_hh": torch.cat([reset, update, candidate]),
        "bias_hh": torch.cat([of_reset, of_update - drop, bias]),
    }


def _anti(field: GRUField, reach: Tensor) -> dict[str, Tensor]:
    """First what the update gate may move by, so that e^-p ≤ c; then A by what is left of e^p."""
    largest = SLOWEST
    in_reset, in_update, in_candidate = field.weight_ih.chunk(3)
    reset, update, candidate = field.weight_hh.chunk(3)
    of_reset, of_update, bias = field.bias_hh.chunk(3)
    centre = field.bias_ih.chunk(3)[1] + of_update
    lift = (MARGIN - math.log(largest) - centre).clamp_min(0)
    budget = (1 - MARGIN) * (centre + lift + math.log(largest))
    in_update = _shrunk(in_update, FOR_SIGNAL * budget, in_update.abs() @ reach)
    left = budget - in_update.abs() @ reach
    update = _shrunk(update, torch.minimum(left / largest, torch.full_like(left, OF_UPDATE / (1 + largest))))
    own = update.abs().sum(dim=1)
    p = centre + lift - in_update.abs() @ reach - largest * own
    room = p.exp() - (1 + largest) * own * torch.sigmoid(p)
    reset, candidate = _candidate(reset, candidate, bias, (1 - MARGIN) * room, largest)
    return {
        "weight_ih": torch.cat([in_reset, in_update, in_candidate]),
        "bias_ih": field.bias_ih,
        "weight_hh": torch.cat([reset, update, candidate]),
        "bias_hh": torch.cat([of_reset, of_update + lift, bias]),
    }
