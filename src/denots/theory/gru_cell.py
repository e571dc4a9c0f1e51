"""A GRU slope with negative feedback, taken apart: its weights gate by gate, in double precision."""

from dataclasses import dataclass

import torch
from torch import Tensor

from denots.errors import NotCertifiable
from denots.fields import AntiFeedbackGRU, SyncFeedbackGRU
from denots.fields.field import AffineInputField
from denots.fields.gru import GRUField
from denots.theory.interval import Interval, affine


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """`h' = (1 - z) n - d h` with `z = sigmoid(u_z + W_z s)`, `n = tanh(u_n + r v)`, `v = W_n s + b`,
    `r = sigmoid(u_r + W_r s)`.

    mirrored: the anti-phase field, where the gates see s = -h and d = z; else s = h and d = 1 - z.
    reset, update, candidate: W_r, W_z, W_n. Biases of the state are part of the drive u, but for b.
    """

    mirrored: bool
    reset: Tensor
    update: Tensor
    candidate: Tensor
    bias: Tensor  # b
    shift: Tensor  # what the biases of the state add to the drive, [3H]

    @property
    def size(self) -> int:
        return len(self.bias)

    @property
    def sign(self) -> float:
        return -1.0 if self.mirrored else 1.0

    def shown(self, state: Interval) -> Interval:
        return -state if self.mirrored else state


def cell_of(field: AffineInputField) -> Cell:
    """The cell of a synchronous or anti-phase field; any other is refused with the reason."""
    kind = getattr(field, "kind", type(field))
    if kind not in (AntiFeedbackGRU, SyncFeedbackGRU) or not isinstance(field, GRUField):
        raise NotCertifiable(
            f"{kind.__name__} has no negative feedback: nothing pulls its state back, so no box holds it and no rate of "
            "contraction exists. Fit with field 'anti' or 'sync'."
        )
    reset, update, candidate = field.weight_hh.detach().double().chunk(3)
    of_reset, of_update, bias = field.bias_hh.detach().double().chunk(3)
    shift = torch.cat([of_reset, of_update, torch.zeros_like(bias)])
    return Cell(kind is AntiFeedbackGRU, reset, update, candidate, bias, shift)


def drive_box(weight: Tensor, bias: Interval, inputs: Interval) -> Interval:
    """The drive u = W x + b of every signal in a box, for every bias of a range."""
    box = affine(weight.double(), inputs, torch.zeros(len(weight), dtype=torch.float64))
    return box + bias


def any_drive(cell: Cell) -> Interval:
    """The drive of any signal whatever."""
    return Interval.symmetric(torch.full((3 * cell.size,), torch.inf, dtype=torch.float64))


@dataclass(frozen=True, slots=True, eq=False)
class Gates:
    """Between what the parts of a cell lie, component by component."""

    r: Interval
    z: Interval
    n: Interval
    v: Interval


def gates_on(cell: Cell, drive: Interval, state: Interval, own: Interval | None = None) -> Gates:
    """The gates for every drive and state of two boxes.

    own: a range for component i where row i is concerned, such as a face of the box; default: that of the box.
    """
    shown = cell.shown(state)
    mine = shown if own is None else cell.shown(own)

    def seen(weight: Tensor, bias: Tensor) -> Interval:
        diagonal = weight.diagonal()
        others = affine(weight - torch.diag(diagonal), shown, bias)
        return others + Interval.point(diagonal) * mine

    u = drive + Interval.point(cell.shift)
    u_r, u_z, u_n = (u[k * cell.size : (k + 1) * cell.size] for k in range(3))
    none = torch.zeros_like(cell.bias)
    r = (u_r + seen(cell.reset, none)).rising(torch.sigmoid)
    z = (u_z + seen(cell.update, none)).rising(torch.sigmoid)
    v = seen(cell.candidate, cell.bias)
    return Gates(r, z, (u_n + r * v).rising(torch.tanh), v)
