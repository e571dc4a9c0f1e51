"""Interval arithmetic: what a number can be, if all that is known of others is between what they lie."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """Every number of an array lies between its low and its high end; both may be infinite.

    Operations treat operands as independent, so results hold, and may be wider than need be. Ends are rounded to double precision like
    any number, not outwards.
    """

    low: Tensor
    high: Tensor

    @classmethod
    def symmetric(cls, radius: Tensor) -> "Interval":
        return cls(-radius, radius)

    @classmethod
    def point(cls, value: Tensor) -> "Interval":
        return cls(value, value)

    def __add__(self, other: "Interval") -> "Interval":
        return Interval(self.low + other.low, self.high + other.high)

    def __neg__(self) -> "Interval":
        return Interval(-self.high, -self.low)

    def __sub__(self, other: "Interval") -> "Interval":
        return self + -other

    def __mul__(self, other: "Interval") -> "Interval":
        """Products of the ends; nothing times an infinite end is nothing."""
        ends = torch.stack([a * b for a in (self.low, self.high) for b in (other.low, other.high)]).nan_to_num(
            0.0, torch.inf, -torch.inf
        )
        return Interval(ends.amin(dim=0), ends.amax(dim=0))

    def __getitem__(self, key: object) -> "Interval":
        return Interval(self.low[key], self.high[key])  # type: ignore[index]

    def rising(self, function: Callable[[Tensor], Tensor]) -> "Interval":
        """What a function that never falls makes of it."""
        return Interval(function(self.low), function(self.high))

    def one_minus(self) -> "Interval":
        return Interval(1 - self.high, 1 - self.low)

    def peak(self, function: Callable[[Tensor], Tensor], top: float) -> "Interval":
        """What a function makes of it that rises up to `top` and falls after it."""
        ends = function(self.low), function(self.high)
        nearest = function(torch.minimum(torch.maximum(self.low.new_tensor(top), self.low), self.high))
        return Interval(torch.minimum(*ends), nearest)

    def hull(self, other: "Interval") -> "Interval":
        return Interval(torch.minimum(self.low, other.low), torch.maximum(self.high, other.high))

    def widened(self, by: float | Tensor) -> "Interval":
        return Interval(self.low - by, self.high + by)

    @property
    def magnitude(self) -> Tensor:
        return torch.maximum(self.low.abs(), self.high.abs())

    def holds(self, value: Tensor, slack: float = 0.0) -> Tensor:
        """Whether each number lies inside."""
        return (value >= self.low - slack) & (value <= self.high + slack)


def affine(weight: Tensor, box: Interval, bias: Tensor) -> Interval:
    """`weight x + bias` for x in a box, exactly: each entry takes the end that its sign asks for."""
    up, down = weight.clamp_min(0), weight.clamp_max(0)
    return Interval(
        _times(up, box.low) + _times(down, box.high) + bias, _times(up, box.high) + _times(down, box.low) + bias
    )


def _times(weight: Tensor, end: Tensor) -> Tensor:
    """A product in which nothing times an infinite end is nothing."""
    return torch.where(weight == 0, 0.0, weight * end).sum(dim=-1)
