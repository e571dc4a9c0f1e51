"""Processes that train one model together: each does its piece of every batch, and all learn what the others found."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
from torch import Tensor, nn

from denots.errors import WorkerLost

PATIENCE = timedelta(minutes=30)  # that a process waits for a slow one


@dataclass(frozen=True)
class Team:
    """Who is in it: `rank` says which of its `size` processes this one is. By itself, it is alone."""

    rank: int = 0
    size: int = 1

    def gather(self, own: Tensor) -> list[Tensor]:
        """What each process has, by rank; all have the same shape."""
        return [own]

    def piece(self, rows: Tensor) -> Tensor:
        """Those of the rows that are for this process."""
        return rows.tensor_split(self.size)[self.rank]

    def gather_rows(self, own: Tensor, total: int) -> Tensor:
        """The rows of all pieces, of which `own` is this one's and keeps its gradient."""
        lengths = [len(each) for each in torch.arange(total).tensor_split(self.size)]
        padded = own.detach().new_zeros((max(lengths), *own.shape[1:]))
        padded[: len(own)] = own.detach()
        found = [each[:length] for each, length in zip(self.gather(padded), lengths, strict=True)]
        found[self.rank] = own
        return torch.cat(found)

    @torch.no_grad()
    def add_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Give all processes the sum of their gradients, added in the order of ranks."""
        if self.size == 1:
            return
        own = [parameter.grad for parameter in parameters if parameter.grad is not None]
        first, *others = self.gather(torch.cat([gradient.flatten() for gradient in own]))
        total = first.clone()
        for other in others:
            total += other
        for gradient, summed in zip(own, total.split([gradient.numel() for gradient in own]), strict=True):
            gradient.copy_(summed.view_as(gradient))

    def agree(self, number: int) -> None:
        """Stop where processes do not stand at the same point."""
        found = [int(each) for each in self.gather(torch.tensor([number]))]
        if len(set(found)) > 1:
            raise WorkerLost(f"the processes of a training stand at different epochs: {found}.")


@dataclass(frozen=True)
class Connected(Team):
    """A team whose processes talk through gloo, the library of PyTorch for processors."""

    @classmethod
    def join(cls, rank: int, size: int, store: Any) -> "Connected":
        """Meet the others at a store that all of them know; there is one team a process."""
        import torch.distributed as dist

        dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=PATIENCE)
        return cls(rank, size)

    def gather(self, own: Tensor) -> list[Tensor]:
        import torch.distributed as dist

        found = [torch.empty_like(own) for _ in range(self.size)]
        try:
            dist.all_gather(found, own.contiguous())
        except RuntimeError as error:  # gloo has no error of its own
            raise WorkerLost(f"a process of the training does not answer any more ({error}).") from error
        return found
