"""The number of an answer that is explained."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.registry import listed
from denots.tasks import Classification, Part, Task


@dataclass(frozen=True)
class Quantity:
    """The log-odds of one class against all others, or one number in its own unit."""

    task: Task
    column: int
    name: str

    @classmethod
    def of(cls, task: Task, outputs: Tensor, wanted: Any = None) -> "Quantity":
        """The class or the number that is wanted; by default the class that is told, or the first number."""
        if isinstance(task, Classification):
            return cls._of_class(task, outputs, wanted)
        names = task.parts or tuple(map(str, range(task.answer(outputs).shape[1])))
        told = names[0] if wanted is None else str(wanted)
        if told not in names:
            raise InvalidOption(f"the model answers with no {wanted!r}; choose one of {listed(names)}.")
        return cls(task, names.index(told), "prediction" if len(names) == 1 else f"prediction_{told}")

    @classmethod
    def _of_class(cls, task: Classification, outputs: Tensor, wanted: Any) -> "Quantity":
        names = [str(label) for label in task.labels]
        if wanted is None:
            column = int(task.answer(outputs)[0].argmax())
        elif str(wanted) in names:
            column = names.index(str(wanted))
        else:
            raise InvalidOption(f"the model knows no class {wanted!r}; its classes are {listed(names)}.")
        return cls(task, column, f"log-odds of {names[column]}")

    def read(self, outputs: Tensor) -> Tensor:
        """This number of each row of outputs; with their gradient."""
        if not isinstance(self.task, Classification):
            return self.task.answer(outputs.double())[:, self.column]
        logits = outputs.double()
        if self.task.binary:
            return logits[:, 0] if self.column == 1 else -logits[:, 0]
        others = [k for k in range(logits.shape[1]) if k != self.column]
        return logits[:, self.column] - logits[:, others].logsumexp(dim=1)

    def trivial(self, series: SeriesSet) -> float:
        """What it is for someone who has seen nothing of the series."""
        classes = isinstance(self.task, Classification)
        unknown = (
            torch.zeros(len(series), dtype=torch.int64) if classes else torch.zeros(len(series), self.task.outputs)
        )
        nothing = torch.full((len(series), self.task.outputs), torch.nan, dtype=torch.float64)
        told = float(self.task.compare(nothing, Part(series, unknown)).trivial[0, self.column])
        return float(torch.logit(torch.tensor(told, dtype=torch.float64))) if classes else told
