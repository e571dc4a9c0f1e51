"""How long an epoch takes, system by system: what an empty cell would cost to fill."""

from time import perf_counter, process_time
from typing import Any

from denots.experiments.exhibit import Cell, Exhibit, Table
from denots.experiments.experiment import Request, Study
from denots.experiments.main_table import JUDGED_ON
from denots.experiments.published import MAIN
from denots.experiments.results import Findings
from denots.experiments.runs import unavailable
from denots.runs.published import published_run
from denots.runs.run import run

SERIES = 400
BATCHES = 2


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
        return {
            "datasets": request.of(["pendulum"], list(JUDGED_ON), list(JUDGED_ON)),
            "systems": request.of(["denots"], list(MAIN), list(MAIN)),
        }

    def make(self, options: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for dataset in options["datasets"]:
            reason = unavailable(dataset)
            found[dataset] = reason or {system: seconds_per_epoch(dataset, system) for system in options["systems"]}
        return found

    def shown(self, findings: Findings | None) -> list[Exhibit]:
        found = {} if findings is None else findings.findings
        known = {dataset: times for dataset, times in found.items() if isinstance(times, dict)}
        systems = [] if findings is None else findings.options["systems"]
        rows = tuple((s, tuple(Cell((times[s],)) for times in known.values())) for s in systems)
        note = f"By {BATCHES} batches of 128 series, as published; without validation. " + " ".join(
            f"{dataset}: {reason}." for dataset, reason in found.items() if dataset not in known
        )
        return [Table("Processor seconds an epoch", tuple(known), rows, note.strip(), digits=1)]
