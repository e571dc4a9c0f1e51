"""Pendulum-Angles: forecast the angle of a slowly damped pendulum, 32 observations a series.

Per series: length ~ U(2, 4) m, damping ~ U(0.2, 0.5) per second, angle ~ U(0, 2 pi) and
velocity ~ U(-pi, pi) at the first observation. The regular variant observes at 32 equal
steps from 0 to 10 s; the irregular one after gaps ~ Exp(mean 10 / 32 s), so its first
observation is later than 0 and its last is near 10 s. The channel is the unwrapped angle
in radians; there is no target, see `denots.datasets.forecasting`.
"""

from functools import partial
from typing import Literal

import numpy as np

from denots.data.join import joined
from denots.data.series import SeriesSet
from denots.datasets.dataset import Recipe, SplitSizes, series_ids, stream
from denots.datasets.pendulum_motion import Pendulums, angles_at

CHUNK = 256  # series drawn together; each chunk has its own random streams
POINTS = 32
HORIZON = 10.0  # seconds
SOLVER_STEPS = 4096  # weak damping: a pendulum that nearly stops upside down magnifies every error


def generate(name: str, spacing: Literal["regular", "irregular"], seed: int, sizes: SplitSizes) -> dict[str, SeriesSet]:
    return {
        part: joined(
            [
                _draw_chunk(name, part, spacing, first, seed).select(np.arange(min(CHUNK, n - first)))
                for first in range(0, n, CHUNK)
            ]
        )
        for part, n in sizes._asdict().items()
    }


def _draw_chunk(name: str, part: str, spacing: Literal["regular", "irregular"], first: int, seed: int) -> SeriesSet:
    """Always a full chunk, so that a series does not depend on how many are asked for."""
    rng = stream(seed, name, part, first, "motion")
    length = rng.uniform(2, 4, CHUNK)
    angle = rng.uniform(0, 2 * np.pi, CHUNK)
    velocity = rng.uniform(-np.pi, np.pi, CHUNK)
    damping = rng.uniform(0.2, 0.5, CHUNK)
    if spacing == "regular":
        times = np.tile(np.linspace(0, HORIZON, POINTS), (CHUNK, 1))
    else:
        gaps = stream(seed, name, part, first, "times").exponential(HORIZON / POINTS, (CHUNK, POINTS))
        times = np.cumsum(gaps, axis=1)
    offsets = np.arange(CHUNK + 1) * POINTS
    elapsed = (times - times[:, :1]).ravel()
    theta = angles_at(Pendulums(length, angle, velocity, damping), elapsed, offsets, steps=SOLVER_STEPS)
    return SeriesSet(
        times=times.ravel(),
        values=theta.astype(np.float32)[:, None],
        offsets=offsets,
        start=np.zeros(CHUNK),
        ids=series_ids(part, range(first, first + CHUNK)),
        channels=("theta",),
        time_unit="s",
    )


PENDULUM_ANGLES = Recipe(
    name="pendulum-angles",
    task="forecast",
    metric="r2",
    description="Forecast the angle of a pendulum seen at 32 random times",
    sizes=SplitSizes(1024, 256, 256),
    generate=partial(generate, "pendulum-angles", "irregular"),
)

PENDULUM_ANGLES_REGULAR = Recipe(
    name="pendulum-angles-regular",
    task="forecast",
    metric="r2",
    description="Forecast the angle of a pendulum seen at 32 equally spaced times",
    sizes=SplitSizes(1024, 256, 256),
    generate=partial(generate, "pendulum-angles-regular", "regular"),
)
