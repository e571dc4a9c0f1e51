"""Models for tests: any backbone, any task, without data."""

from typing import Any

from torch import Tensor

from denots.backbones import BACKBONES
from denots.data.series import SeriesSet
from denots.tasks import Classification, Forecast, Part, Regression, Task
from denots.tasks.scale import Scale
from denots.training.model import Model, build_model


def make_task(kind: str, outputs: int = 1) -> Task:
    """A task before calibration: "binary", "multiclass", "regression" or "forecast" with so many outputs."""
    if kind == "regression":
        return Regression(Scale.unit(outputs), (0.0,) * outputs, flat=outputs == 1)
    if kind == "forecast":
        return Forecast(tuple(f"x{k}" for k in range(outputs)), Scale.unit(outputs))
    n = 2 if kind == "binary" else outputs
    return Classification(tuple(range(n)), "<i8", (1.0,) * n, (1 / n,) * n)


def calibrated(model: Model, series: SeriesSet, target: Tensor, at: Tensor | None = None) -> Model:
    """The model with what it and its task learn before training."""
    model.backbone.calibrate(series)
    model.task = model.task.calibrated(Part(series, target, at))
    return model


def make_model(
    backbone: str,
    options: dict[str, Any],
    kind: str,
    channels: int,
    static: int = 0,
    outputs: int = 1,
    seed: int = 0,
) -> Model:
    chosen = BACKBONES[backbone]
    task = make_task(kind, outputs)
    return build_model(chosen, chosen.Config(**options), task, channels=channels, static_size=static, seed=seed)
