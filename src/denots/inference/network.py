"""States of a backbone and a linear head on top of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from denots import kernels
from denots.data.blocks import in_blocks
from denots.data.series import SeriesSet
from denots.inference.told import Told, joined
from denots.shapes import BoolArray, FloatArray, IntArray

AT_ONCE = 256  # series that are encoded together


class Encoded(NamedTuple):
    """States at the query times [n, K, H], or [n, 1, S] of whole series; NaN where not `ok`."""

    states: FloatArray
    ok: BoolArray
    evaluations: IntArray | None = None


class Encoder(Protocol):
    """A backbone whose weights are given."""

    def encode(self, series: SeriesSet, at: FloatArray | None = None) -> Encoded: ...


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """From series to the outputs of a task; `asks_times` says whether that is told at query times."""

    encoder: Encoder
    weight: FloatArray
    bias: FloatArray
    asks_times: bool

    def outputs(self, series: SeriesSet, at: FloatArray | None = None) -> Told:
        asked = [None if at is None else at[first : first + AT_ONCE] for first in range(0, len(series), AT_ONCE)]
        return joined([self._asked(*each) for each in zip(in_blocks(series, AT_ONCE), asked, strict=True)])

    @np.errstate(over="ignore", invalid="ignore")
    def _asked(self, series: SeriesSet, at: FloatArray | None) -> Told:
        return self.told(self.encoder.encode(series, at))

    def told(self, encoded: Encoded) -> Told:
        """What the head makes of states."""
        states, ok, evaluations = encoded
        asked = states if self.asks_times else states[:, -1]
        flat = kernels.linear_rows(asked.reshape(-1, asked.shape[-1]), self.weight, self.bias)
        outputs = flat.reshape(*asked.shape[:-1], -1)
        outputs[~ok] = np.nan
        return Told(outputs, ok, evaluations)


def weights_of(arrays: Mapping[str, Any], part: str) -> dict[str, Any]:
    """The weights of one part of a model, such as its backbone."""
    return {name.removeprefix(f"{part}."): array for name, array in arrays.items() if name.startswith(f"{part}.")}
