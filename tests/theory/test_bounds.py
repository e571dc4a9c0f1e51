"""Bounds of gated fields, attacked: from random weights, corners of boxes, gradient ascent and long horizons."""

import numpy as np
import pytest
import torch
from cells import KINDS, Case, inside, random_case, seen
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from denots.errors import NotCertifiable
from denots.fields import FIELDS
from denots.theory.box import invariant_box, is_invariant, reachable_box, tube
from denots.theory.comparison import compare, contraction, growth_over, push_of_inputs
from denots.theory.gru_cell import any_drive, cell_of, gates_on
from denots.theory.interval import Interval, affine
from denots.theory.lipschitz import (
    interval_bound,
    jacobian_interval,
    jacobians,
    lower_bound,
    power_iteration,
    spectral_bound,
)
from denots.theory.logarithmic_norm import largest_logarithmic_norm, logarithmic_norm

cases = st.builds(
    random_case,
    st.sampled_from(KINDS),
    st.integers(0, 10_000),
    size=st.integers(1, 6),
    channels=st.integers(1, 3),
    gain=st.sampled_from([0.1, 0.5, 1.0, 3.0]),
)
boxes = st.floats(0.1, 5.0)


@settings(max_examples=25, deadline=None)
@given(cases, boxes)
def test_gates_at_any_point_lie_in_the_intervals(case: Case, radius: float) -> None:
    box = Interval.symmetric(torch.full((case.cell.size,), radius, dtype=torch.float64))
    found = gates_on(case.cell, case.drive, box)
    x, h = inside(case.inputs, 200, 1), inside(box, 200, 2)
    z, n = case.field.gates(seen(case, x), case.cell.sign * h)
    assert found.z.holds(z.detach(), 1e-12).all()
    assert found.n.holds(n.detach(), 1e-12).all()


@settings(max_examples=12, deadline=None)
@given(cases, boxes)
def test_jacobians_at_any_point_lie_in_their_interval_and_below_the_comparison(case: Case, radius: float) -> None:
    box = Interval.symmetric(torch.full((case.cell.size,), radius, dtype=torch.float64))
    x, h = inside(case.inputs, 60, 1), inside(box, 60, 2)
    of_drive, of_state = jacobians(case.field, seen(case, x), h)
    assert jacobian_interval(case.cell, case.drive, box).holds(of_state, 1e-9).all()
    weight = case.field.weight_ih.detach()
    system = compare(case.cell, case.drive, box, weight)
    assert ((of_drive @ weight).abs() <= system.inputs + 1e-9).all()
    positive = torch.rand(20, case.cell.size, dtype=torch.float64)
    size = torch.where(torch.eye(case.cell.size, dtype=torch.bool), of_state, of_state.abs())
    growth = torch.einsum("pij,kj->pki", size, positive)
    worst = torch.einsum("pij,kj->pki", system.rows, positive).amax(dim=0)
    assert (growth <= worst + 1e-9).all()


@settings(max_examples=12, deadline=None)
@given(cases, boxes)
def test_lipschitz_constants_from_below_are_not_above_those_from_above(case: Case, radius: float) -> None:
    box = Interval.symmetric(torch.full((case.cell.size,), radius, dtype=torch.float64))
    x, h = inside(case.inputs, 60, 1), inside(box, 60, 2)
    low = lower_bound(case.field, seen(case, x), h)
    weight = case.field.weight_ih.detach()
    tight = interval_bound(case.cell, case.drive, box, weight)
    coarse = spectral_bound(case.cell, case.drive, box, weight)
    y, k = inside(case.inputs, 60, 3), inside(box, 60, 4)
    slopes = (case.field.slope(seen(case, x), h) - case.field.slope(seen(case, y), k)).norm(dim=1).detach()
    for below, right, above in zip(low, tight, coarse, strict=True):
        assert below <= right * (1 + 1e-9)
        assert right <= above * (1 + 1e-9)
    assert (slopes <= tight.in_input * (x - y).norm(dim=1) + tight.in_state * (h - k).norm(dim=1) + 1e-9).all()


def test_power_iteration_finds_the_largest_singular_value() -> None:
    matrices = torch.randn(20, 5, 7, dtype=torch.float64)
    judge = np.linalg.svd(matrices.numpy(), compute_uv=False)[:, 0]
    found = power_iteration(matrices, rounds=200).numpy()
    assert (found <= judge * (1 + 1e-12)).all()
    assert found == pytest.approx(judge, rel=1e-3)


