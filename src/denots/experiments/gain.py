"""Is depth anything else than a gain on the field?"""

from collections.abc import Sequence

import numpy as np
import torch

from denots.backbones import DeNOTS
from denots.experiments.exhibit import Cell, Exhibit, Table
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import Plan, name_of, option, quick_note, score_cell
from denots.fields.gained import Gained
from denots.ode.solve import solve
from denots.runs.record import RunRecord
from denots.runs.run import Trial
from denots.theory.trajectory import driven, tightened
from denots.training.model import Model

DEEP = 20.0
VARIANTS: dict[str, tuple[float, float, bool]] = {  # depth, tolerance, learn_depth
    "depth 1": (1.0, 1e-3, False),
    "depth 1, tolerance 1e-6": (1.0, 1e-6, False),
    "learned, from 1": (1.0, 1e-3, True),
    "depth 20": (DEEP, 1e-3, False),
    "learned, from 20": (DEEP, 1e-3, True),
}
SERIES = 8


@torch.no_grad()
def gain_for_depth(model: Model, problem: Trial) -> dict[str, float] | None:
    """The learnt gain, and how far states at depth D are from those of D times the field at depth 1.

    Both are solved to 1e-8: the automatic first step knows an absolute length, so that at a loose
    tolerance the two take different steps.
    """
    if not isinstance(model.backbone, DeNOTS):
        return None
    part = problem.test.series
    backbone = driven(tightened(model).eval())
    inputs = backbone.prepare(part.select(np.arange(min(SERIES, len(part)))))
    depth = backbone.config.depth
    own = backbone.affine_field
    field = own if backbone.gain is None else Gained(own, backbone.gain)
    h0 = inputs.path.values.new_zeros(len(inputs), backbone.state_size)
    states, other = (
        solve(chosen, path, h0, rtol=1e-8, atol=1e-8, input_map=backbone.drive(inputs), backend="reference").states
        for chosen, path in ((field, inputs.path), (Gained(field, depth), inputs.path.scale_time(1 / depth)))
    )
    return {
        "gain": 1.0 if backbone.gain is None else float(backbone.gain),
        "state gap": float(((states - other).norm(dim=2) / states.norm(dim=2)).max()),
    }


class Gain(Experiment):
    name = "gain"
    title = "Is depth more than a gain on the field?"
    shows = "a question that the paper leaves open"
    reduced = f"One seed. {quick_note('bump')}"
    measures = {"gain": gain_for_depth}  # noqa: RUF012

    def plan(self, request: Request) -> Plan:
        plan = Plan(request)
        for depth, tolerance, learn in VARIANTS.values():
            seeds = request.seeded(quick=1, paper=3)
            plan.add("bump", "denots", seeds, depth=depth, tolerance=tolerance, learn_depth=learn)
        return plan

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        rows = []
        for name, (depth, tolerance, learn) in VARIANTS.items():
            runs = [
                r
                for r in records
                if name_of(r) == "denots" and (option(r, "depth"), option(r, "tolerance")) == (depth, tolerance)
                and bool(r.spec.backbone.options.get("learn_depth")) == learn and r.extra.get("gain")
            ]  # fmt: skip
            ends = tuple(depth * r.extra["gain"]["gain"] for r in runs)
            calls = tuple(r.evaluations["mean"] for r in runs if r.evaluations)
            gaps = tuple(r.extra["gain"]["state gap"] for r in runs if r.extra["gain"]["state gap"] is not None)
            gap = f"{max(gaps):.1e}" if gaps else "-"
            rows.append((name, (score_cell(runs), Cell(ends), Cell(calls), gap)))
        columns = ("test AUROC", "depth x gain", "evaluations per series", "largest difference to a fixed gain of D")
        note = (
            "A fixed gain of D on the field at depth 1 gives the same states as depth D (last column, both solved to 1e-8), so a "
            "fixed gain needs no row of its own. A tighter tolerance spends evaluations without moving the solution."
        )
        return [Table("Depth, tolerance and learned gain of DeNOTS on Bump", columns, tuple(rows), note)]
