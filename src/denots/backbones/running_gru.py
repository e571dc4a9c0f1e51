"""A GRU for answers at any time: the state is kept at rows, and continued on trial up to a question."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor, nn

from denots.backbones import native_layer
from denots.backbones.options import check_options
from denots.backbones.running_rows import RowReader, RunningRows
from denots.inference import running_gru
from denots.options import Choice, tunable


@dataclass(frozen=True)
class RunningGRUConfig:
    """state_size: of the GRU."""

    state_size: int = tunable(64, Choice((32, 64, 128)))

    def __post_init__(self) -> None:
        check_options(self)


class RunningGRU(RowReader):
    """One step for each row, and one more up to a question, by the fused kernel of the GRU: nothing is padded."""

    Config = RunningGRUConfig

    def __init__(self, config: RunningGRUConfig, channels: int, static_size: int = 0) -> None:
        self.config, self.state_size = config, config.state_size
        super().__init__(channels, static_size, config.state_size)

    def add_core(self) -> None:
        self.cell = nn.GRU(self.intake.read, self.states, batch_first=True)

    def encoder(self) -> running_gru.RunningGRU:
        return running_gru.RunningGRU.restore(self.intake.observed, self.arrays())

    def after_rows(self, inputs: RunningRows, start: Float[Tensor, "B H"]) -> Float[Tensor, "B T H"]:
        return self._steps(inputs.values, inputs.offsets, start)[inputs.table]

    def moved(
        self,
        state: Float[Tensor, "Q H"],
        rows: tuple[Float[Tensor, "Q D"], Float[Tensor, "Q D"]],
        clocks: tuple[Float64[Tensor, " Q"], Float64[Tensor, " Q"]],
    ) -> Float[Tensor, "Q H"]:
        return self._steps(rows[1], torch.arange(len(state) + 1), state)

    def _steps(
        self, values: Float[Tensor, "N D"], offsets: Int[Tensor, " n_plus_1"], start: Float[Tensor, "n H"]
    ) -> Float[Tensor, "N H"]:
        """The state after each row."""
        w_in, w_state, b_in, b_state = self.cell.parameters()
        order = offsets.diff().argsort(descending=True, stable=True)
        return native_layer.run(
            "gru",
            self.states,
            {"offsets": offsets, "order": order, "x": values},
            h0=start,
            weight_in=w_in,
            weight_hh=w_state,
            bias_in=b_in,
            bias_hh=b_state,
        )
