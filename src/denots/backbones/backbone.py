"""What a backbone is: a batch of series in, their states out, whatever the task."""

import abc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Float64, Int
from torch import Tensor, nn

from denots.data.series import SeriesSet
from denots.inference.network import Encoder


@runtime_checkable
class Inputs(Protocol):
    """Series as a backbone wants to read them; a batch is a selection of rows."""

    def __len__(self) -> int: ...

    def select(self, rows: Int[Tensor, " B"]) -> "Inputs": ...


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """States at the query times; rows that could not be computed are NaN and not `ok`."""

    states: Float[Tensor, "B K H"]
    ok: Bool[Tensor, " B"]
    evaluations: Int[Tensor, " B"] | None = None


class Backbone(nn.Module, abc.ABC):
    """One class serves every task: states at the end of a series, or at query times."""

    Config: ClassVar[Any]
    config: Any
    state_size: int
    causal: ClassVar[bool] = False  # whether a state at a time depends, to the last bit, on nothing that came later
    coarse: bool = False

    @contextmanager
    def in_training(self) -> Iterator[None]:
        """Solve as coarsely as training allows, also for validation; else as accurately as predictions must be."""
        self.coarse = True
        try:
            yield
        finally:
            self.coarse = False

    @property
    def summary_size(self) -> int:
        """Size of what `forward` gives for a whole series; at query times it is the state."""
        return self.state_size

    @classmethod
    def settled(cls, config: Any, train: SeriesSet) -> Any:
        """The options, with what they leave to the data decided by the training split."""
        return config

    @property
    def core_parameters(self) -> int:
        """Parameters as the paper counts them: without the embedding, the static projection and the head."""
        named = ((name.split(".")[0], parameter.numel()) for name, parameter in self.named_parameters())
        return sum(size for part, size in named if part not in {"embedding", "from_static"})

    def encoder(self) -> Encoder | None:
        """The same backbone with the weights that it has, for predictions without torch; None where torch alone can do it."""
        return None

    def arrays(self) -> dict[str, np.ndarray]:
        """Parameters and buffers by name, as arrays that share their memory."""
        return {name: tensor.detach().numpy() for name, tensor in self.state_dict().items()}

    @property
    @abc.abstractmethod
    def reads_time(self) -> bool:
        """Whether the states can depend on when observations were made, not only on their order."""

    @abc.abstractmethod
    def calibrate(self, train: SeriesSet) -> None:
        """Learn what is fixed before training (time unit, centre and scale) from the training split."""

    @abc.abstractmethod
    def prepare(self, series: SeriesSet) -> Inputs:
        """Do once per data set what does not depend on weights."""

    @abc.abstractmethod
    def forward(self, inputs: Inputs, at: Float64[Tensor, "B K"] | None = None) -> Encoded:
        """Encode a batch; `at` are times on each series' own clock, default its last time stamp."""
