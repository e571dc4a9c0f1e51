"""Steps that land on every knot: what a state at a knot owes, and to whom."""

from dataclasses import replace

import pytest
import torch
from native_cases import DTYPES, EVERY, GIVEN_STEPS, assert_same_bits, every_field, smooth_path, solve_with_gradients
from torch import Tensor

from denots.fields import FIELDS
from denots.ode import solve
from denots.paths import Path

LANDING = {"rtol": 1e-3, "atol": 1e-3, "land_on_knots": True}
BACKENDS = ["native", "reference"]


def at_knots(path: Path) -> Tensor:
    """All knots of each series; behind its end, the last one again."""
    place = torch.arange(int((path.end - path.begin).max()))
    return path.times[torch.minimum(path.begin[:, None] + place, path.end[:, None] - 1)]


def cut(path: Path, knots: int) -> Path:
    """The first so many knots of each series."""
    end = torch.minimum(path.begin + knots, path.end)
    return replace(path, end=end, t1=path.times[end - 1])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", ["bosh3", "owrenzen4", "dopri5"])
def test_a_state_at_a_knot_has_the_same_bits_whatever_follows(method: str, backend: str) -> None:
    torch.manual_seed(0)
    path, field = smooth_path(9, torch.float32), FIELDS["anti"](3, 12)
    h0, at = torch.randn(9, 12), at_knots(cut(path, 6))
    options = {**LANDING, "method": method, "backend": backend, "at": at}
    with torch.no_grad():
        whole, short = solve(field, path, h0, **options), solve(field, cut(path, 6), h0, **options)
        assert_same_bits(whole.states, short.states)
        assert not torch.equal(
            *(solve(field, p, h0, **{**options, "land_on_knots": False}).states for p in (path, cut(path, 6)))
        )


@pytest.mark.parametrize("method", ["bosh3", "dopri5"])
def test_from_knot_to_knot_alone_has_the_bits_of_one_solve(method: str) -> None:
    torch.manual_seed(0)
    path, field = (
        smooth_path(2000, torch.float32),
        FIELDS["anti"](3, 12),
    )  # so many that t + (stop - t) is not always stop
    h = torch.randn(2000, 12)
    options = {**LANDING, "method": method}
    with torch.no_grad():
        whole = solve(field, path, h, at=at_knots(path), **options).states
        for knot in range(1, 8):
            begin = path.begin + knot - 1
            leg = replace(path, begin=begin, end=begin + 2, t0=path.times[begin], t1=path.times[begin + 1])
            h = solve(field, leg, h, **options).states[:, 0]
            assert_same_bits(h, whole[:, knot])


@every_field
@pytest.mark.parametrize("dtype", DTYPES)
def test_both_backends_agree_in_states_and_gradients(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    path, field = smooth_path(6, dtype), EVERY[name](3, 7).to(dtype)
    h0 = 0.5 * torch.randn(6, 7, dtype=dtype)
    given = {**GIVEN_STEPS, "land_on_knots": True, "at": at_knots(path), "method": "bosh3", "to_path": True}
    (native, ours), (plain, wanted) = (solve_with_gradients(field, path, h0, backend=b, **given) for b in BACKENDS)
    assert (native.accepted == path.end - path.begin - 1).all()
    assert torch.equal(native.accepted, plain.accepted)
    loose = {"rtol": 2e-4, "atol": 2e-4} if dtype is torch.float32 else {"rtol": 1e-9, "atol": 1e-9}
    torch.testing.assert_close(native.states, plain.states, **loose)
    for key, gradient in wanted.items():
        scale = float(gradient.abs().max())
        torch.testing.assert_close(ours[key] / scale, gradient / scale, **loose)


def test_many_steps_between_knots_lead_where_one_tight_solve_does() -> None:
    torch.manual_seed(0)
    path, field = smooth_path(6), FIELDS["anti"](3, 7).double()
    h0, tight = torch.randn(6, 7, dtype=torch.float64), {"rtol": 1e-10, "atol": 1e-10, "at": at_knots(path)}
    with torch.no_grad():
        landed, free = (solve(field, path, h0, land_on_knots=land, **tight) for land in (True, False))
    assert (landed.accepted > 2 * (path.end - path.begin)).any()
    torch.testing.assert_close(landed.states, free.states, rtol=1e-7, atol=1e-7)
