"""Certificates at a great depth, and what test series do to them: `python -m benchmarks.boxes [--epochs 6]`.

DeNOTS, the same certified, Sync-NF and No-NF, trained on Pendulum at depth 20. For test series: how long the certificate takes, how many
of the trajectories leave the box that was proved, and how far an answer moves under an attack, the worst of several draws of random
signs on every value, beside what was proved of that very attack. A model that is refused is shown with the reason.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from rich.table import Table
from torch import Tensor

from benchmarks.tables import console
from denots import SeriesRegressor, SeriesSet, datasets
from denots.backbones.denots import DeNOTS
from denots.errors import NotCertifiable
from denots.paths import PATHS
from denots.paths.extremes import extremes
from denots.paths.slopes import append_slopes
from denots.theory.measurement import accurate, answers_of
from denots.theory.proof import certifiable, prove
from denots.theory.trajectory import follow

DEPTH, POINTS, ROUNDING = 20.0, 201, 1e-6
STRENGTH, DRAWS = 0.1, 5  # of the signs, in standard deviations of a channel
MODELS: dict[str, dict[str, Any]] = {
    "DeNOTS": {"field": "anti"},
    "DeNOTS, certified": {"field": "anti", "stability": "certified"},
    "Sync-NF": {"field": "sync"},
    "No-NF": {"field": "none"},
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Certificates at depth 20, and what test series do to them.")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--learnt", type=int, default=3000, help="training series")
    parser.add_argument("--tested", type=int, default=1000, help="test series")
    given = parser.parse_args(arguments)
    parts = datasets.load("pendulum").splits
    train, test = parts.train[: given.learnt], parts.test[: given.tested]
    table = Table("model", "R2", "certificate", "outside of the box", "largest change", "of what is proved")
    for name, own in MODELS.items():
        options = {"depth": DEPTH, "max_epochs": given.epochs, **own}
        model = SeriesRegressor("denots", options=options, random_state=0).fit(train)
        table.add_row(name, f"{model.score(test):.3f}", *judged(model, test))
    console.print(f"{len(train)} training series, {given.epochs} epochs, depth {DEPTH:g}, {len(test)} test series")
    console.print(table)


def judged(model: SeriesRegressor, test: SeriesSet) -> tuple[str, ...]:
    started = time.process_time()
    try:
        model.certify(test)
    except NotCertifiable as refusal:
        return f"refused: {refusal}", "", "", ""
    seconds = time.process_time() - started
    tight = accurate(model.fitted_.model)
    held = prove(tight, test).box.state.holds(follow(tight, test, POINTS).states, ROUNDING)
    inside = held.reshape(len(test), -1).all(dim=1)
    told, _ = answers_of(tight, test)
    rng, moved, share = np.random.default_rng(0), 0.0, 0.0
    for _ in range(DRAWS):
        signs = STRENGTH * rng.choice([-1.0, 1.0], size=test.values.shape)
        change, bound = under(tight, test, signs, told)
        moved, share = max(moved, float(change.max())), max(share, float((change / bound).max()))
    return (
        f"{seconds:.1f} s",
        f"{int((~inside).sum())} of {len(test)}",
        f"{moved:.3g}",
        f"{share:.1e}",
    )


def under(tight: Any, series: SeriesSet, signs: np.ndarray, told: Tensor) -> tuple[Tensor, Tensor]:
    """How far answers move where values do, by so many standard deviations, and how far they may by the proof."""
    backbone = certifiable(tight)
    channels = series.values.shape[1]
    scale = backbone.intake.scale[:channels].numpy()
    attacked = replace(series, values=series.values + signs * scale)
    moved, _ = answers_of(tight, attacked)
    if not moved.isfinite().all():
        raise SystemExit("an attacked series has no answer")
    proof = prove(tight, both(series, attacked))
    sizes = reach(backbone, replace(series, values=signs), len(proof.noisy))
    spans = (series.ends - series.start) * proof.clock
    bound = torch.tensor([proof.change(size, float(span)) for size, span in zip(sizes, spans, strict=True)])
    return (told - moved).abs().amax(dim=1), bound


def reach(backbone: DeNOTS, noise: SeriesSet, columns: int) -> Tensor:
    """The largest size of noise on every channel that the field reads: values first, their slopes last."""
    channels = noise.values.shape[1]
    clocked = replace(noise, times=noise.times / float(backbone.intake.time_scale))
    path = PATHS["natural-cubic"].fit(clocked, torch.float64).scale_time(backbone.config.depth)
    low, high = extremes(append_slopes(path, backbone.slope_scale))
    largest = torch.maximum(-low, high)
    sizes = torch.zeros(len(noise), columns, dtype=torch.float64)
    sizes[:, :channels], sizes[:, -channels:] = largest[:, :channels], largest[:, channels:]
    return sizes


def both(series: SeriesSet, attacked: SeriesSet) -> SeriesSet:
    return replace(
        series,
        times=np.tile(series.times, 2),
        values=np.concatenate([series.values, attacked.values]),
        offsets=np.concatenate([series.offsets, series.offsets[1:] + series.offsets[-1]]),
        start=np.tile(series.start, 2),
        ids=np.arange(2 * len(series)),
        target=None,
    )


if __name__ == "__main__":
    main()
