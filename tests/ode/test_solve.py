"""The solver against scipy, closed forms and its own promises."""

import functools
import sys

import numpy as np
import pytest
import torch
from torch import nn

from denots import ode
from denots.data import SeriesSet
from denots.errors import InvalidOption, NativeUnavailable, SolverFailure, UnknownName
from denots.fields import FIELDS, AntiFeedbackGRU, ReLUField, VectorField
from denots.ode import InputMap, Solution, Status, solve
from denots.paths import PATHS, NaturalCubic

from oracles import gappy_series, scipy_states

# Fields without a kernel run here on every backend, on purpose.
pytestmark = [pytest.mark.usefixtures("double"), pytest.mark.filterwarnings("ignore::denots.errors.SlowWarning")]
TIGHT = {"rtol": 1e-10, "atol": 1e-10, "max_steps": 100_000}
LOOSE = {"rtol": 1e-3, "atol": 1e-3}


@pytest.fixture(autouse=True, params=["reference", "auto"])
def _every_backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All promises hold for the readable loop and for whatever runs by default."""
    monkeypatch.setattr(sys.modules[__name__], "solve", functools.partial(ode.solve, backend=request.param))


def smooth_path(lengths: tuple[int, ...] = (2, 5, 9), depth: float = 2.0, first: float = 0.2):
    """Natural splines; with `first` > 0 the signal is held at the beginning, which makes a kink."""
    rng = np.random.default_rng(1)
    times = [np.concatenate([[first], np.sort(rng.uniform(first + 0.1, 3.0, length - 1))]) for length in lengths]
    values = [np.stack([np.sin(t + a), np.cos(2 * t - a)], axis=1) for a, t in enumerate(times)]
    return NaturalCubic.fit(SeriesSet.from_arrays(times, values, start=0.0)).scale_time(depth)


class Linear(VectorField):
    """h' = A h + B x: solved by a matrix exponential where x is constant."""

    def __init__(self, matrix: torch.Tensor, gain: torch.Tensor) -> None:
        super().__init__()
        self.input_size, self.state_size = gain.shape[1], len(matrix)
        self.matrix, self.gain = nn.Parameter(matrix), nn.Parameter(gain)

    def forward(self, t, x, h):
        return h @ self.matrix.T + x @ self.gain.T


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("method", ["dopri5", "tsit5", "owrenzen4", "bosh3"])
def test_states_equal_scipys_at_the_end_and_in_between(name: str, method: str) -> None:
    path, field = smooth_path(), FIELDS[name](2, 4)
    tight = dict(TIGHT) if method != "bosh3" else {"rtol": 1e-7, "atol": 1e-7, "max_steps": 100_000}
    at = torch.stack([0.31 * path.t1, 0.77 * path.t1, path.t1], dim=1)
    h0 = torch.randn(3, 4)
    found = solve(field, path, h0, at=at, method=method, **tight).check()
    for row in range(3):
        expected = scipy_states(field, path, row, h0[row].numpy(), at[row].numpy())
        np.testing.assert_allclose(
            found.states[row].detach().numpy(), expected, rtol=1e-5, atol=1e-4 if method == "bosh3" else 1e-6
        )


def test_unless_told_otherwise_states_are_scipys_to_a_thousandth() -> None:
    path, field, h0 = smooth_path(), AntiFeedbackGRU(2, 4), torch.zeros(3, 4)
    found = solve(field, path, h0).check()
    for row in range(3):
        expected = scipy_states(field, path, row, h0[row].numpy(), path.t1[row : row + 1].numpy())
        np.testing.assert_allclose(found.states[row].detach().numpy(), expected, atol=1e-3)


