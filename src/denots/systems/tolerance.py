"""How coarsely predictions may be solved: until nobody sees the difference."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from denots.inference.solver import SolverConfig
from denots.systems.trained import TrainedModel
from denots.tasks import Part, Task

VISIBLE = 1e-3  # of the spread of the answers, or of the unit interval for probabilities
STEADY = 0.999  # of the series, whose answers may not move visibly
COARSER = (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5)  # that are tried
SAMPLE = 1000  # series that tell


def eased(fitted: TrainedModel, part: Part, seed: int) -> TrainedModel:
    """The same model with the coarsest tolerance of predictions at which its answers stand.

    That is: neither half of it nor the tolerance that was asked for moves the answers of more than one series in a
    thousand visibly. It is never coarser than that of training.
    """
    config = fitted.model.backbone.config
    if not isinstance(config, SolverConfig) or config.predict_tolerance is None:
        return fitted
    sample = part.select(np.sort(np.random.default_rng(seed).permutation(len(part))[:SAMPLE]))
    asked = config.solving(coarse=False)["rtol"]
    wanted = _answers(fitted, sample, asked)
    for tolerance in COARSER:
        if not asked < tolerance <= config.tolerance:
            continue
        found, halved = (_answers(fitted, sample, size) for size in (tolerance, tolerance / 2))
        if steady(fitted.task, found, halved) and steady(fitted.task, found, wanted):
            fitted.model.backbone.config = replace(config, predict_tolerance=tolerance)
            return replace(fitted, settled={**fitted.settled, "predict_tolerance": tolerance})
    return fitted


def steady(task: Task, one: Tensor, other: Tensor) -> bool:
    """Whether so few answers differ visibly that it does not matter which are given."""
    scale = torch.ones(()) if task.learns == "classes" else other.flatten(0, -2).std(dim=0)
    same = ((one - other).abs() <= VISIBLE * scale) | (one.isnan() & other.isnan())
    return float(same.flatten(1).all(dim=1).double().mean()) >= STEADY


def _answers(fitted: TrainedModel, part: Part, tolerance: float) -> Tensor:
    backbone = fitted.model.backbone
    config = backbone.config
    backbone.config = replace(config, predict_tolerance=tolerance)
    try:
        return fitted.task.answer(fitted.outputs(part.series, part.at).outputs.double())
    finally:
        backbone.config = config
