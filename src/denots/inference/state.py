"""What a fitted model is made of, as it is stored."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy.typing as npt

from denots.data.series import SeriesSet


class State(NamedTuple):
    """What a fitted system is made of: plain values that fit into JSON, and arrays."""

    values: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Shape:
    """What the data look like to a model: channels and static features."""

    channels: int
    static: int

    @classmethod
    def of(cls, series: SeriesSet) -> "Shape":
        return cls(len(series.channels), len(series.static_names))


def join_states(states: dict[str, State]) -> State:
    """The states of several parts as one."""
    arrays = {f"{part}/{name}": array for part, state in states.items() for name, array in state.arrays.items()}
    return State({part: state.values for part, state in states.items()}, arrays)


def split_state(state: State) -> dict[str, State]:
    """What `join_states` joined."""
    parts: dict[str, State] = {part: State(values, {}) for part, values in state.values.items()}
    for name, array in state.arrays.items():
        part, _, own = name.partition("/")
        parts[part].arrays[own] = array
    return parts
