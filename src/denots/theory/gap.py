"""The gap assumption: does a longer gap between observations always raise the error of a Gaussian process?

In float64 the kernel matrix of a squared-exponential process is singular for all but short sequences, and a comparison of
posterior variances is decided by rounding; with enough digits it can be decided.
"""

from typing import Any

import numpy as np

from denots.errors import InvalidOption
from denots.shapes import FloatArray


def draw(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray, float, float]:
    """Times with ends 0 and 1, the same with all from a random one on shifted, and where to look in each."""
    times, shift = np.sort(rng.random(n)), rng.random()
    times[0], times[-1] = 0.0, 1.0
    split, at = int(rng.integers(1, n)), float(rng.random())
    moved = times + shift * (np.arange(n) >= split)
    return times, moved, at, at + shift * (times[split] < at)


def variance(times: FloatArray, at: float) -> float:
    """Posterior variance at a time, in float64; numpy's LinAlgError where the matrix is singular."""
    kernel = np.exp(-((times[:, None] - times) ** 2) / 2)
    cross = np.exp(-((times - at) ** 2) / 2)
    return float(1 - cross @ np.linalg.solve(kernel, cross))


def exact_variance(times: FloatArray, at: float, digits: int) -> Any:
    """The same by a Cholesky factor with that many digits; too few make a pivot negative, and raise."""
    import mpmath

    with mpmath.workdps(digits):
        knots = [mpmath.mpf(float(t)) for t in times]
        square = [[mpmath.exp(-((a - b) ** 2) / 2) for b in knots] for a in knots]
        cross = [mpmath.exp(-((a - mpmath.mpf(at)) ** 2) / 2) for a in knots]
        factor: list[list[Any]] = []
        solved: list[Any] = []
        for i, row in enumerate(square):
            line: list[Any] = []
            for j in range(i):
                line.append((row[j] - mpmath.fdot(line, factor[j][:j])) / factor[j][j])
            pivot = row[i] - mpmath.fdot(line, line)
            if pivot <= 0:
                raise InvalidOption(f"{digits} digits are too few for {len(times)} times; give more.")
            line.append(mpmath.sqrt(pivot))
            factor.append(line)
            solved.append((cross[i] - mpmath.fdot(line[:-1], solved)) / line[i])
        return 1 - mpmath.fdot(solved, solved)


def digits_for(n: int) -> int:
    """Enough to keep the smallest pivot, which falls faster than exponentially with n."""
    return 60 + 8 * n