def test_a_linear_field_with_a_constant_signal_follows_the_matrix_exponential() -> None:
    matrix, gain = torch.randn(3, 3), torch.randn(3, 1)
    path = NaturalCubic.fit(SeriesSet.from_arrays([[0.0, 2.0]], [[[0.7], [0.7]]]))
    h0 = torch.randn(1, 3)
    found = solve(Linear(matrix, gain), path, h0, **TIGHT).states[0, 0]
    block = torch.zeros(4, 4)
    block[:3, :3], block[:3, 3] = matrix, 0.7 * gain[:, 0]
    expected = torch.linalg.matrix_exp(2.0 * block) @ torch.cat([h0[0], torch.ones(1)])
    torch.testing.assert_close(found, expected[:3], rtol=0, atol=1e-8)


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("euler", 1)])
def test_fixed_steps_converge_with_their_order(method: str, order: int) -> None:
    field, path, h0 = AntiFeedbackGRU(2, 3), smooth_path((2, 2), first=0.0), torch.zeros(2, 3)
    exact = solve(field, path, h0, **TIGHT).states
    sizes = np.array([0.2, 0.1, 0.05, 0.025])
    errors = [
        float((solve(field, path, h0, method=method, step=s, **LOOSE).states - exact).abs().max().detach())
        for s in sizes
    ]
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] == pytest.approx(order, abs=0.6)


@pytest.mark.parametrize("method", ["rk4", "euler"])
def test_gradients_of_fixed_steps_pass_gradcheck(method: str) -> None:
    path = smooth_path((2, 4))
    field = AntiFeedbackGRU(2, 3)
    at = torch.stack([0.4 * path.t1, path.t1], dim=1)

    def run(h0, weight, bias, recurrent):
        module = _Solved(field, path, at, method)
        return torch.func.functional_call(module, {"field.weight_hh": recurrent}, (h0, InputMap(weight, bias)))

    inputs = (torch.randn(2, 3), torch.randn(9, 2), torch.randn(2, 9), torch.randn(9, 3))
    assert torch.autograd.gradcheck(run, tuple(x.requires_grad_() for x in inputs))


class _Solved(nn.Module):
    def __init__(self, field, path, at, method) -> None:
        super().__init__()
        self.field, self.path, self.at, self.method = field, path, at, method

    def forward(self, h0, input_map):
        return solve(
            self.field, self.path, h0, at=self.at, method=self.method, step=1.5, input_map=input_map, **LOOSE
        ).states


