"""Learn numbers in units of their training spread, or as they are, and answer in their own."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from denots.data.remarks import LARGEST
from denots.errors import InvalidOption, InvalidTarget
from denots.inference.answers import stretch, units
from denots.shapes import FloatArray

Units = Literal["standardised", "centred", "raw"]


@dataclass(frozen=True)
class Scale:
    """Centre and spread of each column of a target; NaN in the target is not asked for.

    units: what is learnt: "standardised" is less the centre and divided by the spread, "centred" only less the
        centre, "raw" the target as it is, so that a model has to learn its offset, too.
    """

    centre: tuple[float, ...]
    spread: tuple[float, ...]
    units: Units = "standardised"

    def __post_init__(self) -> None:
        check_units(self.units)

    @classmethod
    def unit(cls, columns: int) -> "Scale":
        return cls((0.0,) * columns, (1.0,) * columns)

    @classmethod
    def of(cls, target: Tensor, units: Units = "standardised") -> "Scale":
        table = target.double().reshape(-1, target.shape[-1])
        seen = ~table.isnan()
        count = seen.sum(dim=0).clamp_min(1)
        centre = table.nan_to_num().sum(dim=0) / count
        spread = ((table - centre).nan_to_num().square().sum(dim=0) / count).sqrt()
        return cls(tuple(centre.tolist()), tuple(torch.where(spread > 0, spread, 1.0).tolist()), units)

    @property
    def shift(self) -> tuple[float, ...]:
        """The answer that an output of zero stands for."""
        return units(self.centre, self.spread, self.units)[1]

    @property
    def factor(self) -> tuple[float, ...]:
        """By how much an answer changes with its output."""
        return units(self.centre, self.spread, self.units)[0]

    def shrink(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        """A target as it is learnt."""
        return ((target - self._tensor(self.shift)) / self._tensor(self.factor)).to(dtype)

    def stretch(self, outputs: Tensor) -> Tensor:
        """Outputs in the unit of the target."""
        if not outputs.requires_grad:
            return torch.from_numpy(stretch(outputs.numpy(), self.factor, self.shift))
        return outputs * self._tensor(self.factor) + self._tensor(self.shift)

    def filled(self, outputs: Tensor) -> Tensor:
        """Outputs of which those that are missing stand for the centre."""
        centre = self.shrink(self._tensor(self.centre), outputs.dtype)
        return torch.where(outputs.isnan(), centre, outputs).nan_to_num()

    def state(self) -> dict[str, Any]:
        return {"centre": list(self.centre), "spread": list(self.spread), "units": self.units}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> "Scale":
        units = state.get("units", "standardised")  # a model saved before there was a choice
        return cls(tuple(map(float, state["centre"])), tuple(map(float, state["spread"])), units)

    @staticmethod
    def _tensor(numbers: tuple[float, ...]) -> Tensor:
        return torch.tensor(numbers, dtype=torch.float64)


def check_units(name: str) -> Units:
    """The same name, if a target can be learnt so."""
    for known in get_args(Units):
        if name == known:
            return known
    raise InvalidOption(f"a target is learnt {', '.join(get_args(Units))}; got {name!r}.")


def check_magnitude(table: FloatArray, what: str) -> None:
    """Refuse numbers so large that their squares are infinite."""
    largest = float(np.nanmax(np.abs(table), initial=0.0))
    if largest > LARGEST:
        raise InvalidTarget(f"{what} reaches {largest:g}, beyond what can be standardised; divide by a power of ten.")
