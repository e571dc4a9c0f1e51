"""Random fields that nobody trains, driven by a series: where do their states go, and for how long are they there?"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.fields import FIELDS, VectorField
from denots.inference.drive import Drive
from denots.ode.trajectory import Trajectory, trajectory
from denots.paths.path import Path, path_of
from denots.paths.slopes import append_slopes
from denots.shapes import FloatArray

KINDS = ("anti", "sync", "tanh")  # in turn
DEPTHS = (0.3, 2.0)  # decades of how long a field takes for one span
GAINS = (-0.3, 0.7)  # decades of what a usual input does to a gate
RADII = (0.5, 2.5)  # of the spectrum of a recurrent matrix
OUTER_RADIUS = 1.5  # of the outer matrix of a field of two layers
TOLERANCE = 1e-2
MOST_STEPS = 1_000_000
LONGEST = 10.0  # spans; what is longer runs faster
SAMPLE = 64  # training series from which thresholds are taken
QUANTILES = (0.02, 0.98)  # of the time that a state spends below a threshold
BLOCK = 256  # series that are solved at once
POOLS = ("last", "mean", "highest", "lowest")  # beside the shares of time above thresholds


class RandomFields(TransformerMixin, BaseEstimator):
    """Features of irregular series by untrained DeNOTS, Sync and tanh fields of many depths, gains and radii.

    Standardised values and slopes of a series drive them. Of each state it is told for which share of the time it is
    above thresholds, its last, mean, highest and lowest value, along all steps that the solver accepted. Thresholds
    are random quantiles of what the state does on training series. The features of a series whose values overflow are NaN.

    Args:
        fields: how many.
        states: of each.
        thresholds: of each state.
        path: how observations are joined.
    """

    def __init__(
        self, fields: int = 33, states: int = 32, thresholds: int = 3, *, path: str = "linear", random_state: Any = 0
    ) -> None:
        self.fields = fields
        self.states = states
        self.thresholds = thresholds
        self.path = path
        self.random_state = random_state

    def fit(self, X: SeriesSet, y: Any = None) -> Self:
        """Draw the fields and learn scale, clock and thresholds from the series."""
        for name in ("fields", "states", "thresholds"):
            if getattr(self, name) < 1:
                raise InvalidOption(f"{name} must be at least 1; got {getattr(self, name)!r}.")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        self.drive_ = Drive.fit(X)
        steepness = np.sqrt(np.square(self._curves(X).slopes.numpy()).mean(axis=0))
        self.slope_scale_ = np.where(steepness > 0, steepness, 1.0)
        self.depth_ = 10 ** rng.uniform(*DEPTHS, self.fields)
        self.weights_ = draw_weights(rng, self.fields, 2 * len(steepness), self.states)
        sample = X.select(np.sort(rng.permutation(len(X))[:SAMPLE]))
        below = rng.uniform(*QUANTILES, (self.fields, self.thresholds, self.states))
        signal = self._signal(sample)
        found = (self._run(k, signal) for k in range(self.fields))
        self.threshold_ = np.stack(
            [quantiles(run, share, sample.ids) for run, share in zip(found, below, strict=True)]
        ).astype(np.float32)
        return self

    def transform(self, X: SeriesSet) -> FloatArray:
        """One row a series; it depends on that series alone, to the last bit."""
        check_is_fitted(self)
        table = np.empty((len(X), self.fields, self.thresholds + len(POOLS), self.states), np.float32)
        for first in range(0, len(X), BLOCK):
            rows = np.arange(first, min(first + BLOCK, len(X)))
            signal = self._signal(X.select(rows))
            for k in range(self.fields):
                table[rows, k] = pool(self._run(k, signal), self.threshold_[k])
        return table.reshape(len(X), -1)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        check_is_fitted(self)
        pools = [*(f"above {t}" for t in range(self.thresholds)), *POOLS]
        names = [f"field{k} state{h} {it}" for k in range(self.fields) for it in pools for h in range(self.states)]
        return np.array(names, dtype=object)

    def state(self) -> dict[str, np.ndarray]:
        """Everything that `fit` learnt, as arrays."""
        check_is_fitted(self)
        own = {"slope_scale": self.slope_scale_, "depth": self.depth_, "threshold": self.threshold_}
        return {**self.drive_.state(), **own, **self.weights_}

    def restore(self, state: Mapping[str, np.ndarray]) -> Self:
        """Take over what another one learnt; arrays that do not fit together are refused."""
        self.drive_ = Drive.restore(state)
        channels = len(self.drive_.scale.centre)
        shapes = {
            "slope_scale": (channels,),
            "depth": (self.fields,),
            "threshold": (self.fields, self.thresholds, self.states),
            **weight_shapes(self.fields, 2 * channels, self.states),
        }
        for name, shape in shapes.items():
            if state[name].shape != shape:
                raise ValueError(f"{name} has shape {state[name].shape}; expected {shape}")
        self.slope_scale_, self.depth_, self.threshold_, *weights = (state[name] for name in shapes)
        self.weights_ = dict(zip(list(shapes)[3:], weights, strict=True))
        return self

    def _curves(self, series: SeriesSet) -> Path:
        """Each series from its first knot, at time zero, to its last, in spans; those of too many run faster."""
        path = path_of(self.drive_.curve(series, self.path))
        first, last = path.times[path.begin], path.times[path.end - 1]
        pace = 1 / torch.clamp((last - first) / LONGEST, min=self.drive_.span)
        row = torch.repeat_interleave(torch.arange(len(path)), path.end - path.begin)
        return replace(
            path,
            times=(path.times - first[row]) * pace[row],
            values=path.values.double(),
            slopes=path.slopes.double() / pace[row, None],
            t0=torch.zeros_like(first),
            t1=(last - first) * pace,
        )

    def _signal(self, series: SeriesSet) -> Path:
        return append_slopes(self._curves(series), torch.from_numpy(self.slope_scale_)).to(torch.float32)

    def _run(self, k: int, signal: Path) -> Trajectory:
        field = build_field(self.weights_, k, signal.values.shape[1], self.states)
        return trajectory(
            field,
            signal.scale_time(float(self.depth_[k])),
            torch.zeros(len(signal), self.states),
            rtol=TOLERANCE,
            atol=TOLERANCE,
            method="bosh3",
            max_steps=MOST_STEPS,
        )


def _empty(kind: str, inputs: int, states: int) -> VectorField:
    """A field without numbers, so that nothing is drawn from torch's own generator."""
    with torch.device("meta"):
        return FIELDS[kind](inputs, states)