@pytest.mark.parametrize("order", [1, 2, "inf"])
def test_the_logarithmic_norm_is_the_slope_of_the_norm_of_the_exponential(order) -> None:
    matrix, step = np.random.default_rng(0).normal(size=(5, 5)), 1e-7
    judge = (np.linalg.norm(expm(step * matrix), np.inf if order == "inf" else order) - 1) / step
    assert float(logarithmic_norm(torch.from_numpy(matrix), order)) == pytest.approx(judge, abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_logarithmic_norm_over_a_box_is_above_that_of_every_point(kind: str) -> None:
    case = random_case(kind, 3)
    box = Interval.symmetric(torch.ones(6, dtype=torch.float64))
    _, found = jacobians(case.field, seen(case, inside(case.inputs, 500, 1)), inside(box, 500, 2))
    bound = largest_logarithmic_norm(jacobian_interval(case.cell, case.drive, box))
    assert float(logarithmic_norm(found).max()) <= bound
    assert largest_logarithmic_norm(Interval.point(found[0])) == pytest.approx(float(logarithmic_norm(found[0])))


def climbed(case: Case, start: torch.Tensor, time: float, component: int, rounds: int = 4) -> torch.Tensor:
    """States of a signal that is turned, piece by piece, to drive one component as far out as it goes."""
    pieces, steps = 8, 10
    signal = inside(case.inputs, pieces, 5)
    best = []
    for _ in range(rounds):
        signal = signal.detach().requires_grad_(True)
        h, seen_states = start[None], []
        for x in signal:
            u = x[None] @ case.field.weight_ih.T + case.field.bias_ih
            for _ in range(steps):
                dt = time / pieces / steps
                k = case.field.slope(u, h)
                h = h + dt * case.field.slope(u, h + dt / 2 * k)
                seen_states.append(h[0])
        best += [state.detach() for state in seen_states]
        (gradient,) = torch.autograd.grad(h[0, component], signal)
        signal = torch.where(gradient > 0, case.inputs.high, case.inputs.low)
    return torch.stack(best)


def attack(case: Case, start: float, component: int, time: float) -> None:
    h0 = inside(Interval.symmetric(torch.full((case.cell.size,), start, dtype=torch.float64)), 1, 7)[0]
    box = reachable_box(case.cell, case.drive, Interval.point(h0), until=time)
    states = climbed(case, h0, time, component % case.cell.size)
    assert box.state.holds(states, 1e-3 * max(1.0, time)).all()  # second-order steps are off by less


@settings(max_examples=5, deadline=None)
@given(cases, st.floats(0.0, 3.0), st.integers(0, 5))
def test_no_trajectory_leaves_its_box_whatever_drives_it(case: Case, start: float, component: int) -> None:
    attack(case, start, component, 6.0)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(cases, st.floats(0.0, 30.0), st.integers(0, 5), st.sampled_from([0.5, 6.0, 30.0]))
def test_a_long_search_finds_no_trajectory_outside_of_its_box(
    case: Case, start: float, component: int, time: float
) -> None:
    attack(case, start, component, time)


def test_the_synchronous_box_lies_in_the_hull_of_start_and_one() -> None:
    case = random_case("sync", 1, gain=3.0)
    start = Interval.symmetric(torch.full((6,), 0.3, dtype=torch.float64))
    box = invariant_box(case.cell, case.drive, start)
    assert box is not None
    assert box.invariant
    assert (box.state.magnitude < 1).all()
    assert is_invariant(case.cell, case.drive, box.state)
    free = invariant_box(case.cell, any_drive(case.cell), start)
    assert free is not None
    assert (free.state.magnitude == 1).all()


def test_an_anti_phase_box_exists_for_small_weights_and_not_for_every_drive() -> None:
    case = random_case("anti", 2, gain=0.2)
    start = Interval.point(torch.zeros(6, dtype=torch.float64))
    box = invariant_box(case.cell, case.drive, start)
    assert box is not None
    assert is_invariant(case.cell, case.drive, box.state)
    assert invariant_box(case.cell, any_drive(case.cell), start) is None


def test_an_anti_phase_field_can_run_away_so_no_box_may_be_claimed() -> None:
    field = FIELDS["anti"](1, 1).double()
    with torch.no_grad():
        for weight, numbers in (
            ("weight_hh", [0, 4, 0]),
            ("bias_hh", [0, -1, 0]),
            ("bias_ih", [0, 0, 2]),
            ("weight_ih", [0, 0, 0]),
        ):
            getattr(field, weight).copy_(
                torch.tensor(numbers, dtype=torch.float64).reshape(getattr(field, weight).shape)
            )
    solved = solve_ivp(
        lambda t, h: field.slope(field.bias_ih[None], torch.tensor(h)[None])[0].detach().numpy(), (0, 60), [0.0]
    )
    assert solved.y[0, -1] > 50
    cell = cell_of(field)
    drive = Interval.point(field.bias_ih.detach())
    start = Interval.point(torch.zeros(1, dtype=torch.float64))
    assert invariant_box(cell, drive, start) is None
    held = tube(cell, drive, start, 60.0)
    assert not held.invariant
    assert held.state.high > solved.y[0].max()


@settings(max_examples=6, deadline=None)
@given(cases, st.floats(0.1, 4.0))
def test_trajectories_meet_and_part_no_faster_than_the_comparison_says(case: Case, time: float) -> None:
    size = case.cell.size
    starts = inside(Interval.symmetric(torch.ones(size, dtype=torch.float64)), 2, 3)
    box = reachable_box(case.cell, case.drive, Interval(starts.amin(0), starts.amax(0)), until=time)
    weight = case.field.weight_ih.detach()
    system = compare(case.cell, case.drive, box.state, weight)
    found = contraction(system)
    x = inside(case.inputs, 2, 9)
    ends = [_solved(case, h, x[0], time) for h in starts]
    distance = ((starts[0] - starts[1]).abs() / found.scale).max()
    with np.errstate(over="ignore"):  # a bound that says nothing
        bound = distance * np.exp(found.rate * time)
    assert ((ends[0] - ends[1]).abs() / found.scale).max() <= bound * (1 + 1e-6) + 1e-9
    moved = _solved(case, starts[0], x[1], time)
    bound = push_of_inputs(system, found, (x[0] - x[1]).abs()) * growth_over(found.rate, time)
    assert ((ends[0] - moved).abs() / found.scale).max() <= bound * (1 + 1e-6) + 1e-9


def _solved(case: Case, h: torch.Tensor, x: torch.Tensor, time: float) -> torch.Tensor:
    u = seen(case, x[None])
    solved = solve_ivp(
        lambda t, y: case.field.slope(u, torch.from_numpy(y)[None])[0].detach().numpy(),
        (0, time),
        h.numpy(),
        rtol=1e-9,
        atol=1e-11,
    )
    return torch.from_numpy(solved.y[:, -1])


def test_the_rate_of_one_matrix_is_its_perron_eigenvalue() -> None:
    case = random_case("sync", 4)
    point = Interval.point(torch.zeros(6, dtype=torch.float64))
    drive = Interval.point(seen(case, case.inputs.low[None])[0])
    system = compare(case.cell, drive, point, case.field.weight_ih.detach())
    _, jacobian = jacobians(case.field, drive.low[None], point.low[None])
    size = torch.where(torch.eye(6, dtype=torch.bool), jacobian[0], jacobian[0].abs())
    assert contraction(system).rate == pytest.approx(np.linalg.eigvals(size.numpy()).real.max(), abs=1e-6)


def test_affine_images_of_boxes_are_exact() -> None:
    weight, bias = torch.randn(4, 3), torch.randn(4)
    box = Interval(-torch.rand(3), torch.rand(3))
    corners = torch.cartesian_prod(*torch.stack([box.low, box.high], dim=1))
    values = corners @ weight.T + bias
    found = affine(weight, box, bias)
    torch.testing.assert_close(found.low, values.amin(dim=0))
    torch.testing.assert_close(found.high, values.amax(dim=0))


@pytest.mark.parametrize("kind", ["none", "tanh", "relu"])
def test_fields_without_feedback_are_refused_with_the_reason(kind: str) -> None:
    with pytest.raises(NotCertifiable, match=r"nothing pulls its state back.*Fit with field 'anti' or 'sync'"):
        cell_of(FIELDS[kind](2, 3))
