"""The native core: wrong arguments are refused, threads and targets change nothing, faults are spoken of."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
from native_cases import EVERY, assert_same_bits, smooth_path

from denots import _native, kernels
from denots.fields import AntiFeedbackGRU
from denots.ode import solve

LOOSE = {"rtol": 1e-3, "atol": 1e-3, "backend": "native"}


def spline_arguments(**changes: object) -> dict[str, object]:
    rows = np.zeros((5, 2))
    given = {
        "kind": "linear",
        "offsets": np.array([0, 3, 5]),
        "times": np.array([0.0, 1.0, 2.0, 0.0, 1.0]),
        "observed": rows,
        "value": rows.copy(),
        "slope_before": rows.copy(),
        "slope_after": rows.copy(),
        "threads": 1,
    }
    return {**given, **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "quartic"}, "no spline is called quartic"),
        ({"offsets": np.array([0, 3, 6])}, "lead from 0 to the number of rows, 5"),
        ({"offsets": np.array([1, 3, 5])}, "lead from 0"),
        ({"offsets": np.array([], dtype=np.int64)}, "lead from 0"),
        ({"offsets": np.array([0, 4, 3, 5])}, "descend, as they do at series 1"),
        ({"times": np.zeros(4)}, "number of rows, 4"),
        ({"observed": np.zeros((4, 2))}, "observed: axis 0 has 4 entries; expected 5"),
        ({"value": np.zeros((5, 1))}, "value: axis 1 has 1 entries; expected 2"),
        ({"slope_after": np.zeros((4, 2))}, "slope_after: axis 0 has 4"),
        ({"threads": 0}, "threads: expected at least 1, got 0"),
    ],
)
def test_splines_of_wrong_shapes_are_refused(changes: dict[str, object], message: str) -> None:
    _native.fit_splines(**spline_arguments())
    with pytest.raises(ValueError, match=message):
        _native.fit_splines(**spline_arguments(**changes))


def drive_arguments(**changes: object) -> dict[str, object]:
    given = {
        "offsets": np.array([0, 3, 5]),
        "times": np.array([0.0, 1.0, 2.0, 0.5, 1.0]),
        "values": np.zeros((5, 2)),
        "centre": np.zeros(5),
        "scale": np.ones(5),
        "counted": True,
        "timed": True,
        "start": 0.0,
        "end": np.nan,
        "driven_offsets": np.array([0, 3, 6]),
        "driven_times": np.empty(6),
        "driven": np.empty((6, 5), np.float32),
        "threads": 1,
    }
    return {**given, **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offsets": np.array([0, 0, 5])}, "offsets: series 0 needs a row"),
        ({"offsets": np.array([0, 3, 6])}, "lead from 0 to the number of rows, 5"),
        ({"values": np.zeros((4, 2))}, "values: axis 0 has 4 entries; expected 5"),
        ({"centre": np.zeros(2)}, "centre: axis 0 has 2 entries; expected 5"),
        ({"timed": False}, "centre: axis 0 has 5 entries; expected 4"),
        ({"end": 1.5}, "driven_offsets: series 1 needs its rows and those at the ends of the clock"),
        ({"driven_offsets": np.array([0, 6])}, "driven_offsets: axis 0 has 2 entries; expected 3"),
        ({"driven": np.empty((5, 5), np.float32)}, "driven: axis 0 has 5 entries; expected 6"),
        ({"threads": 0}, "threads: expected at least 1, got 0"),
    ],
)
def test_drives_of_wrong_shapes_are_refused(changes: dict[str, object], message: str) -> None:
    _native.drive_rows(**drive_arguments())
    with pytest.raises(ValueError, match=message):
        _native.drive_rows(**drive_arguments(**changes))


def problem_arguments(**changes: object) -> dict[str, object]:
    method = kernels.method(
        3,
        0.9,
        {
            "nodes": np.array([0.0, 0.5, 0.75, 1.0]),
            "weights": np.array([[0, 0, 0, 0], [0.5, 0, 0, 0], [0, 0.75, 0, 0], [2 / 9, 1 / 3, 4 / 9, 0]]),
            "error": np.array([-5 / 72, 1 / 12, 1 / 9, -1 / 8]),
            "dense": np.ones((4, 3)),
        },
    )
    given = {
        "field": "gru-anti",
        "method": method,
        "rtol": 1e-3,
        "atol": 1e-3,
        "max_steps": 100,
        "begins": np.array([0, 2]),
        "ends": np.array([2, 4]),
        "times": np.array([0.0, 1.0, 0.0, 1.0]),
        "values": np.zeros((4, 1)),
        "slopes": np.zeros((4, 1)),
        "start": np.zeros(2),
        "stop": np.ones(2),
        "queries": np.array([[0.5, 1.0], [0.5, 1.0]]),
        "positions": np.array([[0, 1], [1, 0]]),
        "h0": np.zeros((2, 3)),
        "weight_hh": np.zeros((9, 3)),
        "bias_hh": np.zeros(9),
        "weight_in": np.zeros((9, 1)),
        "bias": np.zeros((1, 9)),
        "weight_out": np.zeros((0, 3)),
        "bias_out": np.zeros(0),
    }
    return {**given, **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"field": "gru-odd"}, "no field with a kernel is called gru-odd"),
        ({"stop": np.ones(3)}, "stop: axis 0 has 3 entries; expected 2"),
        ({"rtol": -1.0}, "rtol, atol"),
        ({"rtol": float("nan")}, "rtol, atol"),
        ({"max_steps": 0}, "max_steps: expected at least 1, got 0"),
        ({"ends": np.array([2, 5])}, "series 1 needs a knot, inside the signal"),
        ({"queries": np.array([[0.5, 1.0], [0.5, 0.4]])}, "queries: those of series 1 must be finite and ascend"),
        ({"queries": np.array([[np.nan, 1.0], [0.5, 1.0]])}, "queries: those of series 0"),
        ({"positions": np.array([[0, 0], [0, 1]])}, "positions: those of series 0"),
        ({"positions": np.array([[0, 1], [0, 2]])}, "positions: those of series 1"),
        ({"weight_hh": np.zeros((6, 3))}, "weight_hh: axis 0 has 6 entries; expected 9"),
    ],
)
def test_problems_of_wrong_shapes_are_refused(changes: dict[str, object], message: str) -> None:
    _native.Problem64(**problem_arguments())
    with pytest.raises(ValueError, match=message):
        _native.Problem64(**problem_arguments(**changes))


def test_a_method_with_a_stage_that_reads_nothing_is_refused() -> None:
    tables = {"nodes": np.array([0.0, 0.5, 1.0]), "error": np.ones(3), "dense": np.ones((3, 2))}
    with pytest.raises(ValueError, match="stage 1 reads no stage before it"):
        kernels.method(2, 0.9, {**tables, "weights": np.array([[0, 0, 0], [0, 0, 0], [0.5, 0.5, 0.0]])})
    weights = np.array([[0, 0, 0], [0.5, 0, 0], [0.5, 0.5, 0.0]])
    with pytest.raises(ValueError, match="all weights are zero"):
        kernels.method(2, 0.9, {**tables, "weights": weights, "error": np.zeros(3)})


def recorded(problem: _native.Problem64) -> tuple[_native.Tape | None, np.ndarray, np.ndarray]:
    status, accepted, others = np.zeros(2, np.int64), np.zeros(2, np.int64), np.zeros(2, np.int64)
    tape = problem.solve(
        states=np.zeros((2, 2, 3)),
        status=status,
        evaluations=others,
        accepted=accepted,
        rejected=others.copy(),
        reached=np.zeros(2),
        record=True,
        tape_budget=0,
        threads=1,
    )
    return tape, status, accepted


def pulled(problem: _native.Problem64, tape: object, status: np.ndarray, accepted: np.ndarray, **knots: object) -> None:
    shapes = {"weight_hh": (9, 3), "bias_hh": 9, "weight_in": (9, 1), "bias": (1, 9), "weight_out": (0, 3)}
    gradients = {name: np.zeros(shape) for name, shape in {**shapes, "bias_out": 0, "h0": (2, 3)}.items()}
    states = np.ones((2, 2, 3))
    problem.pull_back(tape=tape, states=states, status=status, accepted=accepted, threads=2, **gradients, **knots)


def test_a_tape_of_another_problem_or_other_counts_are_refused() -> None:
    mine, other = _native.Problem64(**problem_arguments()), _native.Problem64(**problem_arguments())
    tape, status, accepted = recorded(mine)
    pulled(mine, tape, status, accepted)
    with pytest.raises(ValueError, match="recorded by another problem"):
        pulled(other, tape, status, accepted)
    with pytest.raises(ValueError, match="the tape of series 0 says otherwise"):
        pulled(mine, tape, status, np.zeros(2, np.int64))


def test_gradients_of_knots_that_series_share_are_refused() -> None:
    shared = {"begins": np.array([0, 0]), "ends": np.array([2, 2])}
    problem = _native.Problem64(**problem_arguments(**shared))
    found = recorded(problem)
    pulled(problem, *found)
    with pytest.raises(ValueError, match="share knots"):
        pulled(problem, *found, values=np.zeros((4, 1)), slopes=np.zeros((4, 1)))


@pytest.mark.parametrize("name", EVERY)
def test_the_target_of_a_solve_stays_with_its_tape(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above 32 states tapes keep stages, in a layout of their target: read by another one, that is other memory."""
    path, field = smooth_path(5, torch.float32), EVERY[name](3, 40)
    gradients = {}
    for backward in kernels.targets():
        monkeypatch.setenv("DENOTS_TARGET", kernels.targets()[-1])
        field.zero_grad()
        loss = solve(field, path, torch.zeros(5, 40), **LOOSE).states.sum()
        monkeypatch.setenv("DENOTS_TARGET", backward)
        loss.backward()
        gradients[backward] = field.weight_hh.grad.clone()
    for gradient in gradients.values():
        assert_same_bits(gradient, gradients[kernels.targets()[-1]])