def weight_shapes(fields: int, inputs: int, states: int) -> dict[str, tuple[int, ...]]:
    """Of the weights of all fields of a kind, one after the other."""
    return {
        f"{kind}.{name}": (len(range(turn, fields, len(KINDS))), *weight.shape)
        for turn, kind in enumerate(KINDS)
        for name, weight in _empty(kind, inputs, states).named_parameters()
    }


def draw_weights(rng: np.random.Generator, fields: int, inputs: int, states: int) -> dict[str, FloatArray]:
    """Normal matrices, whose scale differs from field to field, and even biases."""
    drawn = {}
    gain, radius = 10 ** rng.uniform(*GAINS, fields), rng.uniform(*RADII, fields)
    scales = {"weight_ih": gain, "weight_hh": radius, "weight_out": np.full(fields, OUTER_RADIUS)}
    for full_name, shape in weight_shapes(fields, inputs, states).items():
        kind, name = full_name.split(".")
        if name in scales:
            own = scales[name][KINDS.index(kind) :: len(KINDS)]
            weight = rng.normal(size=shape) * own[:, None, None] / np.sqrt(shape[-1])
        else:
            weight = rng.uniform(-1, 1, shape)
        drawn[full_name] = weight.astype(np.float32)
    return drawn


def build_field(weights: Mapping[str, FloatArray], k: int, inputs: int, states: int) -> VectorField:
    place, turn = divmod(k, len(KINDS))
    field = _empty(KINDS[turn], inputs, states)
    own = {name: torch.from_numpy(weights[f"{KINDS[turn]}.{name}"][place]) for name, _ in field.named_parameters()}
    field.load_state_dict(own, assign=True)
    return field


def pool(found: Trajectory, threshold: FloatArray) -> FloatArray:
    """What each state did along each series [n, thresholds + pools, H]: shares of time above thresholds [T, H], POOLS.

    Between two accepted steps it goes in a straight line. A series that could not be solved has NaN.
    """
    times, states, offsets = found.times.numpy(), found.states.numpy(), found.offsets.numpy()
    firsts, lasts = offsets[:-1], offsets[1:] - 1
    following, share = steps_of(times, offsets)
    weight = share.astype(np.float32)[:, None]
    top, low = np.maximum(states, states[following]), np.minimum(states, states[following])
    rise = top - low
    moves = rise > 0
    inverse = 1 / np.where(moves, rise, 1)
    above = [np.where(moves, np.clip((top - level) * inverse, 0, 1), top > level) for level in threshold]
    sums = [np.add.reduceat(part * weight, firsts) for part in (*above, (top + low) / 2)]
    last, highest, lowest = states[lasts], np.maximum.reduceat(states, firsts), np.minimum.reduceat(states, firsts)
    pooled = np.stack([*sums[:-1], last, sums[-1], highest, lowest], axis=1)
    pooled[~found.solution.ok.numpy()] = np.nan
    return pooled


def steps_of(times: FloatArray, offsets: np.ndarray) -> tuple[np.ndarray, FloatArray]:
    """For each row of a trajectory the one after it in its series, and which share of the time of the series lies between.

    After the last row comes itself; it takes all of the time where it is alone.
    """
    firsts, lasts = offsets[:-1], offsets[1:] - 1
    following = np.arange(1, len(times) + 1)
    following[lasts] = lasts
    width = times[following] - times
    width[lasts[firsts == lasts]] = 1.0
    return following, width / np.repeat(np.add.reduceat(width, firsts), np.diff(offsets))


def quantiles(found: Trajectory, below: FloatArray, ids: np.ndarray) -> FloatArray:
    """Levels below which each state spends the shares `below` [T, H] of the time, all series together."""
    found.solution.check(ids.tolist())
    following, share = steps_of(found.times.numpy(), found.offsets.numpy())
    states = found.states.numpy()
    middle = (states + states[following]) / 2
    order = np.argsort(middle, axis=0, kind="stable")
    passed = np.cumsum(share[order], axis=0) / len(found.solution.status)
    place = np.minimum((passed[:, None, :] < below).sum(axis=0), len(middle) - 1)
    return np.take_along_axis(np.take_along_axis(middle, order, axis=0), place, axis=0)
