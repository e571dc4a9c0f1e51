"""Is it forgetting, or the offset of the target, that makes synchronous feedback fail on SineMix?"""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import torch

from denots.experiments.exhibit import Exhibit, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import Plan, name_of, option, quick_note, score_cell
from denots.experiments.sine_mix import PUBLISHED
from denots.runs.record import RunRecord
from denots.runs.run import Trial
from denots.tasks.scale import Units
from denots.training.model import Model

SHOWN = ("sync", "denots")
DEPTHS = (10.0, 5.0)
UNITS: tuple[Units, ...] = tuple(reversed(get_args(Units)))


@torch.no_grad()
def saturation(model: Model, problem: Trial) -> dict[str, float]:
    """How large the components of the last state are, and how much they differ between series."""
    model.eval()
    encoded = model.backbone(model.backbone.prepare(problem.test.series))
    states = encoded.states[encoded.ok, -1].double()
    return {"size": float(states.abs().mean()), "differs": float(states.std(dim=0).mean())}


class Targets(Experiment):
    name = "targets"
    title = "What the scale of the target does"
    shows = "a question that the paper leaves open"
    reduced = f"One seed. {quick_note(PUBLISHED)}"
    measures = {"saturation": saturation}  # noqa: RUF012
    compares_rules = True

    def plan(self, request: Request) -> Plan:
        plan = Plan(replace(request, protocol="paper"))
        for depth in DEPTHS:
            for units in UNITS:
                for system in SHOWN:
                    plan.add(PUBLISHED, system, request.seeded(quick=1, paper=5), units, depth=depth)
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        rows = []
        for system in SHOWN:
            for units in UNITS:
                cells = []
                for depth in sorted(DEPTHS):
                    runs = [
                        r
                        for r in records
                        if name_of(r) == system and option(r, "depth") == depth and r.spec.target == units
                        and r.extra.get("saturation")
                    ]  # fmt: skip
                    found = [r.extra["saturation"] for r in runs]
                    cells.append(score_cell(runs))
                    cells += [
                        score_cell(runs, values=tuple(each[key] for each in found)) for key in ("size", "differs")
                    ]
                rows.append((f"{system}, {units} target", tuple(cells)))
        columns = tuple(
            f"depth {depth:g}: {what}"
            for depth in sorted(DEPTHS)
            for what in ("R2", "mean |h|", "spread of h over series")
        )
        note = (
            "Five epochs of 256 batches. A raw target lies around 12.5, a centred one around 0. States of synchronous feedback "
            "stay within 1: where a constant has to be expressed, they all go there and no longer tell one series from another."
        )
        return [Table("SineMix, by how the target is learnt", columns, tuple(rows), note)]
