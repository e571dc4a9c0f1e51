"""What a system is: something that can be fitted to any task, and then answers for series it has not seen."""

import abc
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.inference.carried import Carried
from denots.inference.state import Shape, State
from denots.inference.told import Told
from denots.registry import lookup
from denots.shapes import FloatArray
from denots.tasks import Part, Task
from denots.training.model import Output
from denots.training.progress import Progress

__all__ = [
    "Configured",
    "Fitted",
    "Plain",
    "PlainTask",
    "Problem",
    "Shape",
    "State",
    "System",
    "check_known",
    "plain_arrays",
]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A task, calibrated on the training part, and the parts that it is learnt and judged on.

    Without a validation part nothing is held back: a system learns from all series for as long as it thinks fit.
    """

    task: Task
    train: Part
    val: Part | None

    def held_back(self, system: str) -> Part:
        """The validation part, for a system that cannot do without."""
        if self.val is None:
            raise InvalidOption(f"system {system!r} chooses by a validation part; hold some series back.")
        return self.val


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitted(abc.ABC):
    """A system that has learnt.

    score, loss: the metric and the loss on the validation part; NaN without one.
    held_out: outputs for the training series by models that have not learnt from them, where there are such.
    lean: how far each of those leans away from its own answer because that was missing in a mean; None where it does not.
    held_back: the same for the validation series, where the system itself has learnt from them in the end.
    leaderboard: what was tried, one row a system; empty where there was no choice.
    curve: one row an epoch, or an iteration; empty where there are none.
    parameters: numbers that were learnt.
    failures: how many times training gave up on a series, in the best epoch.
    """

    task: Task
    score: float = float("nan")
    loss: float = float("nan")
    curve: list[dict[str, float]] = field(default_factory=list)
    parameters: int = 0
    seconds: float = 0.0
    failures: int = 0
    held_out: Tensor | None = None
    lean: Tensor | None = None
    held_back: Tensor | None = None
    leaderboard: list[dict[str, Any]] = field(default_factory=list)

    @abc.abstractmethod
    def outputs(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        """Raw outputs of the task for each series, at its end or at query times; the same in any company."""

    @property
    def compared(self) -> Tensor | None:
        """What was held out, as metrics compare one series with another; its loss is that of `held_out`."""
        return self.held_out if self.held_out is None or self.lean is None else self.held_out - self.lean

    @property
    def carried(self) -> Carried | None:
        """The same answers from a state that is carried from row to row, where the system has one."""
        return None

    @abc.abstractmethod
    def state(self) -> State:
        """Everything from which `System.restore` makes the same answers, bit for bit."""


@dataclass(frozen=True, slots=True, eq=False)
class Plain:
    """A fitted system, asked with arrays."""

    fitted: Fitted

    def outputs(self, series: SeriesSet, at: FloatArray | None = None) -> Told:
        return self.fitted.outputs(series, None if at is None else torch.from_numpy(at)).told()


@dataclass(frozen=True, slots=True, eq=False)
class PlainTask:
    """What a task tells, of arrays."""

    task: Task

    @property
    def outputs(self) -> int:
        return self.task.outputs

    def answer(self, outputs: FloatArray) -> FloatArray:
        return np.asarray(self.task.answer(torch.from_numpy(outputs.astype(np.float64))))

    def columns(self, answers: FloatArray) -> dict[str, npt.NDArray[Any]]:
        return self.task.columns(answers)


class System(abc.ABC):
    """A way to learn, with its options; a value that is never changed by fitting.

    A subclass is a frozen dataclass.
    """

    name: str
    description: str
    holds_out: ClassVar[bool] = True  # whether it needs a validation part
    weighs: ClassVar[bool] = False  # whether series may count differently

    @property
    def causal(self) -> bool:
        """Whether an answer at a time uses nothing that came later, to the last bit."""
        return False

    @property
    @abc.abstractmethod
    def configs(self) -> tuple[Any, ...]:
        """The dataclasses that hold the options; a name stands in one of them only."""

    @abc.abstractmethod
    def with_options(self, **options: Any) -> "System":
        """The same system with some options changed; unknown names and bad values are refused."""

    @property
    def options(self) -> dict[str, Any]:
        """What a user may set, with its value."""
        return {option.name: getattr(config, option.name) for config in self.configs for option in fields(config)}

    def serves(self, task: type[Task]) -> bool:
        """Whether it can learn this kind of task at all."""
        return self.causal or not task.causal

    @abc.abstractmethod
    def check(self, task: Task, shape: Shape) -> None:
        """Refuse options that cannot work for such data, before anything is written or computed."""

    @abc.abstractmethod
    def fit(
        self,
        problem: Problem,
        *,
        seed: int,
        folder: Path | None = None,
        progress: Progress | bool = False,
        deadline: float | None = None,
    ) -> Fitted:
        """Learn from the training part, with the validation part to choose by.

        Args:
            folder: where a system that can be interrupted keeps its checkpoint; called again with the
                same problem, it goes on from there.
            deadline: a time (as of `time.time()`) after which OutOfTime may be raised, the checkpoint written.
        """

    @abc.abstractmethod
    def restore(self, task: Task, shape: Shape, state: State) -> Fitted:
        """The fitted system whose state this is; anything odd in it raises ValueError or KeyError."""


class Configured(System):
    """A system whose options are one frozen dataclass."""

    config: Any

    @property
    def configs(self) -> tuple[Any, ...]:
        return (self.config,)

    def with_options(self, **options: Any) -> Self:
        check_known(options, self.options, self.name)
        found: Self = replace(cast(Any, self), config=replace(self.config, **options))
        return found


def check_known(options: Iterable[str], known: Iterable[str], system: str) -> None:
    """Refuse an option that a system does not have, offering the nearest names."""
    names = dict.fromkeys(known, True)
    for option in options:
        lookup(names, option, f"option of {system!r}:")


def plain_arrays(arrays: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
    """Tensors as arrays of their own."""
    return {name: tensor.detach().contiguous().numpy() for name, tensor in arrays.items()}
