"""`torch.nn.GRU` on the same observations: not an ODE, but what a practitioner would take instead."""

import time

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from benchmarks.contenders.contender import TorchContender
from benchmarks.workloads import Workload


class TorchGRU(TorchContender):
    """Its cells see holes as zeros, and padding after the end; packed or padded, whichever is faster."""

    label = "torch.nn.GRU, not an ODE"
    solves_the_same = False

    def __init__(self, workload: Workload) -> None:
        super().__init__(workload)
        rectangle = workload.series.padded()
        self.gru = nn.GRU(workload.channels, workload.states, batch_first=True)
        self.gru.load_state_dict({f"{name}_l0": weight for name, weight in workload.weights.items()})
        self.weights = dict(self.gru.named_parameters())
        self.padded = torch.from_numpy(np.nan_to_num(rectangle.values)).float()
        lengths = torch.from_numpy(workload.series.lengths)
        self.last = lengths - 1
        self.rows = torch.arange(len(lengths))
        self.input: Tensor | PackedSequence = self.padded
        if lengths.min() < lengths.max():  # else there is no padding to save
            packed = pack_padded_sequence(self.padded, lengths, batch_first=True, enforce_sorted=False)
            self.input = min((packed, self.padded), key=self._seconds)

    def states(self) -> Tensor:
        outputs, last = self.gru(self.input)
        return last[0] if isinstance(outputs, PackedSequence) else outputs[self.rows, self.last]

    def _seconds(self, candidate: Tensor | PackedSequence) -> float:
        self.input = candidate
        self.forward_and_gradient()
        started = time.perf_counter()
        self.forward_and_gradient()
        return time.perf_counter() - started
