"""Runs in the words of `denots train`, cut down to what a profile allows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from denots.datasets import DATASETS, load
from denots.errors import DenotsError, InvalidOption, UnknownName
from denots.experiments.exhibit import Cell
from denots.experiments.experiment import Request
from denots.runs.origin import Profile
from denots.runs.published import published_run, target_under, training_under
from denots.runs.record import RunRecord
from denots.runs.spec import DatasetSpec, RunSpec
from denots.systems import SYSTEMS
from denots.tasks.scale import Units
from denots.training.config import TrainConfig

DEPTHS = (1, 2, 5, 10, 20, 30)
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
PROFILES: tuple[Profile, ...] = ("smoke", "quick", "paper")  # the later, the more it counts
REAL = ("uwgl", "insect-sound", "sepsis")
RETIRED_TREES = "boosted-trees"  # of scikit-learn, in records of earlier versions only

# Series in all and epochs at most in `quick`; None is as published.
QUICK: dict[str, tuple[int | None, int]] = {
    "pendulum": (4_000, 16),
    "pendulum-small": (None, 20),
    "pendulum-angles": (None, 12),
    "pendulum-angles-regular": (None, 12),
    "sine-2": (4_000, 12),
    "bump": (None, 12),
    "sine-mix": (None, 5),
    "sine-mix-jump": (None, 5),
    "uwgl": (None, 40),
    "insect-sound": (4_000, 8),
    "sepsis": (8_000, 6),
}
QUICK_BATCHES = 64
SMOKE_BATCH, SMOKE_STATE = 8, 16
SMOKE_SIZE = 40
SMOKE_SIZES = {
    "sine-mix": 72,
    "sine-mix-jump": 72,
    "sine-2": 72,
    "sepsis": 240,
}  # few are left to judge, or few are ill


def quick_note(*datasets: str) -> str:
    """What `quick` leaves of some data sets."""
    sizes = (
        f"{name}: {'all' if QUICK[name][0] is None else format(QUICK[name][0], ',')} series, at most {QUICK[name][1]} epochs"
        for name in datasets
    )
    return f"{'; '.join(sizes)}, each of at most {QUICK_BATCHES} batches."


@dataclass
class Plan:
    """The runs that a request asks for, and why others had to be left out."""

    request: Request
    runs: list[RunSpec] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def add(
        self, dataset: str, system: str, seeds: Iterable[int], target: Units | None = None, /, **options: Any
    ) -> None:
        """One run per seed; `options` replace those of the backbone, `target` how the protocol learns numbers."""
        if not self.request.wants(dataset, system):
            return
        reason = unavailable(dataset) or unknown(system)
        if reason is None:
            self.runs += [_specified(self.request, dataset, system, seed, target, options) for seed in seeds]
        elif reason not in self.left_out:
            self.left_out.append(reason)


@cache
def unavailable(dataset: str) -> str | None:
    """Why a data set cannot be had here; real ones have to be imported first."""
    try:
        DATASETS.find(dataset)
        if dataset in REAL:
            load(dataset, size=SMOKE_SIZE)
    except UnknownName:
        return f"{dataset} is not a data set of this version"
    except DenotsError as error:
        return str(error).split(". ")[0]
    return None


def unknown(system: str) -> str | None:
    return None if system in SYSTEMS else f"{system} is not a backbone of this version"


def _specified(
    request: Request, dataset: str, system: str, seed: int, target: Units | None, options: dict[str, Any]
) -> RunSpec:
    spec = published_run(dataset, system, request.protocol, seed=seed, options=options, target=target)
    size, train = _reduced(spec.dataset, spec.train, request.profile)
    chosen = dict(spec.backbone.options)
    if request.profile == "smoke" and "state_size" in chosen:
        chosen["state_size"] = SMOKE_STATE
    return replace(
        spec,
        dataset=replace(spec.dataset, size=size),
        backbone=replace(spec.backbone, options=chosen),
        train=train,
    )


def _reduced(dataset: DatasetSpec, train: TrainConfig, profile: Profile) -> tuple[int | None, TrainConfig]:
    """Size of a data set and length of the training in a profile."""
    if profile == "smoke":
        few = SMOKE_SIZES.get(dataset.name, SMOKE_SIZE)
        return few, replace(train, max_epochs=1, batches_per_epoch=1, batch_size=SMOKE_BATCH)
    if profile == "quick":
        size, epochs = QUICK[dataset.name]
        batches = min(QUICK_BATCHES, train.batches_per_epoch or QUICK_BATCHES)
        return size, replace(train, max_epochs=min(train.max_epochs, epochs), batches_per_epoch=batches)
    return None, train


def profile_of(spec: RunSpec) -> Profile:
    """The profile that a run was made in, told from what it reduced; an error if it is none of them."""
    train = replace(spec.train, seed=0)
    published = training_under(spec.protocol, spec.dataset.name, spec.backbone.name)
    for profile in PROFILES:
        size, expected = _reduced(spec.dataset, published, profile)
        if (spec.dataset.size, train) == (size, expected):
            return profile
    raise InvalidOption(
        f"a run on {spec.dataset.name} with {spec.dataset.size or 'all'} series and at most {spec.train.max_epochs} epochs of "
        f"{spec.train.batches_per_epoch} batches is of no profile ({', '.join(PROFILES)}); it cannot be shown."
    )


def rules_of(spec: RunSpec) -> str:
    """The protocol of a run or, where its numbers are learnt otherwise than it says, how they are."""
    return spec.protocol if spec.target == target_under(spec.protocol, spec.dataset.name) else spec.target


def most_telling(records: Iterable[RunRecord]) -> list[RunRecord]:
    """Of each system on each data set under each set of rules only the runs of the largest profile that has any."""
    groups: dict[tuple[str, str, str], list[RunRecord]] = {}
    for record in records:
        groups.setdefault((record.spec.dataset.name, name_of(record), rules_of(record.spec)), []).append(record)
    found = []
    for group in groups.values():
        best = max(PROFILES.index(profile_of(record.spec)) for record in group)
        found += [record for record in group if profile_of(record.spec) == PROFILES[best]]
    return found


def score(record: RunRecord, split: str = "test") -> float:
    """The metric of the task on a split; NaN where it is not defined."""
    value = next(value for name, value in record.metrics[split].items() if name != "loss")
    return float("nan") if value is None else value


def score_cell(
    runs: Sequence[RunRecord],
    published: tuple[float, float] | None = None,
    assumed: bool = False,
    values: tuple[float, ...] | None = None,
) -> Cell:
    """The metric over some runs, or other values of theirs, marked where one was not made as published."""
    reduced = any(profile_of(run.spec) != "paper" for run in runs)
    other = any(rules_of(run.spec) != "paper" for run in runs)
    return Cell(tuple(map(score, runs)) if values is None else values, published, assumed, reduced, other)


def option(record: RunRecord, name: str) -> float:
    """A numeric option of the backbone, such as its depth; NaN where it has none."""
    return float(record.spec.backbone.options.get(name, float("nan")))


def name_of(record: RunRecord) -> str:
    """The name under which a run stands in tables."""
    return system_named(record.spec)


def system_named(spec: RunSpec) -> str:
    """The name of what a run trains: its field where it is a driven ODE."""
    if spec.backbone.name != "denots":
        return spec.backbone.name
    field = spec.backbone.options.get("field", "anti")
    return "denots" if field == "anti" else str(field)


def is_system(record: RunRecord, system: str) -> bool:
    """Whether a run belongs to a system; those of GRU-ODE are the synchronous ones at depth 1."""
    if system == "gru-ode":
        return name_of(record) == "sync" and option(record, "depth") == 1.0
    return name_of(record) == system
