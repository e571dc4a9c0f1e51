"""How far a cubic spline through observations lies from the signal: on average for rough ones, at worst for smooth ones."""

import math

import numpy as np

from denots.shapes import FloatArray

PRINTED = 4 * math.sqrt(3) * math.pi**4 / 63
EXACT = 2 * math.pi**4 * (10 * math.sqrt(3) - 3) / 315


def interval_error(intensity: float, step: float, channels: int = 1) -> float:
    """Expected ∫ |x̂ - x|² over one gap of an even grid: 2π⁴(10√3 - 3)/315 · u Q δ⁴.

    x has the spectral density Q / ω⁴ in each of u channels, the limit in which the posterior mean is a natural spline.
    """
    return EXACT * channels * intensity * step**4


def spline_constant() -> float:
    """The same constant by quadrature.

    The integrand is w⁻⁴ times the share that its aliases w + k take; summed over the aliases it
    lives on [-1/2, 1/2] and is smooth.
    """
    from scipy.integrate import quad

    k = np.arange(1, 2_000)

    def folded(w: float) -> float:
        own = w**-4
        others, squares = (float(np.sum((k + w) ** power + (k - w) ** power)) for power in (-4.0, -8.0))
        return (2 * own * others + others**2 - squares) / (own + others)

    return 2 * float(quad(folded, 1e-6, 0.5, epsabs=1e-10)[0])


def natural_bound(knots: FloatArray, fourth: float, bends: tuple[float, float]) -> FloatArray:
    """A bound of |x̂ - x| in each gap, for a signal with |x⁗| ≤ fourth and second derivatives `bends` at its ends.

    In gap j of n: 17/384 δ⁴ |x⁗| + δ_j²/8 (2⁻ʲ |x''(a)| + 2⁻⁽ⁿ⁻¹⁻ʲ⁾ |x''(b)|). The first part is that of a spline with the
    right bends at its ends: 5/384 for the cubic with the right bends at both knots, 1/32 for bends that are
    off by up to δ²/4 |x⁗|. The second is what it costs to call the bends at the ends zero; it fades by half from
    knot to knot, and is all that is left for a parabola.
    """
    width, gap = np.diff(knots), np.arange(len(knots) - 1)
    ends = 0.5**gap * abs(bends[0]) + 0.5 ** gap[::-1] * abs(bends[1])
    return np.asarray(17 / 384 * width.max() ** 4 * fourth + width**2 / 8 * ends)


def natural_spline_error(step: float) -> float:
    """Largest error of the natural spline through samples of t² on [0, 1]."""
    from scipy.interpolate import CubicSpline

    knots = np.linspace(0, 1, round(1 / step) + 1)
    fine = np.linspace(0, 1, 20_001)
    return float(np.abs(CubicSpline(knots, knots**2, bc_type="natural")(fine) - fine**2).max())
