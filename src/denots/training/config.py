"""How to train: the defaults suit a new table, published runs name their own values."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from denots.backbones.options import check_options
from denots.options import Range, tunable
from denots.training.schedule import Schedule

STEPS_PER_ROOT = 100  # so many steps for each unit of the square root of the number of series
FEW_SERIES = 1000


@dataclass(frozen=True)
class TrainConfig:
    """AdamW, and what decides how long and which weights are kept.

    learning_rate: its largest value; `schedule` says when it is reached.
    schedule: "one-cycle" warms up and then falls to zero once; "cycles" does so three times, each twice as long
        as the one before, and stops where a cycle ends worse than the one before; "constant" as published.
    weight_decay: by which share, times the learning rate, weights shrink in a step.
    clip: the largest norm of a gradient; None lets all pass.
    batch_size: series in a batch; None is a sixteenth of them, between 16 and 128.
    patience: epochs without a better validation metric after which a run ends; None waits for all.
    choose: keep the weights of the epoch with the best validation "loss" or "metric".
    batches_per_epoch: length of a (virtual) epoch; None goes by the number of series, so that all `max_epochs` make
        about 100 sqrt(n) steps at the default number of epochs.
    copies: learn also from so many copies of each series without a random third of its rows, which keeps a model from
        learning by heart where the rows lie; None is 4 below 1000 series and else none. Not where times are asked for.
    balanced_sampling: draw training series with replacement, each class equally often.
    """

    learning_rate: float = tunable(5e-3, Range(3e-4, 3e-2, log=True))
    schedule: Schedule = "cycles"
    weight_decay: float = tunable(0.01, Range(1e-3, 0.3, log=True))
    clip: float | None = 1.0
    batch_size: int | None = None
    max_epochs: int = 28
    patience: int | None = None
    min_delta: float = 0.0
    choose: Literal["loss", "metric"] = "loss"
    batches_per_epoch: int | None = None
    copies: int | None = None
    balanced_sampling: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_options(self, from_zero=("seed", "min_delta", "weight_decay", "copies"))

    def copies_of(self, n: int) -> int:
        """Thinned copies of each of n series."""
        return (4 if n < FEW_SERIES else 0) if self.copies is None else self.copies

    def batch_length(self, n: int) -> int:
        """Series in a batch out of n."""
        return self.batch_size or min(max(n // 16, 16), 128)

    def epoch_length(self, n: int) -> int:
        """Batches in an epoch over n series."""
        return self.batches_per_epoch or math.ceil(STEPS_PER_ROOT * math.sqrt(n) / TrainConfig.max_epochs)


# How training went as published, and in every record that names no schedule.
PUBLISHED: dict[str, Any] = {"schedule": "constant", "weight_decay": 0.0, "clip": None, "choose": "metric", "copies": 0}
