"""The solver from C has the bits that it has from Python; the example is judged by scipy."""

import ctypes
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline

from denots import SeriesSet, solve
from denots.fields import FIELDS
from denots.paths import PATHS

ROOT, CMAKE = Path(__file__).parents[1], Path(sys.executable).with_name("cmake")
SIZES = ("series", "channels", "states", "queries", "knots")
ARRAYS = ("begins", "ends", "times", "values", "slopes", "start", "at", "h0")
WEIGHTS = ("weight_ih", "bias_ih", "weight_hh", "bias_hh", "weight_out", "bias_out")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the library has the name that Linux gives it"),
]


class Problem(ctypes.Structure):
    _fields_ = (
        ("field", ctypes.c_char_p),
        *((name, ctypes.c_int64) for name in SIZES),
        *((name, ctypes.c_void_p) for name in (*ARRAYS, *WEIGHTS)),
        *(("rtol", ctypes.c_double), ("atol", ctypes.c_double), ("max_steps", ctypes.c_int64)),
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("c")
    subprocess.run([CMAKE, "-S", ROOT / "cpp", "-B", folder], check=True, capture_output=True)
    subprocess.run([CMAKE, "--build", folder], check=True, capture_output=True)
    return folder


def asked_from_c(built: Path, given: dict[str, Any], threads: int = 1) -> tuple[str, np.ndarray, list[int]]:
    """The reason why nothing was solved, or states and statuses."""
    arrays = {name: None if it is None else it.ctypes.data for name, it in given.items() if name in ARRAYS + WEIGHTS}
    posed = Problem(**{**given, **arrays})
    states, status = np.empty((posed.series, posed.queries, posed.states)), np.empty(posed.series, np.int64)
    reason = ctypes.create_string_buffer(300)
    places = (ctypes.c_void_p(states.ctypes.data), ctypes.c_void_p(status.ctypes.data))
    failed = ctypes.CDLL(str(built / "libdenots.so")).denots_solve(ctypes.byref(posed), *places, threads, reason, 300)
    assert bool(failed) == bool(reason.value)
    return reason.value.decode(), states, status.tolist()


@pytest.fixture(params=FIELDS)
def posed(request: pytest.FixtureRequest) -> tuple[dict[str, Any], torch.Tensor]:
    """A problem for C, and the states that Python finds."""
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(0, 6, rng.integers(1, 9))) for _ in range(23)]
    series = SeriesSet.from_arrays(times, [rng.normal(size=(len(t), 2)) for t in times])
    path, field = PATHS["natural-cubic"].fit(series, torch.float64), FIELDS[request.param](2, 5).double()
    at = np.sort(series.start[:, None] + rng.uniform(0, 8, (23, 3)), axis=1)
    h0, kernel = torch.from_numpy(rng.normal(size=(23, 5))), field.kernel()
    with torch.no_grad():
        wanted = solve(field, path, h0, at=torch.from_numpy(at), method="owrenzen4", rtol=1e-6, atol=1e-6).states
    arrays = {"begins": path.begin, "ends": path.end, "times": path.times, "values": path.values, "slopes": path.slopes}
    weights = {name: getattr(kernel, name) for name in WEIGHTS}
    tensors = arrays | weights | {"start": path.t0, "h0": h0}
    given = {name: None if it is None else it.detach().contiguous().numpy() for name, it in tensors.items()}
    sizes = dict(zip(SIZES, (23, 2, 5, 3, len(path.times)), strict=True))
    return given | sizes | {
        "field": kernel.name.encode(),
        "at": at,
        "rtol": 1e-6,
        "atol": 1e-6,
        "max_steps": 999,
    }, wanted


def test_states_have_the_bits_of_python_with_any_number_of_threads(built: Path, posed: tuple) -> None:
    given, wanted = posed
    for threads in (1, 2):
        reason, states, status = asked_from_c(built, given, threads)
        assert (reason, set(status)) == ("", {0})
        np.testing.assert_array_equal(states, wanted.numpy())


def test_what_cannot_be_solved_is_said(built: Path, posed: tuple) -> None:
    given, _ = posed
    late = given["start"] + 100
    for change, words in (
        ({"field": b"lstm"}, "no field with a kernel is called lstm"),
        ({"start": late}, "series 0: its queries must be finite, ascend, and not lie before its start"),
        ({"rtol": 0.0, "atol": 0.0}, "tolerances must not be negative, nor both zero"),
        ({"knots": 1}, "needs knots, inside the signal"),
    ):
        assert words in asked_from_c(built, given | change)[0]
    assert set(asked_from_c(built, given | {"max_steps": 1})[2]) == {1}


def test_the_example_says_what_scipy_finds(built: Path) -> None:
    told = subprocess.run([built / "solve"], check=True, capture_output=True, text=True).stdout
    signals = (CubicHermiteSpline([0, 1, 2], [0, 1, 0], [1, 0, -1]), lambda t: 0.5)
    for line in told.splitlines():
        series, time, *state = map(float, line.split())

        def slope(t: float, h: np.ndarray, x: Any = signals[int(series)]) -> np.ndarray:
            u = np.array([1.0, -1.0]) * x(t) + [0.0, 0.5] + np.array([[0.0, 1.0], [-1.0, 0.0]]) @ h
            return np.tanh(np.array([[1.0, 0.5], [-0.5, 1.0]]) @ np.tanh(u) + [0.1, -0.1])

        wanted = solve_ivp(slope, (0, time), np.zeros(2), method="DOP853", rtol=1e-11, atol=1e-11).y[:, -1]
        np.testing.assert_allclose(state, wanted, atol=1e-6)
    assert len(told.splitlines()) == 6
