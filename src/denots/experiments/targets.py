"""Is it forgetting, or the offset of the target, that makes synchronous feedback fail on SineMix?"""

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import torch

from denots.experiments.exhibit import Cell, Exhibit, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import Plan, name_of, option, quick_note, score_cell
from denots.experiments.sine_mix import PUBLISHED
from denots.runs.record import RunRecord
from denots.runs.run import Trial
from denots.tasks.scale import Units
from denots.training.model import Model

SHOWN = ("sync", "denots")
DEPTHS = (10.0, 5.0)
STATE = {"size": "mean size of h", "differs": "spread of h over series"}
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
        known = [record for record in records if record.extra.get("saturation")]
        scores, states = [], []
        for system in SHOWN:
            for units in UNITS:
                runs = [
                    [r for r in known if (name_of(r), r.spec.target, option(r, "depth")) == (system, units, depth)]
                    for depth in DEPTHS
                ]
                row = f"{system}, {units} target"
                scores.append((row, tuple(map(score_cell, runs))))
                states.append((row, tuple(_cell(each, key) for each in runs for key in STATE)))
        columns = tuple(f"depth {depth:g}: {what}" for depth in DEPTHS for what in STATE.values())
        note = (
            "Five epochs of 256 batches. A raw target lies around 12.5, a centred one around 0. States of synchronous feedback "
            "stay within 1: where a constant has to be expressed, they all go there and no longer tell one series from another."
        )
        return [
            Table(
                "R2 on SineMix, by how the target is learnt",
                tuple(f"depth {depth:g}: R2" for depth in DEPTHS),
                tuple(scores),
            ),
            Table("States at the end of the test series", columns, tuple(states), note, digits=4),
        ]


def _cell(runs: Sequence[RunRecord], key: str) -> Cell:
    return score_cell(runs, values=tuple(r.extra["saturation"][key] for r in runs))
