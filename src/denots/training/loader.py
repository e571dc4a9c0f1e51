"""Batches as selections of rows: nothing is copied until a batch is asked for."""

from collections.abc import Iterator

import lightning as L
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from denots.errors import InvalidOption
from denots.training.config import TrainConfig
from denots.training.examples import Examples


class _Rows(Dataset[Examples]):
    def __init__(self, examples: Examples) -> None:
        self.examples = examples

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, rows: Tensor) -> Examples:
        return self.examples.select(rows)


class EpochSampler(Sampler[Tensor]):
    """Shuffled batches of row numbers that depend on the seed and the epoch alone.

    That makes an epoch repeatable: a run that is resumed draws what it would have drawn. An
    epoch longer than the data goes through it several times, shuffled anew each time. With
    weights, every row is drawn by itself, with replacement, in proportion to its weight.
    """

    def __init__(self, n: int, batch_size: int, batches: int, seed: int, weights: Tensor | None = None) -> None:
        self.n, self.batch_size, self.batches, self.seed = n, min(batch_size, n), batches, seed
        self.weights, self.epoch = weights, 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return self.batches

    def __iter__(self) -> Iterator[Tensor]:
        generator = torch.Generator().manual_seed((self.seed * 1_000_003 + self.epoch) % 2**63)
        wanted = self.batches * self.batch_size
        if self.weights is not None:
            rows = torch.multinomial(self.weights, wanted, replacement=True, generator=generator)
        else:
            passes = [torch.randperm(self.n, generator=generator) for _ in range(-(-wanted // self.n))]
            rows = torch.cat(passes)[:wanted]
        # A generator, so that nothing is drawn before the first batch is asked for: a resumed run
        # learns its epoch only after its iterator has been made.
        yield from rows.split(self.batch_size)


def class_weights(target: Tensor) -> Tensor:
    """One over the number of series of the same class, for each series."""
    if target.ndim != 1 or target.is_floating_point():
        raise InvalidOption("balanced_sampling needs classes, and this task has none; leave it out.")
    _, member, counts = target.unique(return_inverse=True, return_counts=True)
    return 1.0 / counts[member].double()


class _InOrder(Sampler[Tensor]):
    def __init__(self, n: int, batch_size: int) -> None:
        self.n, self.batch_size = n, batch_size

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(torch.arange(self.n).split(self.batch_size))


class ExamplesModule(L.LightningDataModule):
    """Training and validation batches for Lightning."""

    def __init__(self, train: Examples, val: Examples, config: TrainConfig) -> None:
        super().__init__()
        self.train, self.val, self.batch_size = train, val, config.batch_size
        weights = class_weights(train.target) if config.balanced_sampling else None
        batches = config.epoch_length(len(train))
        self.sampler = EpochSampler(len(train), config.batch_size, batches, config.seed, weights)

    def train_dataloader(self) -> DataLoader[Examples]:
        return DataLoader(_Rows(self.train), sampler=self.sampler, batch_size=None)

    def val_dataloader(self) -> DataLoader[Examples]:
        return DataLoader(_Rows(self.val), sampler=_InOrder(len(self.val), 2 * self.batch_size), batch_size=None)
