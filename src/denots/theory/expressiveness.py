"""How much an ODE can tell apart: Lipschitz constants of the map from a signal to a state at time t (theorem 1).

For h' = g(x, h) with g Lipschitz with constants M_x and M_h, |δh|' ≤ M_h |δh| + M_x |δx|. Distances of signals are in L²
on [0, t]. Fields ± M_h h + M_x x attain both, so no smaller functions of t will do.
"""

import math


def in_signal(field_in_input: float, field_in_state: float, time: float) -> float:
    """L_x(t) = M_x √((e^{2 M_h t} - 1) / (2 M_h))."""
    grown = math.expm1(2 * field_in_state * time) / (2 * field_in_state) if field_in_state else time
    return field_in_input * math.sqrt(grown)


def in_start(field_in_state: float, time: float) -> float:
    """L_h(t) = e^{M_h t} - 1, of the state without its start."""
    return math.expm1(field_in_state * time)


def scaling_gap(depth: float = 10.0) -> float:
    """Largest difference of states: time stretched by the depth, and the field multiplied by it.

    Only M_h t and M_x² t count above, so a depth is a gain: M_h = 10 up to time 1 is M_h = 1 up to time 10.
    """
    import numpy as np
    from scipy.integrate import solve_ivp

    from denots.shapes import FloatArray

    rng = np.random.default_rng(0)
    weight, drive = rng.normal(size=(4, 4)), rng.normal(size=4)

    def field(x: float, h: FloatArray) -> FloatArray:
        return np.tanh(weight @ h + drive * np.sin(x)) - h

    options = {"rtol": 1e-10, "atol": 1e-12}
    stretched = solve_ivp(lambda t, h: field(t / depth, h), (0, depth), np.zeros(4), **options)
    gained = solve_ivp(lambda s, h: depth * field(s, h), (0, 1), np.zeros(4), **options)
    return float(np.abs(stretched.y[:, -1] - gained.y[:, -1]).max())
