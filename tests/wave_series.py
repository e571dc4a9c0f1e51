"""Small series that an estimator learns in seconds, and options for them."""

import numpy as np

from denots.data import SeriesSet

FAST = {"max_epochs": 2, "batches_per_epoch": 2, "batch_size": 16, "state_size": 6, "depth": 2.0, "random_state": 0}
LEARNS = {
    "max_epochs": 12,
    "batches_per_epoch": 8,
    "state_size": 8,
    "depth": 3.0,
    "learning_rate": 0.03,
    "random_state": 0,
}


def waves(n: int = 30, seed: int = 0) -> SeriesSet:
    """Noisy waves around a level, which is the target."""
    rng = np.random.default_rng(seed)
    level = rng.uniform(1, 4, n)
    times = [np.sort(rng.uniform(0, 3, rng.integers(3, 12))) for _ in range(n)]
    values = [np.stack([a + 0.5 * np.sin(3 * t), np.cos(a * t)], axis=1) for a, t in zip(level, times, strict=True)]
    for table in values:
        table[1:][rng.random((len(table) - 1, 2)) < 0.2] = np.nan
    return SeriesSet.from_arrays(
        times, values, target=level, channels=("level", "wave"), ids=[f"w{i}" for i in range(n)]
    )
