"""For how much of the time damped oscillators, driven by a series, swing beyond their thresholds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from denots import kernels
from denots.data.series import SeriesSet
from denots.inference.drive import Drive, Signals
from denots.shapes import FloatArray

PIECES = 32  # looks at an oscillator along a series, at least


class Bank(NamedTuple):
    """z' = (-rate + i frequency) z + drive, read as y = cosine Re z - sine Im z; a column an oscillator.

    A drive is a sum of values and slopes of channels. Rates count per span of the series where
    `relative`, else per unit of time. The first `forward` run with time, the others against it.
    """

    rate: FloatArray
    frequency: FloatArray
    cosine: FloatArray
    sine: FloatArray
    relative: FloatArray
    used: np.ndarray
    channel: np.ndarray
    value_weight: FloatArray
    slope_weight: FloatArray
    threshold: FloatArray
    window: FloatArray
    forward: int


def shares(signals: Signals, bank: Bank) -> FloatArray:
    return kernels.oscillator_shares(pieces=PIECES, **signals._asdict(), **bank._asdict())


@dataclass(frozen=True, slots=True, eq=False)
class OscillatorShares:
    """What `features.Oscillators` learnt, and the features that follow from it."""

    drive: Drive
    bank: Bank
    path: str = "linear"

    def transform(self, X: SeriesSet) -> FloatArray:
        """One row a series; it depends on that series alone, to the last bit."""
        return shares(self.drive.signals(X, self.path), self.bank).reshape(len(X), -1)

    def state(self) -> dict[str, np.ndarray]:
        bank = {name: np.asarray(part) for name, part in self.bank._asdict().items()}
        return {**self.drive.state(), **bank}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> "OscillatorShares":
        """Arrays that do not fit together are refused by the kernels."""
        parts = {name: state[name] for name in Bank._fields if name != "forward"}
        return cls(Drive.restore(state), Bank(**parts, forward=int(state["forward"])))
