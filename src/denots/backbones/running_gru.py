"""A GRU for answers at any time: the state is kept at rows, and continued on trial up to a question."""

from dataclasses import dataclass

from jaxtyping import Float, Float64
from torch import Tensor, nn

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
    """One step for each row, and one more up to a question; the library's GRU learns from a padded batch at once."""

    Config = RunningGRUConfig

    def __init__(self, config: RunningGRUConfig, channels: int, static_size: int = 0) -> None:
        self.config, self.state_size = config, config.state_size
        super().__init__(channels, static_size, config.state_size)

    def add_core(self) -> None:
        self.core = nn.GRU(self.intake.read, self.states, batch_first=True)

    def encoder(self) -> running_gru.RunningGRU:
        return running_gru.RunningGRU.restore(self.intake.observed, self.arrays())

    def after_rows(self, inputs: RunningRows, start: Float[Tensor, "B H"]) -> Float[Tensor, "B T H"]:
        states, _ = self.core(inputs.values[inputs.table], start[None])
        return states

    def moved(
        self,
        state: Float[Tensor, "Q H"],
        rows: tuple[Float[Tensor, "Q D"], Float[Tensor, "Q D"]],
        clocks: tuple[Float64[Tensor, " Q"], Float64[Tensor, " Q"]],
    ) -> Float[Tensor, "Q H"]:
        return self.core(rows[1][:, None], state[None])[0][:, 0]
