"""Pendulum: tell the damping of a pendulum from positions seen in irregular bursts, with gaps.

Per series: length ~ U(0.5, 10) m, angle ~ U(0, 2 pi) and velocity ~ U(-pi, pi) at time 0,
end T ~ U(3, 5) s, damping ~ U(1, 3) per second, which is the target. Observation times
are a Hawkes process on (0, T) whose rate gives about 300 points, the density of the
published results (lengths 226 to 407, median 315). Channels are x = sin(angle) and
y = -cos(angle), each with a tenth of its values missing. Times are in seconds from 0.
"""

from functools import partial

import numpy as np
import numpy.typing as npt

from denots.data.join import joined
from denots.data.series import SeriesSet
from denots.datasets.dataset import Recipe, SplitSizes, series_ids, stream
from denots.datasets.hawkes import draw_hawkes, offsets_of
from denots.datasets.pendulum_motion import Pendulums, angles_at
from denots.progress import track
from denots.shapes import FloatArray, IntArray

CHUNK = 256  # series drawn together; each chunk has its own random streams
MEAN_POINTS = 300
SOLVER_STEPS = 1024
BRANCHING = 0.5
MINIMUM_GAP = 1e-5  # seconds; closer times would be equal in float32
FEWEST_POINTS = 5
MISSING_SHARE = 0.1


def generate(name: str, seed: int, sizes: SplitSizes) -> dict[str, SeriesSet]:
    """Draw the three splits; `name` keeps the small set apart from the large one."""
    return {part: _draw_split(name, part, n, seed) for part, n in sizes._asdict().items()}


def _draw_split(name: str, part: str, n: int, seed: int) -> SeriesSet:
    chunks = [
        _draw_chunk(name, part, first, seed).select(np.arange(min(CHUNK, n - first)))
        for first in track(range(0, n, CHUNK), f"{name} {part}")
    ]
    return joined(chunks)


def _draw_chunk(name: str, part: str, first: int, seed: int) -> SeriesSet:
    """Always a full chunk, so that a series does not depend on how many are asked for."""
    rng = stream(seed, name, part, first, "motion")
    length = rng.uniform(0.5, 10, CHUNK)
    angle = rng.uniform(0, 2 * np.pi, CHUNK)
    velocity = rng.uniform(-np.pi, np.pi, CHUNK)
    horizon = rng.uniform(3, 5, CHUNK)
    damping = rng.uniform(1, 3, CHUNK)
    times, offsets = observation_times(stream(seed, name, part, first, "times"), horizon)
    theta = angles_at(Pendulums(length, angle, velocity, damping), times, offsets, steps=SOLVER_STEPS)
    values = np.stack([np.sin(theta), -np.cos(theta)], axis=1).astype(np.float32)
    gaps = stream(seed, name, part, first, "missing")
    for channel in values.T:
        channel[missing_rows(gaps, offsets)] = np.nan
    return SeriesSet(
        times=times,
        values=values,
        offsets=offsets,
        start=np.zeros(CHUNK),
        ids=series_ids(part, range(first, first + CHUNK)),
        channels=("x", "y"),
        target=damping,
        time_unit="s",
    )


def observation_times(
    rng: np.random.Generator, horizon: FloatArray, mean_points: float = MEAN_POINTS
) -> tuple[FloatArray, IntArray]:
    """Packed Hawkes times and offsets; a series with fewer than 5 events gets 5 equal steps from 0 instead."""
    rate = mean_points * (1 - BRANCHING) / (horizon - 1)
    times, offsets = draw_hawkes(rng, rate=rate, horizon=horizon, branching=BRANCHING, minimum_gap=MINIMUM_GAP)
    lengths = np.diff(offsets)
    short = np.flatnonzero(lengths < FEWEST_POINTS)
    if not len(short):
        return times, offsets
    owner = np.repeat(np.arange(len(horizon)), lengths)
    kept = ~np.isin(owner, short)
    times = np.concatenate([times[kept], np.linspace(0, horizon[short], FEWEST_POINTS).T.ravel()])
    owner = np.concatenate([owner[kept], np.repeat(short, FEWEST_POINTS)])
    order = np.lexsort((times, owner))
    return times[order], offsets_of(owner[order], len(horizon))


def missing_rows(rng: np.random.Generator, offsets: IntArray) -> npt.NDArray[np.bool_]:
    """Mark floor(0.1 (L - 1)) rows of every series, drawn without replacement; never its first row."""
    lengths = np.diff(offsets)
    place = np.arange(lengths.max())
    mask = place < lengths[:, None]
    ticket = np.full(mask.shape, np.inf)
    ticket[mask] = rng.uniform(size=offsets[-1])
    ticket[:, 0] = np.inf  # last in line, as is the padding
    drawn = place < np.floor(MISSING_SHARE * (lengths - 1))[:, None]
    missing = np.zeros_like(mask)
    np.put_along_axis(missing, np.argsort(ticket, axis=1), drawn, axis=1)
    return missing[mask]


PENDULUM = Recipe(
    name="pendulum",
    task="regression",
    metric="r2",
    description="Damping of a pendulum from irregular, gappy positions",
    sizes=SplitSizes(22937, 4915, 4916),
    generate=partial(generate, "pendulum"),
)

PENDULUM_SMALL = Recipe(
    name="pendulum-small",
    task="regression",
    metric="r2",
    description="Pendulum with 1/32 of the series, drawn afresh, to study overfitting",
    sizes=SplitSizes(717, 153, 154),
    generate=partial(generate, "pendulum-small"),
)
