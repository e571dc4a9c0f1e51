"""How to train: the paper's numbers are the defaults."""

from dataclasses import dataclass

from denots.backbones.options import check_options


@dataclass(frozen=True)
class TrainConfig:
    """Adam with early stopping on the validation metric.

    batches_per_epoch: length of a (virtual) epoch; None is one pass over the data, but at
        least 32 batches, so that a handful of series still gets a useful number of updates.
    balanced_sampling: draw training series with replacement, each class equally often.
    """

    learning_rate: float = 1e-3
    batch_size: int = 128
    max_epochs: int = 100
    patience: int = 10
    min_delta: float = 0.0
    batches_per_epoch: int | None = None
    balanced_sampling: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_options(self, from_zero=("seed", "min_delta"))

    def epoch_length(self, n: int) -> int:
        """Batches in an epoch over n series."""
        return self.batches_per_epoch or max(32, -(-n // self.batch_size))
