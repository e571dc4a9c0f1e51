"""What a causal backbone adds to be asked while rows come in: its state, carried from row to row."""

import abc
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Float64

Memory: TypeAlias = dict[str, npt.NDArray[Any]]


class Running(abc.ABC):
    """A backbone that goes on from what it kept of a series instead of reading its rows again.

    What is kept is a `Memory`: arrays by name, with a row for each series; which ones is up to the backbone, but they have the
    same names, types and widths whatever the series. All of it is told of many series at once, and of each to the last bit as
    `forward` would with all rows up to then, whoever stands beside it. Nothing is changed in place.
    """

    @abc.abstractmethod
    def begin(self, start: Float64[np.ndarray, " B"], static: Float64[np.ndarray, "B S"]) -> Memory:
        """What is known of series before their first row; NaN stands for an unknown static feature."""

    @abc.abstractmethod
    def step(self, memory: Memory, times: Float64[np.ndarray, " B"], values: Float64[np.ndarray, "B C"]) -> Memory:
        """What is known after one more row of each series, later than those before; NaN where nothing was observed."""

    @abc.abstractmethod
    def read(self, memory: Memory, at: Float64[np.ndarray, " B"]) -> Float[np.ndarray, "B H"]:
        """The states at times that are not before the latest row; NaN where a state could not be computed."""