@pytest.mark.parametrize("name", sorted(set(FIELDS) - {"relu"}))  # a kink inside a step has no derivative
def test_adaptive_gradients_at_tight_tolerance_equal_finite_differences(name: str) -> None:
    path, field = smooth_path((2, 2), depth=0.7, first=0.0), FIELDS[name](2, 3)
    h0, nudge = torch.randn(2, 3), 1e-4

    def loss() -> torch.Tensor:
        return solve(field, path, h0, rtol=1e-9, atol=1e-9).states.sin().sum()

    loss().backward()
    for parameter in field.parameters():
        index = tuple(int(torch.randint(size, ())) for size in parameter.shape)
        with torch.no_grad():
            parameter[index] += nudge
            above = float(loss())
            parameter[index] -= 2 * nudge
            below = float(loss())
            parameter[index] += nudge
        assert float(parameter.grad[index]) == pytest.approx((above - below) / (2 * nudge), rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("name", PATHS)
def test_a_series_alone_gets_the_state_it_gets_in_a_set(name: str) -> None:
    path, field = PATHS[name].fit(gappy_series()).scale_time(2.0), AntiFeedbackGRU(3, 4)
    together = solve(field, path, torch.zeros(5, 4), **LOOSE)
    for row in range(5):
        alone = solve(field, path.select([row]), torch.zeros(1, 4), **LOOSE)
        torch.testing.assert_close(alone.states[0], together.states[row], rtol=1e-9, atol=1e-9)
        assert alone.evaluations[0] == together.evaluations[row]


def test_the_order_of_series_and_a_shift_of_time_change_nothing() -> None:
    series, field = gappy_series(), AntiFeedbackGRU(3, 4)
    plain = solve(field, NaturalCubic.fit(series), torch.zeros(5, 4), **LOOSE)
    turned = solve(field, NaturalCubic.fit(series.select([4, 2, 0, 1, 3])), torch.zeros(5, 4), **LOOSE)
    torch.testing.assert_close(turned.states, plain.states[[4, 2, 0, 1, 3]], rtol=1e-9, atol=1e-9)
    later = SeriesSet(
        series.times + 8.0, series.values, series.offsets, series.start + 8.0, series.ids, series.channels
    )
    shifted = solve(field, NaturalCubic.fit(later), torch.zeros(5, 4), **LOOSE)
    torch.testing.assert_close(shifted.states, plain.states, rtol=1e-7, atol=1e-7)


def test_evaluations_are_two_to_begin_with_and_six_a_step() -> None:
    found = solve(AntiFeedbackGRU(2, 4), smooth_path(), torch.zeros(3, 4), **LOOSE)
    assert torch.equal(found.evaluations, 2 + 6 * (found.accepted + found.rejected))


def test_evaluations_count_the_calls_of_the_field() -> None:
    class Counting(Linear):
        calls = 0

        def forward(self, t, x, h):
            Counting.calls += len(h)
            return super().forward(t, x, h)

    field = Counting(-torch.eye(2), torch.randn(2, 2))
    found = solve(field, smooth_path(), torch.ones(3, 2), **LOOSE)
    assert Counting.calls == int(found.evaluations.sum())


def test_a_tighter_tolerance_costs_more_and_errs_less() -> None:
    path, field = smooth_path(), AntiFeedbackGRU(2, 4)
    exact = solve(field, path, torch.zeros(3, 4), **TIGHT).states
    costs, errors = [], []
    for tol in (1e-2, 1e-4, 1e-6, 1e-8):
        found = solve(field, path, torch.zeros(3, 4), rtol=tol, atol=tol)
        costs.append(int(found.evaluations.sum()))
        errors.append(float((found.states - exact).abs().max().detach()))
    assert costs == sorted(costs)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-6


def test_a_blow_up_stays_in_its_series() -> None:
    class Square(VectorField):
        """h' = w x h^2 explodes in finite time where the signal is positive."""

        input_size, state_size = 1, 1

        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(()))

        def forward(self, t, x, h):
            return self.weight * x * h**2

    path = NaturalCubic.fit(SeriesSet.from_arrays([[0.0, 5.0]] * 3, [[[0.0], [0.0]], [[1.0], [1.0]], [[-1.0], [-1.0]]]))
    field = Square()
    found = solve(field, path, torch.ones(3, 1), **LOOSE)
    assert found.status[0] == found.status[2] == Status.OK
    assert found.status[1] in (Status.NOT_FINITE, Status.STEP_UNDERFLOW)
    assert found.states[1].isnan().all()
    assert found.reached[1] == pytest.approx(1.0, abs=0.05)
    torch.testing.assert_close(found.states[2, 0, 0], torch.tensor(1 / 6), rtol=0, atol=1e-2)
    found.states[found.ok].sum().backward()
    assert field.weight.grad is not None
    assert field.weight.grad.isfinite()
    with pytest.raises(SolverFailure, match="series 'b'"):
        found.check(ids=["a", "b", "c"])


def test_weights_that_are_nan_give_a_status_and_no_hang() -> None:
    field = AntiFeedbackGRU(2, 4)
    with torch.no_grad():
        field.weight_hh.fill_(torch.nan)
    found = solve(field, smooth_path(), torch.zeros(3, 4), **LOOSE)
    assert (found.status == Status.NOT_FINITE).all()


