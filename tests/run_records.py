"""Records with chosen numbers, for tests of what is made of them."""

from typing import Any

from denots.experiments.experiment import Profile, Request
from denots.experiments.runs import Plan
from denots.protocol import Protocol
from denots.runs.record import RunRecord, versions
from denots.runs.spec import RunSpec


def spec(
    dataset: str, system: str, seed: int = 0, profile: Profile = "quick", protocol: Protocol = "paper", **options: Any
) -> RunSpec:
    plan = Plan(Request(profile, protocol))
    plan.add(dataset, system, [seed], **options)
    return plan.runs[0]


def record(of: RunSpec, test: float, val: float = 0.0, evaluations: float | None = None, **extra: Any) -> RunRecord:
    return RunRecord(
        spec=of,
        status="ok",
        metrics={"val": {"R2": val, "loss": 1.0}, "test": {"R2": test, "loss": 1.0}},
        curve=[{"epoch": 0, "loss": 1.0}],
        parameters=10,
        evaluations=None if evaluations is None else {"mean": evaluations, "max": evaluations},
        failed=0,
        seconds=60.0,
        test_seconds=1.0,
        versions=versions(),
        extra=extra,
    )
