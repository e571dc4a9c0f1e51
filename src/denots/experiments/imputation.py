"""Does the advantage on Sepsis survive when every system fills holes alike and is told where they are?"""

from collections.abc import Sequence
from dataclasses import replace

from denots.experiments import published
from denots.experiments.exhibit import Cell, Exhibit, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import Plan, is_system, option, quick_note, score_cell
from denots.protocol import Protocol
from denots.runs.record import RunRecord

SHOWN = ("gru", "mamba2", "tempformer", "roformer", "gru-ode", "denots")
PROTOCOLS: tuple[Protocol, ...] = ("paper", "fair")
DEPTH = 5.0


class Imputation(Experiment):
    name = "imputation"
    title = "Sepsis with equal imputation"
    shows = "a question that the paper leaves open"
    reduced = f"One seed. {quick_note('sepsis')}"
    compares_rules = True

    def plan(self, request: Request) -> Plan:
        plan = Plan(request)
        for protocol in PROTOCOLS:
            part = Plan(replace(request, protocol=protocol))
            for system in SHOWN:
                part.add(
                    "sepsis",
                    system,
                    request.seeded(quick=1, paper=3),
                    **({"depth": DEPTH} if system == "denots" else {}),
                )
            plan.runs += part.runs
            plan.left_out += [reason for reason in part.left_out if reason not in plan.left_out]
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        def cell(system: str, protocol: str) -> Cell:
            runs = [
                r
                for r in records
                if r.spec.dataset.name == "sepsis" and r.spec.protocol == protocol and is_system(r, system)
            ]
            if system == "denots":
                runs = [r for r in runs if option(r, "depth") == DEPTH]
            return score_cell(runs, published.MAIN[system]["sepsis"] if protocol == "paper" else None)

        rows = tuple((system, tuple(cell(system, protocol) for protocol in PROTOCOLS)) for system in SHOWN)
        columns = ("as published: zeros for ODEs, carried values for the others", "zeros and presence for all")
        return [Table("AUROC on Sepsis", columns, rows)]