def test_max_steps_ends_a_series_and_only_that() -> None:
    path = smooth_path((2, 40), depth=20.0)
    field = AntiFeedbackGRU(2, 4)
    free = solve(field, path, torch.zeros(2, 4), **LOOSE)
    least, most = (free.accepted + free.rejected).sort().values.tolist()
    assert least < most
    found = solve(field, path, torch.zeros(2, 4), max_steps=(least + most) // 2, **LOOSE)
    assert sorted(found.status.tolist()) == [Status.OK, Status.MAX_STEPS]
    torch.testing.assert_close(found.states[found.ok], free.states[found.ok])


def test_relu_at_great_depth_fails_softly() -> None:
    field = ReLUField(2, 8)
    with torch.no_grad():
        for parameter in field.parameters():
            parameter.abs_().mul_(8)
    path = smooth_path(depth=1e4)
    found = solve(field, path, torch.ones(3, 8), rtol=1e-3, atol=1e-3, max_steps=500)
    assert not found.ok.any()


def test_a_path_without_length_leaves_the_initial_state() -> None:
    path = NaturalCubic.fit(SeriesSet.from_arrays([[1.0]], [[[2.0, 3.0]]]))
    h0 = torch.randn(1, 4)
    found = solve(AntiFeedbackGRU(2, 4), path, h0, **LOOSE)
    assert torch.equal(found.states[0, 0], h0[0])
    assert found.evaluations.tolist() == [0]


def test_queries_come_in_any_order_and_beyond_the_data() -> None:
    path, field = smooth_path(), AntiFeedbackGRU(2, 4)
    at = torch.stack([path.t1 + 1.0, path.t0, 0.5 * path.t1], dim=1)
    found = solve(field, path, torch.zeros(3, 4), at=at, **TIGHT).states.detach()
    assert torch.equal(found[:, 1], torch.zeros(3, 4))
    for row in range(3):
        ordered = np.array([0.5 * float(path.t1[row]), float(path.t1[row]) + 1.0])
        expected = scipy_states(field, path, row, np.zeros(4), ordered)
        np.testing.assert_allclose(found[row, [2, 0]].numpy(), expected, atol=1e-6)


def test_gradients_flow_to_the_observations_on_request() -> None:
    path, field = smooth_path((4,)), AntiFeedbackGRU(2, 3)
    path.values.requires_grad_()
    solve(field, path, torch.zeros(1, 3), **LOOSE).states.sum().backward()
    assert path.values.grad is not None
    assert (path.values.grad.abs().sum(dim=1) > 0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rtol": -1.0, "atol": 1e-3}, "tolerances"),
        ({"rtol": 0.0, "atol": 0.0}, "tolerances"),
        ({**LOOSE, "max_steps": 0}, "max_steps"),
        ({**LOOSE, "method": "rk4"}, "fixed steps"),
        ({**LOOSE, "step": 0.1}, "chooses its own"),
        ({**LOOSE, "at": torch.zeros(2, 1)}, "at has shape"),
        ({**LOOSE, "at": torch.full((3, 1), -1.0)}, r"at\[0, 0\]"),
        ({**LOOSE, "at": torch.full((3, 1), float("nan"))}, r"at\[0, 0\]"),
    ],
)
def test_bad_options_say_what_was_expected(options, message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        solve(AntiFeedbackGRU(2, 4), smooth_path(), torch.zeros(3, 4), **options)


def test_an_unknown_method_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="dopri5"):
        solve(AntiFeedbackGRU(2, 4), smooth_path(), torch.zeros(3, 4), method="dopri", **LOOSE)


def test_shapes_and_types_must_agree() -> None:
    path = smooth_path()
    with pytest.raises(InvalidOption, match="make it a VectorField"):
        solve(lambda t, x, h: -h, path, torch.zeros(3, 4), **LOOSE)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="h0 has shape"):
        solve(AntiFeedbackGRU(2, 4), path, torch.zeros(3, 5), **LOOSE)
    with pytest.raises(InvalidOption, match="one type"):
        solve(AntiFeedbackGRU(2, 4), path, torch.zeros(3, 4, dtype=torch.float32), **LOOSE)
    with pytest.raises(InvalidOption, match="channels"):
        solve(AntiFeedbackGRU(3, 4), path, torch.zeros(3, 4), **LOOSE)
    with pytest.raises(InvalidOption, match="input map"):
        solve(
            Linear(torch.eye(2), torch.eye(2)),
            path,
            torch.zeros(3, 2),
            input_map=InputMap(torch.eye(2), torch.zeros(3, 2)),
            **LOOSE,
        )


def test_the_native_backend_is_never_replaced_in_silence() -> None:
    with pytest.raises(NativeUnavailable):
        solve(Linear(torch.eye(2), torch.eye(2)), smooth_path(), torch.zeros(3, 2), backend="native", **LOOSE)
    assert isinstance(solve(Linear(torch.eye(2), torch.eye(2)), smooth_path(), torch.zeros(3, 2), **LOOSE), Solution)
