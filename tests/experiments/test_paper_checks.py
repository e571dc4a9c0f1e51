"""The checks of the paper's statements, each against another way to the same number."""

import math

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.stats import ttest_ind_from_stats

from denots.datasets import Recipe
from denots.datasets.hawkes import draw_hawkes
from denots.datasets.sine import SINE_MIX, SINE_MIX_JUMP
from denots.errors import InvalidOption
from denots.experiments import paper_checks as checks
from denots.experiments import published
from denots.experiments import theory_checks as theory
from denots.experiments.gaps import digits_for, draw, exact_variance, variance


def test_every_check_has_words_and_a_verdict() -> None:
    for check in checks.CHECKS:
        found = check()
        assert found.topic
        assert found.found
        assert found.verdict in ("right", "wrong", "misleading")


FLIPS = {
    "check_error_bound": (theory, "attained_error", lambda: 0.01),
    "check_interval_bound": (theory, "late_noise_error", lambda end: 1.0),
    "check_spline_constant": (theory, "spline_constant", lambda: 4 * math.sqrt(3) * math.pi**4 / 63),
    "check_spline_bound": (theory, "natural_spline_error", lambda step: 1e-12),
    "check_jacobian_lemma": (theory, "strengths", lambda: (1.0, 1.0)),
    "check_zero_field": (theory, "slope_at_zero", lambda: 0.0),
    "check_scaling": (theory, "scaling_gap", lambda: 0.1),
    "check_tolerance": (theory, "coarse_error", lambda: (0.001, 100.0)),
    "check_improvement": (checks, "advantage", lambda dataset: (0.5, 0.01)),
    "check_ranks": (checks, "ranks", lambda scores: dict.fromkeys(scores, 99)),
    "check_missing": (checks, "missing_share", lambda length: 0.3),
    "check_lengths": (checks, "expected_points", lambda mean, horizon: 315.0),
    "check_transformers": (
        checks,
        "transformer_parameters",
        lambda channels: (1, published.PARAMETERS["uwgl"]["tempformer"]),
    ),
    "check_sepsis_cde": (checks, "cde_parameters", lambda channels: published.PARAMETERS["sepsis"]["neural-cde"]),
    "check_sine_mix": (checks, "first_frequency", lambda late: np.zeros(len(late))),
}


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__)
def test_a_verdict_follows_its_numbers(check, monkeypatch: pytest.MonkeyPatch) -> None:
    module, number, other = FLIPS[check.__name__]
    before = check()
    monkeypatch.setattr(module, number, other)
    after = check()
    assert {before.verdict, after.verdict} in ({"right", "wrong"}, {"right", "misleading"})
    assert before.rule
    assert before.rule == after.rule


def test_rows_drawn_with_replacement_are_a_quarter() -> None:
    rng = np.random.default_rng(0)
    seen = np.mean([len(np.unique(rng.integers(0, 600, 180))) / 600 for _ in range(400)])
    assert checks.missing_share(600) == pytest.approx(seen, abs=2e-3)
    assert checks.missing_share(600) == pytest.approx(0.259, abs=1e-3)


def test_the_second_half_of_sine_mix_tells_the_first_frequency_unless_its_phase_is_random() -> None:
    def told(recipe: Recipe) -> float:
        series = recipe.generate(7, recipe.sizes)["train"]
        late = series.values.astype(np.float64).reshape(len(series), 100)[:, 50:]
        return float(np.mean(abs(checks.first_frequency(late) - series.target) < 0.05))

    assert told(SINE_MIX) > 0.98
    assert told(SINE_MIX_JUMP) < 0.03


def test_the_noisy_state_attains_the_corrected_bound() -> None:
    assert theory.attained_error() == pytest.approx(1 / 0.45**2, rel=1e-6)
    assert theory.attained_error() > 99 * (0.1 / 0.45) ** 2


@pytest.mark.parametrize("end", [10.0, 100.0])
def test_late_noise_accumulates(end: float) -> None:
    solved = solve_ivp(lambda t, h: -0.45 * h + math.sqrt(end), (end - 1, end), [0.0], rtol=1e-10, atol=1e-12)
    assert theory.late_noise_error(end) == pytest.approx(solved.y[0, -1] ** 2, rel=1e-7)


