"""Does anti-phase feedback remember where it is provably stable?"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from denots.experiments.exhibit import Cell, Curve, Exhibit, Panel, Picture, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import Plan, name_of, option, quick_note, score_cell
from denots.experiments.sine_mix import DEPTH, HARDER
from denots.ode.solve import solve
from denots.runs.record import RunRecord
from denots.runs.run import Trial
from denots.theory.trajectory import contraction, driven, follow, tightened
from denots.training.model import Model

SHOWN = ("sync", "denots", "none")
SERIES = 32
NUDGE = 1e-3


@torch.no_grad()
def memory(model: Model, problem: Trial) -> dict[str, list[float]] | None:
    """Over the second half of each series: how contracting the field is, and what is left of a nudge half-way.

    A logarithmic norm that is negative all along proves that any two states come closer, so that
    whatever the first half wrote is being forgotten; the nudge says how fast.
    """
    if getattr(model.backbone.config, "field", None) not in ("sync", "anti", "none"):
        return None
    part = problem.test.series
    series = part.select(np.arange(min(SERIES, len(part))))
    exact = tightened(model)
    path, backbone = follow(exact, series), driven(exact)
    half = len(path.shares) // 2
    growth = contraction(exact, path)[:, half:]
    start = path.states[:, half]
    nudge = torch.randn(start.shape, generator=torch.Generator().manual_seed(0), dtype=start.dtype)
    nudge *= NUDGE / nudge.norm(dim=1, keepdim=True)
    inputs = backbone.prepare(series.select(path.solved.numpy()))
    late = replace(inputs.path, t0=(inputs.path.t0 + inputs.path.t1) / 2)
    ends = [
        solve(backbone.field, late, h0, rtol=1e-8, atol=1e-10, input_map=backbone.drive(inputs)).states[:, -1]
        for h0 in (start, start + nudge)
    ]
    left = (ends[1] - ends[0]).norm(dim=1) / NUDGE
    return {
        "log norm": growth.mean(dim=1).tolist(),
        "stable": (growth < 0).double().mean(dim=1).tolist(),
        "left": left.tolist(),
    }


class Memory(Experiment):
    name = "memory"
    title = "Does anti-phase feedback remember where it is provably stable?"
    shows = "a question that the paper leaves open"
    reduced = f"One seed. {quick_note(HARDER)}"
    measures = {"memory": memory}  # noqa: RUF012

    def plan(self, request: Request) -> Plan:
        plan = Plan(request)
        for system in SHOWN:
            plan.add(HARDER, system, request.seeded(quick=1, paper=3), depth=DEPTH)
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        curves, rows = [], []
        for system in SHOWN:
            runs = [
                r for r in records if name_of(r) == system and option(r, "depth") == DEPTH and r.extra.get("memory")
            ]
            means = [{key: _mean(values) for key, values in r.extra["memory"].items()} for r in runs]
            cells = tuple(Cell(tuple(mean[key] for mean in means)) for key in ("stable", "log norm", "left"))
            rows.append((system, (score_cell(runs), *cells)))
            dots = tuple(
                (norm, left, f"{system}, seed {r.spec.seed}, series {i}: {left:.2g} of a nudge is left")
                for r in runs
                for i, (norm, left) in enumerate(
                    zip(r.extra["memory"]["log norm"], r.extra["memory"]["left"], strict=True)
                )
                if left is not None and left > 0
            )
            curves.append(Curve(system, runs=dots))
        columns = ("test R2", "share of the time provably stable", "mean logarithmic norm", "left of a nudge half-way")
        note = (
            "In the second half, where the answer has to be kept. Provably stable: the logarithmic norm of the field is negative. "
            "One assumption gives stability, error bounds and forgetting alike, so what remembers is not covered by it."
        )
        panel = Panel("Second half", "mean logarithmic norm", "left of a nudge half-way", tuple(curves), log_y=True)
        return [
            Table("Stability and memory on SineMix with a random second phase", columns, tuple(rows), note),
            Picture("Stability against memory, series by series", "memory", (panel,)),
        ]


def _mean(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else float("nan")
