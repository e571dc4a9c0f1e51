"""Short training runs on sines of different frequency."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from denots.data import SeriesSet
from denots.training.config import TrainConfig
from denots.training.examples import Examples
from denots.training.fit import fit
from denots.training.model import Model

from models import calibrated, make_model


def waves(n: int = 24) -> SeriesSet:
    """Sines of different frequency, which is the target."""
    rng = np.random.default_rng(0)
    speed = rng.uniform(1, 4, n)
    times = [np.sort(rng.uniform(0, 3, rng.integers(4, 12))) for _ in range(n)]
    return SeriesSet.from_arrays(
        times, [np.sin(a * t) for a, t in zip(speed, times, strict=True)], target=speed, start=0.0
    )


def examples(series: SeriesSet, seed: int = 0, **options) -> tuple[Model, Examples]:
    model = make_model("denots", {"state_size": 6, "depth": 2.0, **options}, "regression", 1, 0, 1, seed=seed)
    target = torch.from_numpy(series.target)[:, None]
    calibrated(model, series, target)
    return model, Examples(model.backbone.prepare(series), target)


SHORT = TrainConfig(learning_rate=1e-2, batch_size=8, batches_per_epoch=3, max_epochs=3)
STEADY = replace(SHORT, schedule="constant")  # does not depend on how many epochs there will be


def trained(folder: Path | None = None, seed: int = 0, config: TrainConfig = SHORT) -> tuple[dict, list]:
    model, data = examples(waves(), seed)
    history = fit(model, data, data, config, folder=folder)
    return model.state_dict(), history.rows
