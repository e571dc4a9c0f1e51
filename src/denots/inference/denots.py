"""DeNOTS with given weights: stretch time by a depth, drive a neural ODE with the interpolated series."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from denots import kernels
from denots.data.series import SeriesSet
from denots.data.transforms import append_presence, fill_with_zeros
from denots.inference.curve import CURVES, Curve, append_slopes
from denots.inference.denots_config import DeNOTSConfig
from denots.inference.driven_curve import driven_curve
from denots.inference.intake import Intake
from denots.inference.network import Encoded
from denots.inference.solve import FieldKernel, solve, unsolved
from denots.shapes import BoolArray, FloatArray

POOLED_AT = np.arange(1, 17) / 16  # shares of the trajectory
EPSILON = 1e-5  # of batch normalisation


def unserved(options: DeNOTSConfig) -> str | None:
    """Why a model with such options is computed by torch alone; None where it is not."""
    if options.path not in CURVES:
        return f"path {options.path!r} is fitted by torch"
    if options.learn_depth or options.stability != "free":
        chosen = "learn_depth" if options.learn_depth else "stability"
        return f"{chosen} {getattr(options, chosen)!r} needs torch"
    return unsolved(options, options.field, options.state_size)


class InputMap(NamedTuple):
    """The map from raw channels that equals a weight times what is embedded, with one bias or one for each series."""

    weight: FloatArray
    bias: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class DeNOTS:
    """What `backbones.DeNOTS` does once it is trained; options and weights have the names that they have there."""

    options: DeNOTSConfig
    weights: Mapping[str, FloatArray]
    intake: Intake

    @classmethod
    def restore(cls, options: DeNOTSConfig, channels: int, weights: Mapping[str, FloatArray]) -> "DeNOTS":
        intake = Intake.restore(
            weights,
            channels,
            time="differences" if options.time_differences else "none",
            presence=bool(options.presence),
            ages=bool(options.ages),
        )
        return cls(options, weights, intake)

    def encode(self, series: SeriesSet, at: FloatArray | None = None) -> Encoded:
        curve, options = self._curve(series), self.options
        static = self.intake.static(series).astype(self._dtype)
        pooled = at is None and options.readout != "last"
        queries: FloatArray
        if pooled:
            queries = curve.t0[:, None] + (curve.t1 - curve.t0)[:, None] * POOLED_AT
        elif at is None:
            queries = curve.t1[:, None]
        else:
            queries = (at - series.start[:, None]) * (options.depth / self.intake.time_scale)
        solved = solve(
            self._field(curve),
            curve,
            self._first_state(curve, static),
            queries=queries,
            method=options.method,
            tolerance=options.solving(coarse=False)["rtol"],
            max_steps=options.max_steps,
        )
        states = pool(solved.states) if pooled else solved.states
        return Encoded(states, solved.ok, solved.evaluations)

    @property
    def _dtype(self) -> np.dtype[np.floating]:
        return self.weights["field.weight_hh"].dtype

    def _curve(self, series: SeriesSet) -> Curve:
        """The signal on the stretched clock."""
        options, scale = self.options, self.weights.get("slope_scale")
        if scale is not None and options.path == "natural-cubic" and options.holes == "bridge":
            curve = driven_curve(series, self.intake, options.depth, scale, self._dtype)
        else:
            curve = self._curve_by_steps(series)
        return curve if options.initial == "zero" else curve._replace(t0=curve.times[curve.begin])

    def _curve_by_steps(self, series: SeriesSet) -> Curve:
        observed = self.intake.observations(series)
        signal = observed if self.options.holes == "bridge" else fill_with_zeros(append_presence(observed))
        exact: np.dtype[np.floating] = np.dtype(np.float64) if self.options.slopes else self._dtype
        curve = CURVES[str(self.options.path)](signal, dtype=exact).scale_time(self.options.depth)
        if self.options.slopes:
            curve = append_slopes(curve, self.weights["slope_scale"]).to(self._dtype)
        return curve

    def _field(self, curve: Curve) -> FieldKernel:
        weights = self.weights
        drive = self._fold(weights["field.weight_ih"], weights["field.bias_ih"], curve.present)
        return FieldKernel.restore(str(self.options.field), weights, drive.weight, drive.bias)

    def _first_state(self, curve: Curve, static: FloatArray) -> FloatArray:
        weights, states = self.weights, self.weights["field.weight_hh"].shape[1]
        h0 = np.zeros((len(curve.begin), states), self._dtype)
        if self.options.initial == "first":
            start = self._fold(weights["from_first.weight"], weights["from_first.bias"], curve.present)
            h0 = h0 + kernels.linear_rows(curve.values[curve.begin], start.weight, start.bias)
        if "from_static.weight" in weights:
            h0 = h0 + kernels.linear_rows(static, weights["from_static.weight"], weights["from_static.bias"])
        return h0

    def _fold(self, weight: FloatArray, bias: FloatArray, present: BoolArray) -> InputMap:
        """The embedding of channels folded into what reads them; `backbones.embedding` says why that may be done."""
        bridged = self.options.holes == "bridge"
        if bridged and "embedding.gain" not in self.weights and "embedding.weight" not in self.weights:
            return InputMap(weight, bias)
        factor, offset = self._coefficients()
        split = weight[:, : factor.size].reshape(len(weight), *factor.shape)
        slopes = weight[:, factor.size :]
        by_value, by_presence = (split * factor).sum(axis=2), (split * offset).sum(axis=2)
        if not bridged:  # values with zeros in the holes, then 1 where one was observed
            return InputMap(np.concatenate([by_value, by_presence, slopes], axis=1), bias)
        seen = present[:, : len(factor)].astype(weight.dtype)
        own_bias = kernels.linear_rows(seen, np.ascontiguousarray(by_presence), bias)
        return InputMap(np.concatenate([by_value, slopes], axis=1), own_bias)

    def _coefficients(self) -> tuple[FloatArray, FloatArray]:
        """Factor and offset of every embedded feature [C, width]."""
        own = {name: self.weights.get(f"embedding.{name}") for name in ("gain", "shift", "weight", "bias")}
        factor, offset = (
            np.ones((len(self.intake.centre), 1), self._dtype),
            np.zeros((len(self.intake.centre), 1), self._dtype),
        )
        if own["gain"] is not None and own["shift"] is not None:
            mean, variance = (self.weights[f"embedding.running_{name}"] for name in ("mean", "var"))
            factor = (own["gain"] / np.sqrt(variance + EPSILON))[:, None]
            offset = own["shift"][:, None] - mean[:, None] * factor
        if own["weight"] is not None and own["bias"] is not None:
            factor, offset = own["weight"] * factor, own["weight"] * offset + own["bias"]
        return factor, offset


def pool(states: FloatArray) -> FloatArray:
    """The last state, the mean and the largest value of each component [n, 1, 3 H]."""
    total = states[:, 0]
    for k in range(1, states.shape[1]):  # one after the other: a reduction may choose its order by the number of series
        total = total + states[:, k]
    return np.concatenate([states[:, -1], total / states.shape[1], states.max(axis=1)], axis=1)[:, None]