def test_the_spline_constant_by_quadrature_over_the_whole_line() -> None:
    def lost(w: float) -> float:
        s = math.sin(math.pi * w) ** 2
        return w**-4 * (1 - w**-4 * s**2 / (math.pi**4 * (1 - 2 * s / 3)))

    parts = [(0.05, 1 - 1e-9), *((k + 1e-9, k + 1 - 1e-9) for k in range(1, 30))]
    whole = 2 * sum(quad(lost, *part)[0] for part in parts) + 2 * 0.05 * math.pi**4 / 45
    closed = 2 * math.pi**4 * (10 * math.sqrt(3) - 3) / 315
    assert theory.spline_constant() == pytest.approx(closed, rel=1e-6)
    assert whole == pytest.approx(closed, rel=2e-3)


def test_natural_ends_cost_the_second_order() -> None:
    errors = [theory.natural_spline_error(step) for step in (0.1, 0.05, 0.025)]
    assert errors == pytest.approx([9.8e-4, 2.5e-4, 6.1e-5], rel=0.03)


def test_points_of_the_hawkes_process_are_those_expected() -> None:
    rng, n = np.random.default_rng(0), 400
    horizon = np.full(n, 4.0)
    _, offsets = draw_hawkes(rng, rate=np.full(n, 100 * 0.5 / 3), horizon=horizon, branching=0.5, minimum_gap=0.0)
    assert checks.expected_points(100, 4.0) == pytest.approx(offsets[-1] / n, rel=0.03)


def test_transformer_counts_of_the_paper_follow_from_the_module_but_for_uwgl() -> None:
    assert checks.transformer_parameters(3)[1] == published.PARAMETERS["pendulum"]["roformer"]
    assert checks.transformer_parameters(2)[1] == published.PARAMETERS["insect-sound"]["roformer"]
    assert checks.transformer_parameters(4) == (published.PARAMETERS["uwgl"]["roformer"], 137_696)


def test_the_advantage_on_sepsis_alone_is_significant() -> None:
    gain, p = checks.advantage("sepsis")
    best = published.MAIN["gru-ode"]["sepsis"]
    assert best is not None
    judge = ttest_ind_from_stats(0.937, 0.005, 3, *best, 3, alternative="greater").pvalue
    assert (gain, p) == (pytest.approx(0.012), pytest.approx(judge))
    assert all(checks.advantage(d)[1] > 0.1 for d in ("uwgl", "insect-sound", "pendulum"))


def test_stretching_time_is_a_gain() -> None:
    assert theory.scaling_gap() < 1e-9


def test_variances_with_many_digits_agree_with_float64_where_that_can_tell() -> None:
    times = np.array([0.0, 2.5, 5.0, 9.0])
    assert float(exact_variance(times, 3.1, 50)) == pytest.approx(variance(times, 3.1), rel=1e-12)
    assert float(exact_variance(np.array([0.0]), 1.0, 30)) == pytest.approx(1 - math.exp(-1))


def test_more_digits_do_not_change_what_enough_digits_found() -> None:
    times, _, at, _ = draw(np.random.default_rng(1), 20)
    few, many = exact_variance(times, at, digits_for(20)), exact_variance(times, at, 2 * digits_for(20))
    assert 0 < few < 1
    assert mpmath.fabs(few / many - 1) < mpmath.mpf(10) ** -20


def test_too_few_digits_are_refused() -> None:
    times, _, at, _ = draw(np.random.default_rng(1), 20)
    with pytest.raises(InvalidOption, match="15 digits are too few for 20 times"):
        exact_variance(times, at, 15)


def test_the_shift_widens_one_gap_only() -> None:
    times, moved, at, moved_at = draw(np.random.default_rng(2), 12)
    steps = np.diff(moved) - np.diff(times)
    assert (steps > 1e-9).sum() == 1
    assert moved_at in (at, pytest.approx(at + steps.max()))


def test_a_coarse_tolerance_costs_accuracy_on_rough_input() -> None:
    error, calls = theory.coarse_error()
    deeper, more = theory.coarse_error(depth=20.0)
    assert 0.01 < error < 1
    assert deeper < error
    assert more > calls
