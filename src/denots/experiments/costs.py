"""How long an epoch takes, system by system: what an empty cell would cost to fill."""

from time import perf_counter, process_time
from typing import Any

from denots.experiments.exhibit import Cell, Exhibit, Table
from denots.experiments.experiment import Request, Study
from denots.experiments.main_table import JUDGED_ON
from denots.experiments.published import FORECASTING, MAIN
from denots.experiments.results import Findings
from denots.experiments.runs import unavailable
from denots.runs.published import published_run
from denots.runs.run import run

SERIES = 400
BATCHES = 2
FIELDS = ("none", "relu", "tanh")
TIMED = {
    **{dataset: [*MAIN, *FIELDS, "constant", "last-value"] for dataset in JUDGED_ON},
    "sine-2": [*FIELDS, "sync", *FORECASTING["pendulum-angles"], "last-value"],
    **{dataset: [*FORECASTING[dataset], "last-value"] for dataset in ("pendulum-angles", "pendulum-angles-regular")},
}


def seconds_per_epoch(dataset: str, system: str) -> float:
    """Processor seconds for the batches of an epoch as published, by the quicker of two short epochs on few series.

    Where other programs run, too, what passed on the clock counts only as far as a processor was at it.
    """
    epoch = published_run(dataset, system).train.batches_per_epoch
    assert epoch is not None  # every published setting has a length
    short = {"max_epochs": 2, "batches_per_epoch": BATCHES}
    started, before = perf_counter(), process_time()
    record = run(published_run(dataset, system, size=SERIES, train=short))
    share = (process_time() - before) / (perf_counter() - started)
    return share * min(row["seconds"] for row in record.curve if row["seconds"] is not None) / BATCHES * epoch


class Costs(Study):
    name = "costs"
    title = "What an epoch costs"
    shows = "nothing: it says what empty cells would cost"
    reduced = "Nothing; in `smoke` DeNOTS on Pendulum alone."

    def options(self, request: Request) -> dict[str, Any]:
        return {"systems": request.of({"pendulum": ["denots"]}, TIMED, TIMED)}

    def make(self, options: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for dataset, systems in options["systems"].items():
            found[dataset] = unavailable(dataset) or {system: seconds_per_epoch(dataset, system) for system in systems}
        return found

    def shown(self, findings: Findings | None) -> list[Exhibit]:
        found = {} if findings is None else findings.findings
        known = {dataset: times for dataset, times in found.items() if isinstance(times, dict)}
        systems = dict.fromkeys(system for times in known.values() for system in times)
        rows = tuple((s, tuple(Cell((times[s],) if s in times else ()) for times in known.values())) for s in systems)
        note = f"By {BATCHES} batches of 128 series, as published; without validation. " + " ".join(
            f"{reason}." for reason in found.values() if isinstance(reason, str)
        )
        return [Table("Processor seconds an epoch", tuple(known), rows, note.strip(), digits=1)]