def test_several_threads_of_python_solve_at_once() -> None:
    path, field, h0 = smooth_path(40, torch.float32), AntiFeedbackGRU(3, 8), torch.zeros(40, 8)
    expected = solve(field, path, h0, **LOOSE).states
    found: list[torch.Tensor] = []

    def work() -> None:
        torch.set_num_threads(3)
        for _ in range(20):
            found.append(solve(field, path, h0, **LOOSE).states)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 80
    for states in found:
        assert_same_bits(states, expected)


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-W", "always", "-c", code]
    return subprocess.run(
        program, capture_output=True, text=True, env={**os.environ, **environment}, timeout=300, check=False
    )


def test_every_target_here_passes_its_self_check_and_the_check_can_fail() -> None:
    for target in kernels.targets():
        assert _native.disagreement(target, 1.0) == ""
    for target in kernels.targets()[1:]:
        assert "away from those of the plain target" in _native.disagreement(target, 0.0)


@pytest.mark.skipif(len(kernels.targets()) < 2, reason="this CPU has the plain target only")
def test_a_target_that_failed_is_passed_over_with_one_warning_and_cannot_be_forced() -> None:
    code = (
        "from denots import _native, kernels\n"
        "widest = kernels.targets()[-1]\n"
        "_native.set_fault(widest, 'it cannot add')\n"
        "print(kernels.target() != widest, kernels.target() != widest)\n"
    )
    free = run_python(code, DENOTS_TARGET="")
    assert free.stdout.split() == ["True", "True"], free.stderr
    assert free.stderr.count("failed its self-check: it cannot add") == 1
    forced = run_python(code, DENOTS_TARGET=kernels.targets()[-1])
    assert "NativeUnavailable" in forced.stderr
    assert "it cannot add" in forced.stderr


def test_a_process_with_idle_workers_ends() -> None:
    code = (
        "import torch; torch.set_num_threads(4)\n"
        "import numpy as np; from denots import kernels\n"
        "n = 1000; kernels.fit_splines('linear', np.arange(0, n + 1, 10), np.arange(float(n)), np.ones((n, 3)))\n"
        "print('ended')"
    )
    ended = run_python(code)
    assert (ended.returncode, ended.stdout.strip()) == (0, "ended"), ended.stderr
