"""Learn numbers in units of their training spread, and answer in their own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from denots.errors import InvalidTarget
from denots.shapes import FloatArray

LARGEST = 1e150  # squares of larger numbers leave float64


@dataclass(frozen=True)
class Scale:
    """Centre and spread of each column of a target; NaN in the target is not asked for."""

    centre: tuple[float, ...]
    spread: tuple[float, ...]

    @classmethod
    def unit(cls, columns: int) -> "Scale":
        return cls((0.0,) * columns, (1.0,) * columns)

    @classmethod
    def of(cls, target: Tensor) -> "Scale":
        table = target.double().reshape(-1, target.shape[-1])
        seen = ~table.isnan()
        count = seen.sum(dim=0).clamp_min(1)
        centre = table.nan_to_num().sum(dim=0) / count
        spread = ((table - centre).nan_to_num().square().sum(dim=0) / count).sqrt()
        return cls(tuple(centre.tolist()), tuple(torch.where(spread > 0, spread, 1.0).tolist()))

    def shrink(self, target: Tensor, dtype: torch.dtype) -> Tensor:
        """A target in units of its spread."""
        return ((target - self._tensor(self.centre)) / self._tensor(self.spread)).to(dtype)

    def stretch(self, outputs: Tensor) -> Tensor:
        """Outputs in the unit of the target."""
        return outputs * self._tensor(self.spread) + self._tensor(self.centre)

    def state(self) -> dict[str, Any]:
        return {"centre": list(self.centre), "spread": list(self.spread)}

    @classmethod
    def restore(cls, state: dict[str, Any]) -> "Scale":
        return cls(tuple(map(float, state["centre"])), tuple(map(float, state["spread"])))

    @staticmethod
    def _tensor(numbers: tuple[float, ...]) -> Tensor:
        return torch.tensor(numbers, dtype=torch.float64)


def check_magnitude(table: FloatArray, what: str) -> None:
    """Refuse numbers so large that their squares are infinite."""
    largest = float(np.nanmax(np.abs(table), initial=0.0))
    if largest > LARGEST:
        raise InvalidTarget(f"{what} reaches {largest:g}, beyond what can be standardised; divide by a power of ten.")
