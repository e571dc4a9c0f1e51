"""Independent judges, and series for them to judge."""

import itertools
from collections.abc import Callable

import numpy as np
import torch
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

from denots.data import SeriesSet
from denots.fields import VectorField
from denots.paths import Path


def gappy_series(
    lengths: tuple[int, ...] = (1, 2, 3, 7, 40), channels: int = 3, missing: float = 0.4, seed: int = 0
) -> SeriesSet:
    """Ragged series with holes everywhere, also at both ends; every series observes something."""
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.uniform(0.1, 5.0, length)) for length in lengths]
    values = [rng.normal(size=(length, channels)) for length in lengths]
    for table in values:
        table[rng.random(table.shape) < missing] = np.nan
        table[rng.integers(len(table)), rng.integers(channels)] = 1.0
    return SeriesSet.from_arrays(times, values, start=0.0)


def natural_spline(times: np.ndarray, values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """scipy's natural spline through the observed values of one channel, held outside them."""
    seen = ~np.isnan(values)
    knots, heights = times[seen], values[seen]
    if len(knots) == 0:
        return lambda t: np.zeros_like(t)
    if len(knots) == 1:
        return lambda t: np.full_like(t, heights[0])
    spline = CubicSpline(knots, heights, bc_type="natural")
    return lambda t: spline(np.clip(t, knots[0], knots[-1]))


def scipy_states(
    field: VectorField, path: Path, row: int, h0: np.ndarray, at: np.ndarray, rtol: float = 1e-11
) -> np.ndarray:
    """States [K, H] of one series at increasing times, by scipy's order 8 method, knot by knot."""
    rows = torch.tensor([row])

    def slope(t: float, h: np.ndarray) -> np.ndarray:
        # At a kink or a jump the path has the value after it, which is that of the next piece.
        time = torch.tensor([min(t, np.nextafter(right, left))], dtype=torch.float64)
        read = path.value if field.reads == "value" else path.derivative
        with torch.no_grad():
            return field(time, read(time, rows), torch.from_numpy(h)[None])[0].numpy()

    knots = path.times[path.begin[row] : path.end[row]].numpy()
    start = float(path.t0[row])
    stops = np.unique(np.concatenate([[start], knots[(knots > start) & (knots < at[-1])], at]))
    h, found = h0.copy(), {start: h0}
    for left, right in itertools.pairwise(stops):
        h = solve_ivp(slope, (left, right), h, method="DOP853", rtol=rtol, atol=1e-13).y[:, -1]
        found[right] = h
    return np.stack([found[t] for t in at])
