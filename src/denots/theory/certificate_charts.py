"""Pictures of a certificate: norms of states against their bound, strength of feedback, growth, and memory."""

import numpy as np
import torch
from torch import Tensor

from denots.pages.chart import Chart, Line
from denots.shapes import FloatArray
from denots.theory.measurement import Measurement
from denots.theory.proof import Proof

FAR = 4.0  # times the largest norm, beyond which a bound is told and not drawn


def charts_of(proof: Proof, found: Measurement, unit: str) -> tuple[Chart, ...]:
    return (_norms(proof, found), _feedback(proof, found), _growth(proof, found), _memory(proof, found, unit))


def _spread(name: str, x: FloatArray, values: Tensor) -> Line:
    """The median of all series, with the band in which nine of ten lie."""
    low, middle, high = (values.double().nanquantile(q, dim=0).numpy() for q in (0.05, 0.5, 0.95))
    return Line(name, x, middle, low=low, high=high)


def _guide(name: str, x: FloatArray, value: float) -> Line:
    return Line(name, x[[0, -1]], np.array([value, value]), "guide")


def _norms(proof: Proof, found: Measurement) -> Chart:
    shares, norms = found.path.shares.numpy(), found.path.norms
    bound, largest = float(proof.box.state.magnitude.norm()), norms.amax(dim=0).numpy()
    lines = [_spread("|h|, nine of ten series", shares, norms), Line("largest", shares, largest)]
    near = bound <= FAR * float(largest.max())
    if near:
        lines.append(_guide("bound", shares, bound))
    note = "" if near else f"The bound, {bound:.3g}, lies above the picture."
    return Chart("Norm of the state", "share of elapsed time", "|h|", tuple(lines), note)


def _feedback(proof: Proof, found: Measurement) -> Chart:
    """Both sides of the paper's assumption, as bands: synchronous feedback against 1, anti-phase against its gate."""
    shares, gates = found.path.shares.numpy()[1:], found.gates
    update = gates.update[:, 1:] if proof.mirrored else torch.ones_like(gates.update[:, 1:])
    lines = (
        _spread("update, along h", shares, gates.along[:, 1:] * update),
        _spread("update, any direction", shares, gates.worst[:, 1:] * update),
        _spread("feedback", shares, gates.decay[:, 1:]) if proof.mirrored else _guide("feedback", shares, 1.0),
    )
    note = "Where the update in any direction stays below the feedback, the theorems of the paper hold."
    return Chart("Strength of feedback and update", "share of elapsed time", "strength", lines, note)


def _growth(proof: Proof, found: Measurement) -> Chart:
    steps = found.growth.shape[1]
    shares = (np.arange(steps) + 0.5) / steps
    lines = (
        _spread("logarithmic norm, nine of ten series", shares, found.growth),
        Line("largest", shares, found.growth.amax(dim=0).numpy()),
        _guide("zero", shares, 0.0),
    )
    note = f"Below zero, states near by approach each other. Proved on the box: at most {proof.rate:.3g}."
    return Chart("Growth of distances", "share of elapsed time", "per unit of the model's clock", lines, note)


def _memory(proof: Proof, found: Measurement, unit: str) -> Chart:
    lags = found.lags.flip(1).median(dim=0).values.numpy()
    lines = [_spread("largest influence, nine of ten series", lags, found.influence.flip(1))]
    if proof.rate < 0:
        lines.append(Line("proved, in its own norm", lags, np.exp(proof.rate * proof.clock * lags), "guide"))
    note = "How much of a small change of the state is left at the end."
    return Chart("Memory", f"{unit} before the end", "|∂h(T)/∂h(t)|", tuple(lines), note)
