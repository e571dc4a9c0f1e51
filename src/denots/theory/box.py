"""A box that no trajectory leaves: for all time where the feedback is strong enough, else until a stated time."""

from dataclasses import dataclass

import torch
from torch import Tensor

from denots.theory.gru_cell import Cell, gates_on
from denots.theory.interval import Interval

LARGEST, ROUNDS, GROWTH = 1e4, 500, 1.001
STEPS = 200  # of the tube


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Where all states lie that begin in `start` while the drive stays in its box.

    until: the time on the model's own clock up to which this holds; infinite where the box is invariant.
    """

    state: Interval
    until: float

    @property
    def invariant(self) -> bool:
        return self.until == float("inf")


def slope_at(cell: Cell, drive: Interval, state: Interval, own: Interval) -> Interval:
    """Between what component i of the slope lies for states in a box whose own component lies in `own`.

    (1 - z) n - d h is linear in n and in z, so the ends of both decide.
    """
    gates = gates_on(cell, drive, state, own)
    corners = [
        (1 - z) * n - (z if cell.mirrored else 1 - z) * h
        for z in (gates.z.low, gates.z.high)
        for n in (gates.n.low, gates.n.high)
        for h in (own.low, own.high)
    ]
    table = torch.stack(corners)
    return Interval(table.amin(dim=0), table.amax(dim=0))


def is_invariant(cell: Cell, drive: Interval, state: Interval) -> bool:
    """Whether the slope points inwards, or along, on every face of a box: then nothing leaves it (Nagumo)."""
    up = slope_at(cell, drive, state, Interval.point(state.high)).high
    down = slope_at(cell, drive, state, Interval.point(state.low)).low
    return bool((up <= 0).all() and (down >= 0).all())


def invariant_box(cell: Cell, drive: Interval, start: Interval) -> Box | None:
    """A box around `start` that is never left; None where none was found.

    Synchronous: h moves towards n, so the hull of the start and [-1, 1] is one, and that of the start and of what n can
    be inside of a box that is never left is a smaller one. Anti-phase: component i turns back where h ≥ n (1 - z) / z,
    which may grow faster than the box does; then there is none.
    """
    if not cell.mirrored:
        found = start.hull(Interval.symmetric(torch.ones_like(start.low)))
        for _ in range(20):
            found = start.hull(gates_on(cell, drive, found).n)
        return Box(found, float("inf"))
    found = start
    for _ in range(ROUNDS):
        needed = Interval(-_turning(cell, drive, found, upper=False), _turning(cell, drive, found, upper=True))
        if bool((needed.magnitude > LARGEST).any()) or not bool(needed.magnitude.isfinite().all()):
            return None
        grown = found.hull(Interval(needed.low * GROWTH, needed.high * GROWTH))
        if is_invariant(cell, drive, grown):
            return Box(grown, float("inf"))
        found = grown
    return None


def _turning(cell: Cell, drive: Interval, state: Interval, *, upper: bool) -> Tensor:
    """How far out each face must lie for the slope on it to point back: n (1 - z) / z at its worst."""
    face = Interval.point(state.high if upper else state.low)
    gates = gates_on(cell, drive, state, face)
    push = (gates.n.high if upper else -gates.n.low).clamp_min(0)
    return (push * (1 / gates.z.low - 1)).nan_to_num(0.0)


def tube(cell: Cell, drive: Interval, start: Interval, until: float) -> Box:
    """A box that holds every state up to a time.

    Outside of zero the feedback never pushes outwards and |n| < 1, so that in a time δ no face moves by more than δ; and
    by no more than δ times the largest slope beside it (Müller).
    """
    step = until / STEPS
    state = start.hull(Interval.point(torch.zeros_like(start.low)))
    for _ in range(STEPS):
        around = state.widened(step)
        up = slope_at(cell, drive, around, Interval(state.high, around.high)).high
        down = slope_at(cell, drive, around, Interval(around.low, state.low)).low
        state = Interval(state.low + step * down.clamp(-1, 0), state.high + step * up.clamp(0, 1))
    return Box(state, until)


def reachable_box(cell: Cell, drive: Interval, start: Interval, until: float) -> Box:
    """The invariant box where there is one, else the tube."""
    return invariant_box(cell, drive, start) or tube(cell, drive, start, until)
