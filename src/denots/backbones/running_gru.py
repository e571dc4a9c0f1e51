"""A GRU for answers at any time: the state is kept at rows, and continued on trial up to a question."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor, nn

from denots.backbones.options import check_options
from denots.backbones.running_rows import RowReader, RunningRows
from denots.options import Choice, tunable

AT_ONCE = 16  # rows whose products are kept together, which is what a cache holds


@dataclass(frozen=True)
class RunningGRUConfig:
    """state_size: of the GRU."""

    state_size: int = tunable(64, Choice((32, 64, 128)))

    def __post_init__(self) -> None:
        check_options(self)


@np.errstate(invalid="ignore", over="ignore")  # what is not finite then is told by the state
def _step(
    x: Float[np.ndarray, "B D"], h: Float[np.ndarray, "B H"], weights: tuple[np.ndarray, ...]
) -> Float[np.ndarray, "B H"]:
    """The state of torch's GRU after one row, each series by itself."""
    w_in, w_state, b_in, b_state = weights
    read, kept = _linear(x, w_in, b_in), _linear(h, w_state, b_state)
    size = h.shape[1]
    reset, new = slice(size), slice(2 * size, 3 * size)
    z = _sigmoid(read[:, size : 2 * size] + kept[:, size : 2 * size])
    return (1 - z) * np.tanh(read[:, new] + _sigmoid(read[:, reset] + kept[:, reset]) * kept[:, new]) + z * h


def _linear(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    parts = [(x[k : k + AT_ONCE, None] * weight).sum(axis=2) for k in range(0, len(x), AT_ONCE)]
    return np.concatenate(parts) + bias


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.maximum(x, -80)))


class RunningGRU(RowReader):
    """One step for each row, and one more up to a question.

    For predictions NumPy sums every product of a row by itself and computes a number alike wherever it stands, which
    torch does not at the end of an array.
    """

    Config = RunningGRUConfig

    def __init__(self, config: RunningGRUConfig, channels: int, static_size: int = 0) -> None:
        self.config, self.state_size = config, config.state_size
        super().__init__(channels, static_size, config.state_size)

    def add_core(self) -> None:
        self.core = nn.GRU(self.intake.read, self.states, batch_first=True)

    def after_rows(self, inputs: RunningRows, start: Float[Tensor, "B H"]) -> Float[Tensor, "B T H"]:
        if self._together:  # on a padded batch
            states, _ = self.core(inputs.values[inputs.table], start[None])
            return states
        lengths = inputs.offsets.diff()
        order = lengths.argsort(descending=True, stable=True)
        begin, lengths = inputs.offsets[:-1][order], lengths[order]
        states = start.new_zeros(len(inputs), int(lengths[0]), self.states)
        h, weights = start[order].numpy(), self._weights()
        for place in range(int(lengths[0])):  # series that have ended leave
            going = int((lengths > place).sum())
            h = _step(inputs.values[begin[:going] + place].numpy(), h[:going], weights)
            states[order[:going], place] = torch.from_numpy(h)
        return states

    def moved(
        self,
        state: Float[Tensor, "Q H"],
        rows: tuple[Float[Tensor, "Q D"], Float[Tensor, "Q D"]],
        clocks: tuple[Float64[Tensor, " Q"], Float64[Tensor, " Q"]],
    ) -> Float[Tensor, "Q H"]:
        if self._together:
            return self.core(rows[1][:, None], state[None])[0][:, 0]
        return torch.from_numpy(_step(rows[1].numpy(), state.numpy(), self._weights()))

    @property
    def _together(self) -> bool:
        """Whether the library's GRU may take a batch at once, whose bits depend on all of it."""
        return self.coarse or torch.is_grad_enabled()

    def _weights(self) -> tuple[np.ndarray, ...]:
        return tuple(weight.detach().numpy() for weight in self.core.all_weights[0])
