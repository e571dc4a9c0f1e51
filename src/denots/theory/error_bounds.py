"""How far noise in the slope moves the state: the bounds of the paper, corrected, and what refutes them as printed.

The perfect state follows h' = a f(x, h) - b h, the real one has noise ξ(t) beside the slope. If the difference of both
pulls together at the rate λ = b - a L > 0, then |δ|' ≤ -λ |δ| + |ξ|, whatever the norm.
"""

import math


def rate_of(a: float, b: float, lipschitz: float) -> float:
    """λ = b - a L."""
    return b - a * lipschitz


def printed_bound(a: float, b: float, lipschitz: float, noise: float) -> float:
    """The squared error as printed: (a ξ / (b - a L))². It has moved ξ inside of a f, and is too small by a² for it."""
    return (a * noise / rate_of(a, b, lipschitz)) ** 2


def pointwise_bound(rate: float, noise: float) -> float:
    """|δ(t)| ≤ ξ / λ at any time, if |ξ(t)| ≤ ξ at all times."""
    return noise / rate


def mean_square_bound(rate: float, noise: float) -> float:
    """(1/T) ∫ |δ|² ≤ (ξ / λ)², if (1/T) ∫ |ξ|² ≤ ξ²."""
    return (noise / rate) ** 2


def final_bound(rate: float, noise: float, end: float) -> float:
    """|δ(T)| ≤ ξ √(T (1 - e^{-2λT}) / 2λ), if (1/T) ∫ |ξ|² ≤ ξ²: averaged noise may come late, and then it adds up.

    By Cauchy and Schwarz from |δ(T)| ≤ ∫ e^{-λ(T - s)} |ξ(s)| ds; ξ(s) ∝ e^{-λ(T - s)} attains it.
    """
    return noise * math.sqrt(-end * math.expm1(-2 * rate * end) / (2 * rate))


def noise_of_interpolation(a: float, in_input: float, error: float) -> float:
    """ξ = a L_x e, in units of h per time: a signal that is off by e enters through a f."""
    return a * in_input * error


def averaged_interpolation_error(gap_errors: list[float], end: float) -> float:
    """e with e² = (1/T) Σ_k e_k, if ∫ |x̂ - x|² over gap k is e_k: a mean over time is made of integrals over gaps by
    their sum over the whole time, not by the worst of them.
    """
    return math.sqrt(math.fsum(gap_errors) / end)


def solver_bound(rate: float, errors: list[float], steps: list[float]) -> float:
    """Σ_k e^{-λ(T - t_k)} e_k: what errors e_k of steps, which end at t_k, leave of themselves in the end."""
    ends = [math.fsum(steps[: k + 1]) for k in range(len(steps))]
    return math.fsum(math.exp(-rate * (ends[-1] - at)) * error for at, error in zip(ends, errors, strict=True))


def attained_error(
    a: float = 0.1, b: float = 0.5, lipschitz: float = 0.5, noise: float = 1.0, end: float = 100.0
) -> float:
    """Squared difference of states of h' = a L h - b h, with and without constant noise: refutes `printed_bound`."""
    from scipy.integrate import solve_ivp

    solved = solve_ivp(lambda t, h: (a * lipschitz - b) * h + noise, (0, end), [0.0], rtol=1e-10, atol=1e-12)
    return float(solved.y[0, -1] ** 2)


def late_noise_error(end: float, decay: float = 0.45) -> float:
    """Squared final error if noise with time average 1 comes in the last unit of time: it grows with the time."""
    return end * ((1 - math.exp(-decay)) / decay) ** 2
