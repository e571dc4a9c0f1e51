"""Runs in the words of `denots train`, cut down to what a profile allows."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from denots.experiments.experiment import Request
from denots.training.compose import compose_spec
from denots.training.record import RunRecord
from denots.training.spec import RunSpec

DEPTHS = (1, 2, 5, 10, 20, 30)
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)

# Series in all and epochs at most in `quick`; None is as published.
QUICK: dict[str, tuple[int | None, int]] = {
    "pendulum": (6_000, 12),
    "pendulum-small": (None, 30),
    "pendulum-angles": (None, 12),
    "pendulum-angles-regular": (None, 12),
    "sine-2": (4_000, 12),
    "bump": (None, 12),
    "sine-mix": (None, 5),
    "uwgl": (None, 40),
    "insect-sound": (4_000, 8),
    "sepsis": (8_000, 6),
}
QUICK_BATCHES = 64
QUICK_NOTE = "; ".join(
    f"{name}: {'all' if size is None else format(size, ',')} series, at most {epochs} epochs"
    for name, (size, epochs) in QUICK.items()
)


@cache
def _published(dataset: str, backbone: str, protocol: str) -> RunSpec:
    return compose_spec(f"dataset={dataset}", f"backbone={backbone}", f"protocol={protocol}")


def specs(request: Request, dataset: str, backbone: str, seeds: Iterable[int], **options: Any) -> list[RunSpec]:
    """One run per seed; `options` replace those of the backbone."""
    spec = _published(dataset, backbone, request.protocol)
    train, data = spec.train, spec.dataset
    if request.profile == "smoke":
        data = replace(data, size=48)
        train = replace(train, max_epochs=1, batches_per_epoch=2, batch_size=16)
    elif request.profile == "quick":
        size, epochs = QUICK[dataset]
        batches = min(QUICK_BATCHES, train.batches_per_epoch or QUICK_BATCHES)
        data = replace(data, size=size)
        train = replace(train, max_epochs=min(train.max_epochs, epochs), batches_per_epoch=batches)
    chosen = replace(spec.backbone, options={**spec.backbone.options, **options})
    return [replace(spec, dataset=data, backbone=chosen, train=replace(train, seed=0), seed=seed) for seed in seeds]


def score(record: RunRecord, split: str = "test") -> float:
    """The metric of the task on a split; NaN where it is not defined."""
    value = next(value for name, value in record.metrics[split].items() if name != "loss")
    return float("nan") if value is None else value


def system_of(record: RunRecord) -> str:
    """The name under which a run stands in tables: its field where it is a driven ODE."""
    options = record.spec.backbone.options
    if record.spec.backbone.name != "denots":
        return record.spec.backbone.name
    field = options.get("field", "anti")
    return "denots" if field == "anti" else str(field)


def is_system(record: RunRecord, system: str) -> bool:
    """Whether a run belongs to a system; those of GRU-ODE are the synchronous ones at depth 1."""
    if system == "gru-ode":
        return system_of(record) == "sync" and float(record.spec.backbone.options["depth"]) == 1.0
    return system_of(record) == system
