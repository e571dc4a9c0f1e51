"""Theorems, lemmas and assumptions of the paper, each against numbers that it cannot argue with."""

from denots.experiments.check import Check, judged
from denots.theory.error_bounds import attained_error, late_noise_error, printed_bound, rate_of
from denots.theory.expressiveness import scaling_gap
from denots.theory.feedback import slope_at_zero, strengths
from denots.theory.spline_error import EXACT, PRINTED, natural_spline_error, spline_constant
from denots.theory.tolerance import coarse_error


def check_error_bound() -> Check:
    a, b, lipschitz = 0.1, 0.5, 0.5
    bound, right, attained = printed_bound(a, b, lipschitz, 1.0), rate_of(a, b, lipschitz) ** -2, attained_error()
    return judged(
        "Bound on the error of the state",
        f"At most (a / (b - a L))² times the squared noise: {bound:.4f} for a = 0.1, b = L = 0.5",
        f"f = L h with constant noise 1 meets every assumption and attains {attained:.3f}; "
        f"1 / (b - a L)² = {right:.3f} is right. The noise stands outside a f, the proof moves it inside.",
        holds=attained <= bound * (1 + 1e-6),
        rule="the attained error is not above the bound",
    )


def check_interval_bound() -> Check:
    errors = [late_noise_error(end) for end in (10, 100, 1000)]
    values = ", ".join(f"{error:.3g}" for error in errors)
    return judged(
        "No accumulation of errors in the final state",
        "The time-averaged noise bounds the final state, whatever the length",
        f"Noise of average 1 that comes late gives squared errors {values} after 10, 100 and 1,000 units of time.",
        holds=errors[-1] <= 2 * errors[0],
        rule="a hundred times the length does not double the squared error",
    )


def check_spline_constant() -> Check:
    claimed, right, measured = PRINTED, EXACT, spline_constant()
    return judged(
        "Error of spline interpolation of a rough process",
        f"4 √3 π⁴ / 63 = {claimed:.4f} times u Q δ⁴",
        f"Quadrature gives {measured:.4f}, which is 2 π⁴ (10 √3 - 3) / 315 = {right:.4f}; the paper is {claimed / right - 1:.1%} too large, "
        "so its lower bound fails on an even grid. The integral over the large arc does not vanish.",
        holds=abs(claimed / measured - 1) < 1e-3,
        rule="claimed and measured constant differ by less than 0.1 %",
    )


def check_spline_bound() -> Check:
    errors = [natural_spline_error(step) for step in (0.1, 0.05, 0.025)]
    values = ", ".join(f"{error:.1e}" for error in errors)
    return judged(
        "Error of the natural spline",
        "At most 5/384 δ⁴ times the fourth derivative: 0 for t²",
        f"Errors {values} for δ = 0.1, 0.05, 0.025. The bound is that of the clamped spline; natural ends cost O(δ²).",
        holds=max(errors) < 1e-9,
        rule="no error is above 1e-9",
    )


def check_scaling() -> Check:
    gap = scaling_gap()
    return judged(
        "Scaling time makes the model more expressive",
        "A new way to add depth",
        f"It is a gain on the field: states at depth 10 and of ten times the field differ by {'less' if gap < 1e-9 else 'more'} than 1e-9. No gain was compared with.",
        holds=gap >= 1e-9,
        rule="they differ by more than 1e-9",
        otherwise="misleading",
    )


def check_jacobian_lemma() -> Check:
    along, worst = strengths()
    return judged(
        "Strength of the update, measured as |J h| / |h|",
        "Bounds the Lipschitz constant",
        f"For f = h / |h| it is {along:.1f} while the largest singular value is {worst:.0f}: one direction says nothing of the others.",
        holds=worst <= along + 1e-9,
        rule="the largest singular value is not above it",
    )


def check_zero_field() -> Check:
    slope = slope_at_zero()
    return judged(
        "Assumption f(0, 0) = 0",
        "Holds for the fields used",
        f"A GRU with biases, as published, has |f(0, 0)| = {slope:.2f} at its start.",
        holds=slope < 1e-6,
        rule="|f(0, 0)| is below 1e-6",
    )


def check_tolerance() -> Check:
    error, calls = coarse_error()
    return judged(
        "Tolerance 1e-3",
        "Evaluations measure how deep the model is",
        f"On random walks of 60 points at depth 1 the solver makes {calls:.0f} evaluations and steps over observations: the last "
        f"state is off by up to {error:.0%}. The experiment on tolerance has the same for trained models.",
        holds=error < 0.01,
        rule="the last state is off by less than 1 %",
        otherwise="misleading",
    )
