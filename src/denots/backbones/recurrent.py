"""RNN and GRU: one step for each row."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from denots.backbones import native_layer
from denots.backbones.discrete import DiscreteBackbone, DiscreteConfig
from denots.backbones.rows import Rows, Timeline, take


class RNN(DiscreteBackbone):
    """An Elman network with tanh; static features give the state that it starts from.

    The state after the last row, or after a row without observations at each query. Batches are padded at the
    end, where the recurrence has passed the answers: packed sequences of torch were much slower on a CPU.
    """

    Config = DiscreteConfig

    def __init__(self, config: DiscreteConfig, channels: int, static_size: int = 0) -> None:
        super().__init__(config, channels, static_size)
        self.core = nn.RNN(self.input_size, config.state_size, batch_first=True)

    def encode(self, rows: Rows, at: Tensor | None) -> Tensor:
        line = Timeline.of(rows, at)
        w_in, w_state, b_in, b_state = self.core.parameters()
        weights = (self.fold_embedding(rows, w_in, b_in).weight, w_state, b_in, b_state)
        x, h0 = self.inputs_of(rows, line), self.static_state(rows)[None]
        states, _ = torch.rnn_tanh(x, h0, weights, True, 1, 0.0, self.training, False, True)
        return take(states, line.answers)


class GRU(DiscreteBackbone):
    """A gated recurrent unit; static features give the state that it starts from.

    The state after the last row, or after a row without observations at each query, by a fused kernel: series
    that are about as long as each other run side by side, and none is padded beyond these.
    """

    Config = DiscreteConfig

    def __init__(self, config: DiscreteConfig, channels: int, static_size: int = 0) -> None:
        super().__init__(config, channels, static_size)
        self.core = nn.GRU(self.input_size, config.state_size, batch_first=True)

    def encode(self, rows: Rows, at: Tensor | None) -> Float[Tensor, "B K H"]:
        line = Timeline.of(rows, at)
        w_in, w_state, b_in, b_state = self.core.parameters()
        states = native_layer.run(
            "gru",
            self.state_size,
            {
                "offsets": line.offsets,
                "order": line.offsets.diff().argsort(descending=True, stable=True),
                "x": self.packed_inputs_of(rows, line),
            },
            h0=self.static_state(rows),
            weight_in=self.fold_embedding(rows, w_in, b_in).weight,
            weight_hh=w_state,
            bias_in=b_in,
            bias_hh=b_state,
        )
        return line.answered(states)
