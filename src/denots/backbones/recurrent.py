"""RNN and GRU: one step for each row."""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from denots.backbones.discrete import DiscreteBackbone, DiscreteConfig
from denots.backbones.rows import Rows, Timeline, take


class _Recurrent(DiscreteBackbone):
    """The state after the last row, or after a row without observations at each query.

    Batches are padded at the end, where the recurrence has passed the answers: packed sequences
    give the same states and were much slower on a CPU.
    """

    Config = DiscreteConfig
    cell: ClassVar[type[nn.RNN] | type[nn.GRU]]

    def __init__(self, config: DiscreteConfig, channels: int, static_size: int = 0) -> None:
        super().__init__(config, channels, static_size)
        self.core = self.cell(self.input_size, config.state_size, batch_first=True)

    def encode(self, rows: Rows, at: Tensor | None) -> Tensor:
        line = Timeline.of(rows, at)
        w_in, w_state, b_in, b_state = self.core.parameters()
        folded = self.fold_embedding(rows, w_in, b_in).weight
        weights = (folded, w_state, b_in, b_state)
        return take(self._run(self.inputs_of(rows, line), self.static_state(rows), weights), line.answers)

    def _run(
        self, x: Float[Tensor, "B T CC"], h0: Float[Tensor, "B H"], weights: tuple[Tensor, ...]
    ) -> Float[Tensor, "B T H"]:
        run = torch.gru if isinstance(self.core, nn.GRU) else torch.rnn_tanh
        states, _ = run(x, h0[None], weights, True, 1, 0.0, self.training, False, True)
        return states


class RNN(_Recurrent):
    """An Elman network with tanh; static features give the state that it starts from."""

    cell = nn.RNN


class GRU(_Recurrent):
    """A gated recurrent unit; static features give the state that it starts from."""

    cell = nn.GRU
