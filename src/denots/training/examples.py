"""What a model is trained on: series, targets and questions, row by row."""

from dataclasses import dataclass

from torch import Tensor

from denots.backbones import Inputs


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Prepared series with their targets, and query times where the task asks at some.

    shard: of each series, where they are read from shards, a few of which are open at a time.
    """

    inputs: Inputs
    target: Tensor
    at: Tensor | None = None
    shard: Tensor | None = None

    def __len__(self) -> int:
        return len(self.inputs)

    def select(self, rows: Tensor) -> "Examples":
        return Examples(self.inputs.select(rows), self.target[rows], None if self.at is None else self.at[rows])
