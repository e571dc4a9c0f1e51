"""Trajectories: every accepted step of a solve, against scipy and against the dense output of the same solve."""

import numpy as np
import pytest
import torch
from native_cases import DTYPES, EVERY, GRU, assert_same_bits, every_field, every_target, smooth_path

from denots.data import SeriesSet
from denots.errors import InvalidOption, NativeUnavailable
from denots.fields import FIELDS, AntiFeedbackGRU
from denots.ode import METHODS, Status, solve, trajectory
from denots.ode.native import pose, run, solution_of
from denots.paths import Linear

from oracles import scipy_states

LOOSE = {"rtol": 1e-3, "atol": 1e-3}
ADAPTIVE = [name for name, table in METHODS.items() if table.error is not None]


def start(n: int, states: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(n, states, dtype=dtype, generator=torch.Generator().manual_seed(3)) / 2


@every_target
@every_field
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("states", [5, 40])  # above 32 a tape has room for stages, too
def test_states_are_what_the_dense_output_of_the_same_solve_says_there(
    name: str, dtype: torch.dtype, states: int, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENOTS_TARGET", target)
    path, field, h0 = smooth_path(9, dtype, depth=20.0), EVERY[name](3, states).to(dtype), start(9, states, dtype)
    found = trajectory(field, path, h0, **LOOSE)
    rows = torch.nn.utils.rnn.pad_sequence(list(found.times.split(found.offsets.diff().tolist())), batch_first=True)
    asked = solve(field, path, h0, at=torch.maximum(rows, path.t0[:, None]), backend="native", **LOOSE)
    told = torch.cat([states[:count] for states, count in zip(asked.states, found.offsets.diff(), strict=True)])
    tolerance = 1e-12 if dtype is torch.float64 else 1e-5
    torch.testing.assert_close(found.states, told, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("name", ["anti", "tanh"])
def test_every_step_lies_on_the_way_that_scipy_goes(name: str, method: str) -> None:
    path, field, h0 = smooth_path(2), FIELDS[name](3, 4).double(), start(2, 4)
    found = trajectory(field, path, h0, rtol=1e-5, atol=1e-5, method=method)
    own = slice(found.offsets[1], found.offsets[2])
    wanted = scipy_states(field, path, 1, h0[1].numpy(), found.times[own].numpy(), rtol=1e-7)
    np.testing.assert_allclose(found.states[own], wanted, atol=2e-4)


@pytest.mark.parametrize("dtype", DTYPES)
def test_there_is_a_row_for_every_accepted_step_and_one_for_the_end(dtype: torch.dtype) -> None:
    path, field, h0 = smooth_path(30, dtype, depth=40.0), AntiFeedbackGRU(3, 8).to(dtype), start(30, 8, dtype)
    options = {"rtol": 1e-4, "atol": 1e-4, "method": "bosh3"}
    found, plain = trajectory(field, path, h0, **options), solve(field, path, h0, **options)
    assert torch.equal(found.offsets.diff(), plain.accepted + 1)
    assert plain.accepted.max() > 32  # several pieces of a tape
    first, last = found.offsets[:-1], found.offsets[1:] - 1
    assert torch.equal(found.times[first], path.t0)
    assert torch.equal(found.times[last], path.t1)
    assert_same_bits(found.states[first], h0)
    assert_same_bits(found.states[last], plain.states[:, 0])
    ascends = found.times.diff() > 0
    ascends[last[:-1]] = True
    assert ascends.all()


def test_the_way_of_a_series_has_the_same_bits_alone_and_with_any_number_of_threads() -> None:
    path, field = smooth_path(40, torch.float32, depth=10.0), AntiFeedbackGRU(3, 16)
    whole = trajectory(field, path, torch.zeros(40, 16), **LOOSE)
    alone = trajectory(field, path.select([7]), torch.zeros(1, 16), **LOOSE)
    own = slice(whole.offsets[7], whole.offsets[8])
    assert_same_bits(alone.states, whole.states[own])
    assert_same_bits(alone.times, whole.times[own])
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        assert_same_bits(trajectory(field, path, torch.zeros(40, 16), **LOOSE).states, whole.states)
    finally:
        torch.set_num_threads(threads)


def test_a_series_that_fails_keeps_its_steps_and_ends_with_nan_where_it_got_to() -> None:
    path, field = smooth_path(3, depth=1000.0), AntiFeedbackGRU(3, 4).double()
    found = trajectory(field, path, start(3, 4), **LOOSE, max_steps=50)
    assert (found.solution.status == Status.MAX_STEPS).all()
    last = found.offsets[1:] - 1
    assert found.states[last].isnan().all()
    assert torch.equal(found.times[last], found.solution.reached)
    before = torch.ones(len(found.times), dtype=torch.bool).index_fill(0, last, False)
    assert found.states[before].isfinite().all()
    assert torch.equal(found.offsets.diff(), found.solution.accepted + 1)


def test_a_path_of_one_moment_is_where_it_starts() -> None:
    series = SeriesSet.from_arrays([[2.0], [0.0, 1.0]], [[1.0], [2.0, 3.0]])
    h0 = start(2, 4)
    found = trajectory(AntiFeedbackGRU(1, 4).double(), Linear.fit(series, dtype=torch.float64), h0, **LOOSE)
    assert found.offsets[1] == 1
    assert found.times[0] == 2.0
    assert torch.equal(found.states[0], h0[0])
    assert found.solution.ok.all()


@pytest.mark.parametrize("name", GRU)
def test_what_the_kernels_cannot_do_is_refused_with_the_reason(name: str) -> None:
    class Own(FIELDS[name]):
        pass

    path, h0 = smooth_path(2), torch.zeros(2, 4, dtype=torch.float64)
    with pytest.raises(NativeUnavailable, match="keeps its steps, and it cannot do this: Own has no kernel"):
        trajectory(Own(3, 4).double(), path, h0, **LOOSE)
    with pytest.raises(NativeUnavailable, match="method 'rk4' has no kernel"):
        trajectory(FIELDS[name](3, 4).double(), path, h0, **LOOSE, method="rk4")
    with pytest.raises(NativeUnavailable, match=r"float32 and h0 is torch\.float64"):
        trajectory(FIELDS[name](3, 4), path, h0, **LOOSE)
    with pytest.raises(InvalidOption, match="tolerances must not be negative"):
        trajectory(FIELDS[name](3, 4).double(), path, h0, rtol=-1.0, atol=1.0)


def test_copies_that_do_not_fit_the_tape_are_refused() -> None:
    path, field, h0 = smooth_path(2), AntiFeedbackGRU(3, 4).double(), start(2, 4)
    posed = pose(field.kernel(), path, h0, queries=path.t1[:, None], method="bosh3", max_steps=1000, **LOOSE)
    problem, tape, found = run(*posed, record=True)
    offsets = np.cumsum([0, *(solution_of(found).accepted + 1).tolist()])
    given = {"offsets": offsets, "times": np.zeros(offsets[-1]), "states": np.zeros((offsets[-1], 4))}
    problem.steps(tape=tape, **given)
    shifted = offsets + np.array([0, 1, 0])
    bad = [
        ({"offsets": shifted}, "series 0 needs a row for each of its [0-9]+ steps, and one more"),
        ({"offsets": offsets[:2]}, "offsets: axis 0 has 2 entries; expected 3"),
        ({"offsets": offsets + 1}, "lead from 0 to the number of rows"),
        ({"times": given["times"][:-1]}, "lead from 0 to the number of rows"),
        ({"states": np.zeros((offsets[-1], 3))}, "states: axis 1 has 3 entries; expected 4"),
    ]
    for changes, message in bad:
        with pytest.raises(ValueError, match=message):
            problem.steps(tape=tape, **{**given, **changes})
    with pytest.raises(ValueError, match="recorded by another problem"):
        problem.steps(tape=run(*posed, record=True)[1], **given)
    with pytest.raises(TypeError):
        problem.steps(tape=tape, **{**given, "states": given["states"].astype(np.float32)})
