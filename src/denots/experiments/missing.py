"""What a full reproduction still lacks, and what it would cost."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from statistics import median

from denots.experiments.costs import Costs
from denots.experiments.experiment import Experiment, Request
from denots.experiments.gallery import findings_of
from denots.experiments.results import Results
from denots.experiments.runs import name_of, profile_of, system_named
from denots.runs.record import RunRecord
from denots.systems import SYSTEMS, Trained

HOUR = 3600


@dataclass(frozen=True)
class Missing:
    """Runs of a system on a data set that were not made.

    epoch: seconds of one, as measured last, else of recorded runs, which code of the past may have made; None where nobody
        has measured it.
    epochs: that its runs there have taken under the protocol, in the median, else those of all systems; None while there are none.
    """

    dataset: str
    system: str
    runs: int
    experiments: tuple[str, ...]
    epoch: float | None
    epochs: float | None

    def __str__(self) -> str:
        words = f"{self.dataset} {self.system}: {self.runs} runs ({', '.join(self.experiments)})"
        if not isinstance(SYSTEMS.find(self.system), Trained):
            return f"{words}, fitted at once, without epochs"
        if self.epoch is None:
            return f"{words}, cost not measured: denots reproduce costs"
        words += f", {self.epoch:.1f} s an epoch"
        return words if self.epochs is None else f"{words}, about {self.hours:.1f} h in all"

    @property
    def hours(self) -> float:
        return self.runs * (self.epoch or 0.0) * (self.epochs or 0.0) / HOUR


def missing(chosen: Collection[Experiment], results: Results, request: Request) -> list[Missing]:
    """By data set and system, the longest first; each run counts once, whichever experiments want it."""
    asked = replace(request, profile="paper")
    entries = results.runs.entries()
    recorded = {entry.record.spec.fingerprint for entry in entries}
    wanted: dict[tuple[str, str], dict[str, None]] = {}
    names: dict[tuple[str, str], dict[str, None]] = {}
    for experiment in chosen:
        for spec in experiment.plan(asked).runs:
            if spec.fingerprint not in recorded:
                place = spec.dataset.name, system_named(spec)
                wanted.setdefault(place, {})[spec.fingerprint] = None
                names.setdefault(place, {})[experiment.name] = None
    ours = {experiment.name for experiment in chosen}  # others keep records here, too, of sizes of their own
    asked_for = [entry.record for entry in entries if entry.experiments & ours and entry.record.curve]
    alike = [record for record in asked_for if record.spec.protocol == request.protocol]
    full = [record for record in alike if profile_of(record.spec) == "paper"]
    measured = None if request.protocol == "best" else findings_of(Costs(), results)  # which has other epochs
    costs = {} if measured is None else measured.findings
    found = []
    for (dataset, system), runs in wanted.items():
        made = [record for record in full if record.spec.dataset.name == dataset]
        own = [record for record in made if name_of(record) == system]
        timed = costs.get(dataset)
        epoch = timed.get(system) if isinstance(timed, dict) else None
        if epoch is None:
            epoch = _seconds(own)
        epochs = median(len(record.curve) for record in own or made) if made else None
        found.append(Missing(dataset, system, len(runs), tuple(names[dataset, system]), epoch, epochs))
    return sorted(found, key=lambda each: (-each.hours, each.dataset, each.system))


def _seconds(records: Sequence[RunRecord]) -> float | None:
    """Of an epoch, over some runs."""
    return sum(r.seconds for r in records) / sum(len(r.curve) for r in records) if records else None
