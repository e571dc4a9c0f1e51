"""Random gated fields, and points of boxes, for tests of bounds."""

from typing import NamedTuple

import torch
from torch import Tensor

from denots.fields import FIELDS
from denots.fields.gru import GRUField
from denots.theory.gru_cell import Cell, cell_of, drive_box
from denots.theory.interval import Interval

KINDS = ("anti", "sync")


class Case(NamedTuple):
    field: GRUField
    cell: Cell
    inputs: Interval
    drive: Interval


def random_case(kind: str, seed: int = 0, *, size: int = 6, channels: int = 3, gain: float = 1.0) -> Case:
    """A field with weights of a random size, and a box of inputs for it."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        field = FIELDS[kind](channels, size).double()
        assert isinstance(field, GRUField)
        with torch.no_grad():
            for weight in field.parameters():
                weight.mul_(gain)
        middle, radius = torch.randn(channels).double(), 2 * torch.rand(channels).double()
    inputs = Interval(middle - radius, middle + radius)
    bias = field.bias_ih.detach()
    return Case(field, cell_of(field), inputs, drive_box(field.weight_ih.detach(), Interval.point(bias), inputs))


def inside(box: Interval, count: int, seed: int = 0) -> Tensor:
    """Random points of a box, its corners among them more often than chance has it."""
    generator = torch.Generator().manual_seed(seed)
    share = torch.rand(count, len(box.low), generator=generator, dtype=torch.float64)
    corner = torch.rand(count, 1, generator=generator) < 0.5
    share = torch.where(corner, share.round(), share)
    return box.low + share * (box.high - box.low)


def seen(case: Case, x: Tensor) -> Tensor:
    """The drive of signals."""
    return (x @ case.field.weight_ih.T + case.field.bias_ih).detach()
