"""Is the negative feedback stronger than the update, along the trajectory?"""

from collections.abc import Sequence

import numpy as np
import torch

from denots.experiments.exhibit import Curve, Exhibit, Panel, Picture, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import Plan, name_of, option, quick_note, score_cell
from denots.runs.record import RunRecord
from denots.runs.run import Trial
from denots.theory.trajectory import Gates, follow, gates
from denots.training.model import Model

SHOWN = ("sync", "denots")
DEPTH = 5.0
SERIES = 64
LINES = {
    "update, along h": "what the paper measures: how much of the state comes back through the candidate",
    "update, any direction": "what its theorem needs: the largest singular value instead",
    "feedback": "what pulls the state back",
}


def feedback_strength(model: Model, problem: Trial) -> dict[str, list[float]] | None:
    """Mean strengths over the first test series, at shares of the elapsed time after the start; None without gates."""
    if getattr(model.backbone.config, "field", None) not in ("sync", "anti"):
        return None
    series = problem.test.series
    path = follow(model, series.select(np.arange(min(SERIES, len(series)))))
    found = _strengths(gates(model, path), model.backbone.config.field)
    return {
        "share": path.shares[1:].tolist(),
        **{name: value[:, 1:].mean(dim=0).tolist() for name, value in found.items()},
    }


def _strengths(found: Gates, field: str) -> dict[str, torch.Tensor]:
    """Both sides of the assumption: synchronous feedback compares with 1, the anti-phase one with its own gate."""
    if field == "sync":
        return {
            "update, along h": found.along,
            "update, any direction": found.worst,
            "feedback": torch.ones_like(found.along),
        }
    return {
        "update, along h": found.along * found.update,
        "update, any direction": found.worst * found.update,
        "feedback": found.decay,
    }


class Feedback(Experiment):
    name = "feedback"
    title = "Strength of negative feedback along the trajectory"
    shows = "figures of NF strength"
    reduced = f"One seed. {quick_note('pendulum')}"
    measures = {"feedback": feedback_strength}  # noqa: RUF012

    def plan(self, request: Request) -> Plan:
        plan = Plan(request)
        for system in SHOWN:
            plan.add("pendulum", system, request.seeded(quick=1, paper=5), depth=DEPTH)
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        panels, rows = [], []
        for system in SHOWN:
            shown = [
                r for r in records if name_of(r) == system and option(r, "depth") == DEPTH and r.extra.get("feedback")
            ]
            runs = [r.extra["feedback"] for r in shown]
            curves = []
            for line in LINES if runs else ():
                table = np.array([run[line] for run in runs], dtype=float)
                mean, spread = table.mean(axis=0), table.std(axis=0)
                curves.append(
                    Curve(line, runs[0]["share"], mean.tolist(), ((mean - spread).tolist(), (mean + spread).tolist()))
                )
            panels.append(Panel(f"{system}, depth {DEPTH:g}", "share of elapsed time", "strength", tuple(curves)))
            held = [
                tuple(float(np.mean(np.less(run[line], run["feedback"]))) for run in runs) for line in list(LINES)[:2]
            ]
            rows.append((system, tuple(score_cell(shown, values=values) for values in held)))
        note = (
            "; ".join(f"{name}: {words}" for name, words in LINES.items())
            + ". The paper: synchronous always below, anti-phase mostly."
        )
        return [
            Picture("Strength of negative feedback along the trajectory", "feedback", tuple(panels), note),
            Table("Share of the time for which feedback wins", tuple(LINES)[:2], tuple(rows)),
        ]
