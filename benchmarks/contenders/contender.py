"""What a contender is: something that solves a workload and takes the gradient, ready to be timed."""

import abc
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from benchmarks.workloads import Workload


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a contender found, for comparison; arrays are float64."""

    states: np.ndarray
    gradient: dict[str, np.ndarray]
    evaluations: np.ndarray | None  # of each series, rejected steps and the first-step search included
    accepted: np.ndarray | None


class Contender(abc.ABC):
    """Built for one workload: all that depends on the data alone is done here, outside the timing."""

    label: ClassVar[str]
    backend: str | None = None  # of this package, the one that ran
    threads: int = 2
    free_threads: ClassVar[bool] = False  # True: measured with 1 or 2 threads, whichever is faster
    solves_the_same: ClassVar[bool] = True  # False for models that stand beside, without agreeing

    def __init__(self, workload: Workload) -> None:
        self.workload = workload

    @classmethod
    def can_solve(cls, workload: Workload) -> bool:
        """Whether there is something to measure: most peers are written for the GRU alone."""
        return workload.kind == "anti"

    def compile(self) -> float:
        """Seconds of compilation for exactly this workload, nothing executed; 0 where there is none."""
        return 0.0

    @abc.abstractmethod
    def forward(self) -> None:
        """States at the end of every series, no gradient kept."""

    @abc.abstractmethod
    def forward_and_gradient(self) -> None:
        """States, then the gradient to all weights."""

    @abc.abstractmethod
    def outcome(self) -> Outcome:
        """One more solve with its gradient, returned this time."""


class TorchContender(Contender):
    """A solver under autograd: subclasses say how states follow from `self.weights`."""

    free_threads = True

    def __init__(self, workload: Workload) -> None:
        super().__init__(workload)
        self.weights = {name: weight.clone().requires_grad_() for name, weight in workload.weights.items()}

    @abc.abstractmethod
    def states(self) -> Tensor:
        """Solve; [n, H]."""

    def counts(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Evaluations and accepted steps of each series in the latest solve."""
        return None

    def forward(self) -> None:
        torch.set_num_threads(self.threads)
        with torch.no_grad():
            self.states()

    def forward_and_gradient(self) -> None:
        torch.set_num_threads(self.threads)
        self._gradient(self.states())

    def outcome(self) -> Outcome:
        torch.set_num_threads(self.threads)
        states = self.states()
        gradient = self._gradient(states)
        evaluations, accepted = self.counts() or (None, None)
        return Outcome(
            states.detach().double().numpy(),
            {name: g.double().numpy() for name, g in zip(self.weights, gradient, strict=True)},
            evaluations,
            accepted,
        )

    def _gradient(self, states: Tensor) -> tuple[Tensor, ...]:
        return torch.autograd.grad((states * self.workload.cotangent).sum(), list(self.weights.values()))
