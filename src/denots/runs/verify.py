"""Make recorded runs again and compare every number."""

import random
from collections.abc import Iterable
from dataclasses import dataclass

from denots.runs.origin import code_version
from denots.runs.record import RunRecord
from denots.runs.run import run
from denots.systems import SYSTEMS

TIMES = ("seconds",)  # what no run repeats


@dataclass(frozen=True)
class Verified:
    """A record made again: the largest difference of a number and where it is; nowhere if all are equal to the last digit."""

    record: RunRecord
    difference: float = 0.0
    where: str = ""

    @property
    def same_code(self) -> bool:
        """Whether the code that made the record is known to be the code that made it again."""
        return self.record.origin.code == code_version() and not code_version().endswith("-dirty")

    @property
    def broken(self) -> bool:
        """The same code must give the same numbers."""
        return self.same_code and bool(self.where)


def choose(records: Iterable[RunRecord], count: int, *, seed: int, seconds: float) -> list[RunRecord]:
    """Random records of systems that this version has, each of which took no more than its share of the seconds."""
    able = [r for r in records if r.spec.backbone.name in SYSTEMS and r.seconds <= seconds / count]
    able.sort(key=lambda record: record.spec.fingerprint)
    return random.Random(seed).sample(able, min(count, len(able)))


def verify(record: RunRecord) -> Verified:
    """Run a record's spec again and compare metrics, learning curve, evaluations and failures."""
    return compare(record, run(record.spec))


def compare(record: RunRecord, again: RunRecord) -> Verified:
    if len(record.curve) != len(again.curve):
        return Verified(record, float("inf"), f"epochs: {len(record.curve)} then, {len(again.curve)} now")
    then, now = _numbers(record), _numbers(again)
    found = Verified(record)
    for name in sorted({*then, *now}):
        old, new = then.get(name), now.get(name)
        if old != new:
            far = float("inf") if old is None or new is None else abs(old - new)
            if not found.where or far > found.difference:
                found = Verified(record, far, f"{name}: {old} then, {new} now")
    return found


def _numbers(record: RunRecord) -> dict[str, float | None]:
    """Every number of a record that does not depend on the clock, by its place."""
    return {
        "failed": record.failed,
        "parameters": record.parameters,
        **{f"evaluations, {name}": value for name, value in (record.evaluations or {}).items()},
        **{f"{split} {name}": value for split, found in record.metrics.items() for name, value in found.items()},
        **{
            f"epoch {epoch}, {name}": value
            for epoch, row in enumerate(record.curve, start=1)
            for name, value in row.items()
            if name not in TIMES
        },
    }
