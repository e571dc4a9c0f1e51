"""The tables: order conditions, measured order, dense output."""

import numpy as np
import pytest
import torch
from scipy.integrate import RK45

from denots.ode.runge_kutta import interpolate, step
from denots.tableaus import DOPRI5, METHODS

pytestmark = pytest.mark.usefixtures("double")
DENSE_ORDER = {"dopri5": 4, "tsit5": 4, "owrenzen4": 4, "bosh3": 3, "rk4": 3, "euler": 1}


def swing(t: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
    """h' = cos(t) h, with the solution exp(sin t)."""
    return torch.cos(t)[:, None] * h


@pytest.mark.parametrize("name", METHODS)
def test_rows_of_the_table_sum_to_their_nodes(name: str) -> None:
    table = METHODS[name]
    np.testing.assert_allclose([sum(row) for row in table.stages], table.nodes, atol=1e-14)
    assert sum(table.weights) == pytest.approx(1.0, abs=1e-14)
    if table.error is not None:
        assert sum(table.error) == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize("name", METHODS)
def test_the_error_of_one_solve_falls_with_the_stated_order(name: str) -> None:
    table, errors = METHODS[name], []
    counts = (8, 16, 32, 64)
    for count in counts:
        t, h = torch.zeros(1), torch.ones(1, 1)
        dt = torch.full((1,), 2.0 / count)
        for _ in range(count):
            h, _ = step(table, swing, t, dt, h, swing(t, h))
            t = t + dt
        errors.append(abs(h.item() - np.exp(np.sin(2.0))))
    slope = np.polyfit(np.log(counts), np.log(errors), 1)[0]
    assert table.order - 0.2 < -slope < table.order + 0.8


@pytest.mark.parametrize("name", METHODS)
def test_dense_output_meets_both_ends_and_has_its_order_between(name: str) -> None:
    table, errors = METHODS[name], []
    sizes = (0.4, 0.2, 0.1, 0.05)
    for size in sizes:
        t, h, dt = torch.zeros(1), torch.ones(1, 1), torch.full((1,), size)
        h_new, slopes = step(table, swing, t, dt, h, swing(t, h))
        for theta, expected in ((0.0, h), (1.0, h_new)):
            torch.testing.assert_close(interpolate(table, h, dt, slopes, torch.full((1,), theta)), expected)
        inner = [interpolate(table, h, dt, slopes, torch.full((1,), th)).item() for th in (0.3, 0.6)]
        errors.append(np.abs(np.array(inner) - np.exp(np.sin(size * np.array([0.3, 0.6])))).max())
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope > DENSE_ORDER[name] + 0.5


def test_dopri5_is_the_table_of_scipy() -> None:
    np.testing.assert_allclose(DOPRI5.weights[:6], RK45.B, atol=1e-15)
    np.testing.assert_allclose(np.array(DOPRI5.error), -2 / 3 * RK45.E, atol=1e-15)
    np.testing.assert_allclose(np.array(DOPRI5.dense), RK45.P, atol=1e-7)


@pytest.mark.parametrize("name", [name for name, table in METHODS.items() if table.error is not None])
def test_no_jump_inside_a_step_escapes_the_error_estimate(name: str) -> None:
    """A slope that is one from some moment on: the estimate is far from nothing, wherever in the step that is."""
    table = METHODS[name]
    assert table.error is not None
    for moment in np.linspace(0.01, 0.99, 99):
        seen = abs(sum(e for e, node in zip(table.error, table.nodes, strict=True) if node >= moment))
        assert seen > 5e-4, f"a jump at {moment:.2f} of the step"
