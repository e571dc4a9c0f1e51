"""Contenders solve what they claim to solve; judged by scipy, by each other and by a plain GRU cell."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from benchmarks.agreement import apart, check_agreement, difference, exact
from benchmarks.contenders import contender
from benchmarks.workloads import Workload, agreement, build, smooth
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*searchsorted.*:UserWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def small() -> Workload:
    return agreement().first(3)


def test_the_exact_solution_is_that_of_scipy() -> None:
    workload = small()
    series = workload.series
    cell = torch.nn.GRUCell(workload.channels, workload.states).double()
    cell.load_state_dict(workload.weights)
    begin, end = series.offsets[:2]
    times, values = series.times[begin:end] * workload.depth, series.values[begin:end].astype(np.float64)
    seen = ~np.isnan(values)
    splines = [CubicSpline(times[s], v[s], bc_type="natural") for v, s in zip(values.T, seen.T, strict=True)]
    edges = [(times[s][0], times[s][-1]) for s in seen.T]

    def slope(t: float, h: np.ndarray) -> np.ndarray:
        x = [spline(np.clip(t, *edge)) for spline, edge in zip(splines, edges, strict=True)]
        with torch.no_grad():
            return cell(torch.tensor(np.array(x))[None], torch.from_numpy(-h)[None])[0].numpy()

    judge = solve_ivp(slope, (0, times[-1]), np.zeros(workload.states), rtol=1e-9, atol=1e-9, max_step=0.05)
    np.testing.assert_allclose(exact(workload).states[0], judge.y[:, -1], atol=1e-6)


@pytest.mark.parametrize("name", ["native-1", "native-2", "reference", "paper", "paper-trained", "torchode"])
def test_a_torch_contender_agrees_with_the_exact_solution(name: str) -> None:
    pytest.importorskip("torchode", reason="torchode comes with the extra bench")
    workload = small()
    found = difference(contender(name)(workload).outcome(), exact(workload))
    assert found.states < 20 * workload.tolerance
    assert found.gradient < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", ["diffrax", "diffrax-tuned"])
def test_diffrax_agrees_with_the_native_solver(name: str) -> None:
    pytest.importorskip("diffrax", reason="diffrax comes with the extra bench")
    workload = small()
    native, found = contender("native-2")(workload).outcome(), contender(name)(workload).outcome()
    gap = difference(found, native)
    assert gap.states < workload.tolerance
    assert gap.gradient < 1e-3
    np.testing.assert_array_equal(found.evaluations, native.evaluations)


def test_the_refitted_splines_are_those_of_scipy() -> None:
    pytest.importorskip("torchode", reason="torchode comes with the extra bench")
    from benchmarks.contenders.paper_stack import fit, read

    workload = build("holes", "holes", smooth(2), depth=1, time_differences=False)
    rectangle = workload.series.padded()
    times = torch.from_numpy(np.where(rectangle.mask, rectangle.times, np.inf))
    splines = fit(times, torch.from_numpy(rectangle.values).double())
    for t in (0.1, 0.35, 0.9):
        found = read(*splines, torch.full((2,), t, dtype=torch.float64))
        for i, c in np.ndindex(found.shape):
            seen = np.isfinite(rectangle.values[i, :, c])
            judge = CubicSpline(rectangle.times[i, seen], rectangle.values[i, seen, c].astype(float), bc_type="natural")
            assert found[i, c].item() == pytest.approx(float(judge(t)), abs=1e-6)


def test_a_wrong_solution_is_seen() -> None:
    workload = small()
    right = exact(workload)
    wrong = exact(build("other", "other", smooth(3), depth=2, time_differences=False))
    assert difference(wrong, right).states > 100 * workload.tolerance


@pytest.mark.slow
def test_torchcde_reads_the_same_path_and_converges_to_the_same_states() -> None:
    pytest.importorskip("torchcde", reason="torchcde comes with the extra bench")
    workload = agreement("controlled")
    truth, ours = exact(workload), workload.path()
    theirs = contender("torchcde")(workload)
    for t in (0.0, 0.1, 0.37, 1.0):
        mine = ours.derivative(torch.full((len(ours),), t * float(ours.t1[0]), dtype=torch.float64))
        torch.testing.assert_close(theirs.path.derivative(ours.t1[0].float() * t), mine, atol=1e-4, rtol=1e-4)
    loose, tight = (
        difference(contender("torchcde")(replace(workload, tolerance=tolerance)).outcome(), truth)
        for tolerance in (1e-4, 1e-6)
    )
    assert tight.typical < 0.2 * loose.typical
    assert tight.typical < 1e-3


@pytest.mark.slow
def test_agreement_covers_the_controlled_field() -> None:
    pytest.importorskip("torchcde", reason="torchcde comes with the extra bench")
    assert {"native-2", "reference, controlled field", "torchcde, controlled field"} <= set(
        check_agreement(["native-2", "reference", "torchcde"])
    )


def test_errors_more_than_twice_apart_are_other_work() -> None:
    assert apart(0.03, 0.01, tolerance=1e-3)
    assert apart(0.01, 0.03, tolerance=1e-3)
    assert not apart(0.019, 0.01, tolerance=1e-3)
