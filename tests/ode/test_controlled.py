"""The controlled field against scipy and closed forms: it lives on the slope of the signal."""

import numpy as np
import pytest
import torch

from denots.data import SeriesSet
from denots.fields import ControlledField
from denots.ode import solve
from denots.paths import PATHS, Linear, NaturalCubic, Path

from oracles import gappy_series, scipy_states

pytestmark = [pytest.mark.usefixtures("double"), pytest.mark.parametrize("backend", ["reference", "auto"])]
TIGHT = {"rtol": 1e-7, "atol": 1e-7, "max_steps": 100_000}


def constant_matrix(channels: int, states: int) -> tuple[ControlledField, torch.Tensor]:
    """A field whose matrix does not depend on the state, and that matrix."""
    field = ControlledField(channels, states)
    with torch.no_grad():
        field.weight_out.zero_()
    return field, torch.tanh(field.bias_out).detach().view(states, channels)


def one_cubic(values: torch.Tensor, slopes: torch.Tensor) -> Path:
    """A single piece from 0 to 1, without a knot on the way."""
    return Path(
        times=torch.tensor([0.0, 1.0]),
        values=values,
        slopes=slopes,
        begin=torch.tensor([0]),
        end=torch.tensor([2]),
        t0=torch.zeros(1),
        t1=torch.ones(1),
        present=torch.ones(1, values.shape[1], dtype=torch.bool),
    )


@pytest.mark.parametrize("name", PATHS)
def test_states_equal_scipys_on_every_path(name: str, backend: str) -> None:
    path = PATHS[name].fit(gappy_series((1, 4)))
    field, h0 = ControlledField(3, 4), torch.randn(2, 4)
    at = torch.stack([0.4 * path.t1, path.t1, path.t1 + 1.0], dim=1)
    found = solve(field, path, h0, at=at, backend=backend, **TIGHT).check()
    for row in range(2):
        expected = scipy_states(field, path, row, h0[row].numpy(), at[row].numpy(), rtol=1e-8)
        np.testing.assert_allclose(found.states[row].detach().numpy(), expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("kind", [NaturalCubic, Linear])
def test_a_constant_matrix_carries_the_increments_of_the_signal(kind, backend: str) -> None:
    path = kind.fit(gappy_series((2, 4)))
    field, matrix = constant_matrix(3, 4)
    h0, at = torch.randn(2, 4), torch.stack([0.3 * path.t1, 0.8 * path.t1, path.t1 + 1.0], dim=1)
    found = solve(field, path, h0, at=at, rtol=1e-6, atol=1e-6, backend=backend).check()
    for k in range(3):
        moved = path.value(at[:, k]) - path.value(path.t0)
        torch.testing.assert_close(found.states[:, k], h0 + moved @ matrix.T, rtol=0, atol=1e-3)


def test_a_held_signal_leaves_the_state_where_it_is(backend: str) -> None:
    path = NaturalCubic.fit(SeriesSet.from_arrays([[1.0, 2.0]], [[[3.0], [4.0]]], start=[0.5]))
    h0, at = torch.randn(1, 5), torch.tensor([[0.5, 0.9, 2.0, 2.5, 7.0]])
    states = solve(ControlledField(1, 5), path, h0, at=at, backend=backend, **TIGHT).states[0]
    torch.testing.assert_close(states[:2], h0.expand(2, 5), rtol=0, atol=1e-6)
    assert (states[2] - h0[0]).abs().max() > 1e-3
    torch.testing.assert_close(states[3:], states[2].expand(2, 5), rtol=0, atol=5e-5)


@pytest.mark.parametrize("start", [-0.3, 0.1, 1e-9])
def test_the_end_of_the_signal_belongs_to_the_signal(start: float, backend: str) -> None:
    """A last stage that rounds to just beyond the end would read slope zero and spoil the step."""
    ends = np.linspace(0.7, 1.3, 40)
    lines = SeriesSet.from_arrays([[start, end] for end in ends], [[[0.0], [1.0]]] * 40, start=[start] * 40)
    field, matrix = constant_matrix(1, 2)
    found = solve(field, Linear.fit(lines), torch.zeros(40, 2), rtol=1e-6, atol=1e-6, backend=backend).check()
    assert not found.rejected.any()
    torch.testing.assert_close(found.states[:, 0], matrix.T.expand(40, 2), rtol=1e-12, atol=1e-12)


def test_gradients_equal_finite_differences(backend: str) -> None:
    path = one_cubic(torch.randn(2, 3), torch.randn(2, 3))
    field, h0 = ControlledField(3, 3), torch.randn(1, 3).requires_grad_()
    with torch.no_grad():  # no ReLU opens or closes on the way: a kink inside a step has no derivative
        field.bias_hh.copy_(torch.tensor([6.0, -6.0, 5.0]))

    def loss() -> torch.Tensor:
        return solve(field, path, h0, rtol=1e-8, atol=1e-8, backend=backend).states.sin().sum()

    loss().backward()
    for tensor in (*field.parameters(), h0):
        index = tuple(int(torch.randint(size, ())) for size in tensor.shape)
        nudge = 1e-4
        with torch.no_grad():
            tensor[index] += nudge
            above = float(loss())
            tensor[index] -= 2 * nudge
            below = float(loss())
            tensor[index] += nudge
        assert float(tensor.grad[index]) == pytest.approx((above - below) / (2 * nudge), rel=1e-3, abs=1e-4)


def test_the_matrix_is_read_row_by_row(backend: str) -> None:
    field, matrix = constant_matrix(3, 2)
    for channel in range(3):
        values = torch.zeros(2, 3)
        values[1, channel] = 1.0
        path = one_cubic(values, values[1].expand(2, 3))
        found = solve(field, path, torch.zeros(1, 2), backend=backend, **TIGHT)
        torch.testing.assert_close(found.states[0, 0], matrix[:, channel])
