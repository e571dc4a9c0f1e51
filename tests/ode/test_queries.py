"""The same question gets the same answer, whatever else is asked."""

import functools
import sys

import numpy as np
import pytest
import torch
from native_cases import assert_same_bits, smooth_path, solve_with_gradients

from denots import ode
from denots.fields import AntiFeedbackGRU, ControlledField
from denots.ode import Solution, solve

from oracles import scipy_states

ADAPTIVE = ["dopri5", "tsit5", "owrenzen4", "bosh3"]
SHARES = (0.0, 0.13, 0.5, 0.9, 1.0, 1.2, 1.2, 1.7, 3.0)  # of the way from the first to the last observation


@pytest.fixture(autouse=True, params=["reference", "native"])
def _both_backends(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "solve", functools.partial(ode.solve, backend=request.param))


def queries(path, shares) -> torch.Tensor:
    return path.t0[:, None] + (path.t1 - path.t0)[:, None] * torch.tensor(shares, dtype=torch.float64)


def assert_same(solution: Solution, one: torch.Tensor, other: torch.Tensor) -> None:
    """To the last bit; but the products of the reference round as torch does for the rows still under way."""
    if solution.backend == "native":
        assert_same_bits(one, other)
    torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("kind", [AntiFeedbackGRU, ControlledField])
def test_a_question_asked_alone_is_answered_as_among_others(method: str, kind: type) -> None:
    path, field = smooth_path(9, channels=2), kind(2, 5).double()
    h0 = torch.zeros(9, 5, dtype=torch.float64)
    options = {"rtol": 1e-3, "atol": 1e-3, "method": method}
    with torch.no_grad():
        among = solve(field, path, h0, at=queries(path, SHARES), **options).check()
        for k, share in enumerate(SHARES):
            alone = solve(field, path, h0, at=queries(path, [share]), **options).check()
            assert_same(alone, alone.states[:, 0], among.states[:, k])
        order = np.random.default_rng(0).permutation(len(SHARES))
        shuffled = solve(field, path, h0, at=queries(path, np.array(SHARES)[order]), **options).check()
    assert_same(shuffled, shuffled.states, among.states[:, order])


@pytest.mark.parametrize("method", ["rk4", "euler"])
def test_fixed_steps_do_not_change_with_the_questions_either(method: str) -> None:
    path, field = smooth_path(4, channels=2), AntiFeedbackGRU(2, 5).double()
    h0, options = torch.zeros(4, 5, dtype=torch.float64), {"rtol": 1.0, "atol": 1.0, "method": method, "step": 0.21}
    among = ode.solve(field, path, h0, at=queries(path, SHARES), **options).check()
    for k, share in enumerate(SHARES):
        alone = ode.solve(field, path, h0, at=queries(path, [share]), **options).check()
        assert_same(alone, alone.states[:, 0], among.states[:, k])


def test_a_step_lands_on_the_end_of_the_observations_and_goes_on_with_the_step_planned_before() -> None:
    path, field = smooth_path(6, channels=2), AntiFeedbackGRU(2, 5).double()
    h0, options = torch.zeros(6, 5, dtype=torch.float64), {"rtol": 1e-4, "atol": 1e-4}
    end = solve(field, path, h0, **options).check()
    assert torch.equal(end.reached, path.t1)
    further = solve(field, path, h0, at=queries(path, [1.0, 1.0 + 1e-9]), **options).check()
    assert_same(further, further.states[:, :1], end.states)
    assert torch.equal(further.accepted, end.accepted + 1)
    assert (further.reached > path.t1 * (1 + 1e-3)).all()


@pytest.mark.parametrize("method", ["dopri5", "owrenzen4"])
def test_answers_inside_and_beyond_equal_scipys(method: str) -> None:
    path, field = smooth_path(3, channels=2), AntiFeedbackGRU(2, 5).double()
    h0, at = torch.randn(3, 5, dtype=torch.float64), queries(path, [0.37, 1.0, 1.4, 2.5])
    found = solve(field, path, h0, at=at, rtol=1e-9, atol=1e-9, method=method).check()
    for row in range(3):
        expected = scipy_states(field, path, row, h0[row].numpy(), at[row].numpy())
        np.testing.assert_allclose(found.states[row].detach().numpy(), expected, atol=2e-6)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_gradients_of_questions_inside_the_last_step_are_those_of_the_reference(method: str) -> None:
    path, field = smooth_path(7, channels=2), AntiFeedbackGRU(2, 5).double()
    h0, at = torch.randn(7, 5, dtype=torch.float64), queries(path, [0.3, 1.0, 1.31, 1.32])
    options = {"at": at, "rtol": 1e9, "atol": 1e9, "method": method, "to_path": True}
    (one, mine), (other, theirs) = (
        solve_with_gradients(field, path, h0, backend=backend, **options) for backend in ("native", "reference")
    )
    torch.testing.assert_close(one.states, other.states, rtol=1e-9, atol=1e-9)
    for name, gradient in theirs.items():
        torch.testing.assert_close(mine[name], gradient, rtol=1e-8, atol=1e-8, msg=name)
