"""At how much of a series short filters, moved along it, respond beyond their thresholds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from denots import kernels
from denots.data.blocks import in_blocks
from denots.data.series import SeriesSet
from denots.inference.even_grid import EvenGrid
from denots.shapes import FloatArray

FEWEST, MOST = 10, 1024  # points of the grid
TOGETHER = 256  # series that are on the grid at once


class Filters(NamedTuple):
    """A column a filter; see `features.Convolutions`."""

    places: np.ndarray
    dilation: np.ndarray
    difference: np.ndarray
    padded: np.ndarray
    used: np.ndarray
    channel: np.ndarray
    weight: FloatArray
    threshold: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class ConvolutionShares:
    """What `features.Convolutions` learnt, and the features that follow from it."""

    grid: EvenGrid
    bank: Filters

    def transform(self, X: SeriesSet) -> FloatArray:
        """One row a series; it depends on that series alone, to the last bit."""
        found = np.empty((len(X), *self.bank.threshold.shape), np.float32)
        for first, block in zip(range(0, len(X), TOGETHER), in_blocks(X, TOGETHER), strict=True):
            shares = found[first : first + TOGETHER]
            kernels.convolution_shares(grid=self.grid.read(block), **self.bank._asdict(), shares=shares)
        return found.reshape(len(X), -1)

    def state(self) -> dict[str, np.ndarray]:
        return {**self.grid.state(), **self.bank._asdict()}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> "ConvolutionShares":
        """Arrays that do not fit together are refused by the kernels."""
        grid = EvenGrid.restore(state)
        if not FEWEST <= grid.points <= MOST:
            raise ValueError(f"a grid has {FEWEST} to {MOST} points, not {grid.points}")
        return cls(grid, Filters(**{name: state[name] for name in Filters._fields}))
