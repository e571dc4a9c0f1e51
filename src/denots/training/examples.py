"""What a model is trained on: series, targets and questions, row by row."""

from dataclasses import dataclass

from torch import Tensor

from denots.backbones import Inputs
from denots.tasks import Task


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Prepared series with their targets, and query times where the task asks at some.

    shard: of each series, where they are read from shards, a few of which are open at a time.
    weight: how much each series counts; None where all count alike.
    """

    inputs: Inputs
    target: Tensor
    at: Tensor | None = None
    shard: Tensor | None = None
    weight: Tensor | None = None

    def __len__(self) -> int:
        return len(self.inputs)

    def select(self, rows: Tensor) -> "Examples":
        at, weight = (None if each is None else each[rows] for each in (self.at, self.weight))
        return Examples(self.inputs.select(rows), self.target[rows], at, weight=weight)

    def loss(self, task: Task, outputs: Tensor, ok: Tensor, rows: Tensor | None = None) -> Tensor:
        """The loss over the series that were solved, in proportion to their weights; outputs may be those of some rows."""
        target, weight = self.target, self.weight
        if rows is not None:
            target, weight = target[rows], None if weight is None else weight[rows]
        if not ok.all():
            outputs, target = outputs[ok], target[ok]
        if weight is None:
            return task.loss(outputs, target)
        return task.weighed_loss(outputs, target, weight[ok])
