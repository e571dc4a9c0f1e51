"""This package: the fused kernels, and the readable reference."""

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from benchmarks.contenders.contender import TorchContender
from benchmarks.workloads import Workload
from denots import solve
from denots.errors import NativeUnavailable
from denots.ode import Solution


class _Denots(TorchContender):
    backend: Literal["native", "reference"]

    def __init__(self, workload: Workload) -> None:
        super().__init__(workload)
        self.path = workload.path()
        self.field = workload.field()
        self.weights = dict(self.field.named_parameters())
        self.h0 = torch.zeros(len(self.path), workload.states)
        self.solution: Solution | None = None

    @classmethod
    def can_solve(cls, workload: Workload) -> bool:
        if cls.backend == "reference":
            return True
        few = workload.first(1)
        try:
            solve(few.field(), few.path(), torch.zeros(1, few.states), rtol=1, atol=1, backend="native")
        except NativeUnavailable:
            return False
        return True

    def states(self) -> Tensor:
        tolerance = self.workload.tolerance
        self.solution = solve(
            self.field, self.path, self.h0, rtol=tolerance, atol=tolerance, max_steps=1_000_000, backend=self.backend
        ).check()
        return self.solution.states[:, 0]

    def counts(self) -> tuple[np.ndarray, np.ndarray] | None:
        if self.solution is None:
            return None
        return self.solution.evaluations.numpy(), self.solution.accepted.numpy()


class Reference(_Denots):
    label = "denots, reference backend"
    backend = "reference"


class NativeOneThread(_Denots):
    label = "denots, native, 1 thread"
    backend = "native"
    threads, free_threads = 1, False


class NativeTwoThreads(_Denots):
    label = "denots, native, 2 threads"
    backend = "native"
    threads, free_threads = 2, False
