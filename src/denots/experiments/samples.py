"""One look at the data sets that the paper made up."""

from collections.abc import Sequence

import numpy as np

from denots.datasets import load
from denots.experiments.exhibit import Curve, Exhibit, Panel, Picture
from denots.experiments.experiment import Experiment, Request
from denots.experiments.runs import SMOKE_SIZES, Plan
from denots.runs.record import RunRecord

PUBLISHED_SEED = 42


class Samples(Experiment):
    name = "samples"
    title = "Samples of the synthetic data"
    shows = "figures of samples of Bump, SineMix and Sine-2"

    def plan(self, request: Request) -> Plan:
        return Plan(request)

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        pictures: list[Exhibit] = []
        for name in ("bump", "sine-mix", "sine-2"):
            train = load(name, seed=PUBLISHED_SEED, size=SMOKE_SIZES.get(name, 40)).splits.train
            target = np.zeros(len(train)) if train.target is None else np.asarray(train.target, dtype=float)
            rows = sorted({int(target.argmin()), int(target.argmax())}) if target.any() else [0, 1]
            curves = tuple(
                Curve(
                    f"series {row}" + (f", target {target[row]:.3g}" if target.any() else ""),
                    train[row].times.tolist(),
                    train[row].values[:, 0].tolist(),
                )
                for row in rows
            )
            panel = Panel(name, "time", train.channels[0], curves)
            pictures.append(Picture(f"Two series of {name}", f"sample-{name}", (panel,)))
        return pictures
