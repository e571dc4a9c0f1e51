"""What a causal backbone adds to be asked while rows come in: its state, carried from row to row."""

import abc
from typing import Any, TypeAlias

import numpy.typing as npt

from denots.shapes import FloatArray

Memory: TypeAlias = dict[str, npt.NDArray[Any]]


class Running(abc.ABC):
    """A backbone that goes on from what it kept of a series instead of reading its rows again.

    What is kept is a `Memory`: arrays by name, with a row for each series; which ones is up to the backbone, but they have the
    same names, types and widths whatever the series. All of it is told of many series at once, and of each to the last bit as
    `encode` would with all rows up to then, whoever stands beside it. Nothing is changed in place.
    """

    @abc.abstractmethod
    def begin(self, start: FloatArray, static: FloatArray) -> Memory:
        """What is known of series [B], [B, S] before their first row; NaN stands for an unknown static feature."""

    @abc.abstractmethod
    def step(self, memory: Memory, times: FloatArray, values: FloatArray) -> Memory:
        """What is known after one more row [B], [B, C] of each series, later than those before; NaN where nothing was observed."""

    @abc.abstractmethod
    def read(self, memory: Memory, at: FloatArray) -> FloatArray:
        """The states [B, H] at times that are not before the latest row; NaN where a state could not be computed."""
