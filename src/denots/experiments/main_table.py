"""All systems on the four data sets; the depth of the deep ODEs is chosen on the validation split, but not where nobody is tuned."""

from collections.abc import Sequence

from denots.experiments import published
from denots.experiments.exhibit import Cell, Exhibit, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.ranks import ranks_of_cells
from denots.experiments.runs import DEPTHS, RETIRED_TREES, Plan, is_system, option, quick_note, score, score_cell
from denots.runs.record import RunRecord

JUDGED_ON = ("uwgl", "pendulum", "sepsis", "insect-sound")
DEEP = ("denots", "sync")
PLANNED = (*published.MAIN, "constant", "last-value", "trees")
SHOWN = (*PLANNED[:-1], RETIRED_TREES, "trees")


class MainTable(Experiment):
    name = "main"
    title = "All systems on all data sets"
    shows = "main table and table of ranks"
    reduced = f"One seed and depths 1, 5 and 20. {quick_note(*JUDGED_ON)}"

    def plan(self, request: Request) -> Plan:
        plan, seeds = Plan(request), request.seeded(quick=1, paper=3)
        tried = request.of((1,), (1, 5, 20), DEPTHS)
        depths = [{}] if request.protocol == "best" else [{"depth": float(depth)} for depth in tried]
        for dataset in JUDGED_ON:
            for system in PLANNED:
                for options in depths if system in DEEP else [{}]:
                    plan.add(dataset, system, seeds, **options)
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        best = {(d, s): _chosen(records, d, s) for d in JUDGED_ON for s in SHOWN}
        rows = tuple(
            (_label(s, [best[d, s] for d in JUDGED_ON]), tuple(_cell(best[d, s], d, s) for d in JUDGED_ON))
            for s in SHOWN
            if s in published.MAIN or any(best[d, s] for d in JUDGED_ON)
        )
        return [
            Table("Test metric: accuracy, R2, AUROC, accuracy", JUDGED_ON, rows),
            _ranked(best),
        ]


def _cell(runs: Sequence[RunRecord], dataset: str, system: str) -> Cell:
    return score_cell(runs, published.MAIN.get(system, {}).get(dataset))


def _label(system: str, chosen: Sequence[Sequence[RunRecord]]) -> str:
    if system not in DEEP:
        return system
    depths = [f"{option(runs[0], 'depth'):g}" if runs else "-" for runs in chosen]
    return f"{system} (depth {' / '.join(depths)})"


def _stands_for(record: RunRecord, system: str) -> bool:
    """Whether a run may fill a cell of a system; where no depth is chosen, GRU-ODE is no synchronous ODE of depth 1."""
    if record.spec.protocol == "best" and system == "sync" and is_system(record, "gru-ode"):
        return False
    return is_system(record, system)


def _chosen(records: Sequence[RunRecord], dataset: str, system: str) -> list[RunRecord]:
    """The runs of a system at the depth that is best on the validation split, on average over seeds."""
    by_depth: dict[float, list[RunRecord]] = {}
    for record in records:
        if record.spec.dataset.name == dataset and _stands_for(record, system):
            by_depth.setdefault(0.0 if system not in DEEP else option(record, "depth"), []).append(record)
    if not by_depth:
        return []
    return max(by_depth.values(), key=lambda runs: sum(score(r, "val") for r in runs) / len(runs))


def _ranked(best: dict[tuple[str, str], list[RunRecord]]) -> Table:
    columns: dict[str, dict[str, int]] = {}
    for dataset in JUDGED_ON:
        columns[dataset] = ranks_of_cells({s: _cell(best[dataset, s], dataset, s) for s in published.MAIN})
    rows = tuple(
        (
            system,
            tuple(f"{columns[d].get(system, '-')} (paper {published.RANKS[system][d]})" for d in JUDGED_ON),
        )
        for system in published.MAIN
    )
    note = "1 + the number of systems that are better by a one-sided t-test (pooled variance, three runs, p < 0.1)."
    return Table("Ranks", JUDGED_ON, rows, note)
