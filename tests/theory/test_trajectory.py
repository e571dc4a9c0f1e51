"""What is measured along trajectories, judged by torch's own GRU cell, brute force and closed forms."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from denots.backbones.denots import READ_THEN
from denots.data.series import SeriesSet
from denots.errors import InvalidOption
from denots.experiments.feedback import feedback_strength
from denots.experiments.gain import gain_for_depth
from denots.experiments.memory import memory
from denots.experiments.tolerance import state_accuracy
from denots.experiments.trajectories import state_norms
from denots.experiments.weight_norms import weight_norms
from denots.fields.gained import Gained
from denots.fields.gru import SyncFeedbackGRU
from denots.ode import solve
from denots.paths import NaturalCubic
from denots.runs.run import Trial
from denots.tasks import Part
from denots.theory.trajectory import contraction, follow, gates, tightened
from denots.training.model import Model

from models import make_model, make_task


@pytest.fixture
def series() -> SeriesSet:
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(0, 1, n)) for n in (12, 20, 9)]
    values = [np.stack([np.sin(7 * t), rng.normal(size=len(t))], axis=1).astype(np.float32) for t in times]
    return SeriesSet.from_arrays(times, values, start=0.0, target=[1.0, 2.0, 4.0])


def model_of(series: SeriesSet, field: str, **options) -> Model:
    chosen = {**READ_THEN, "presence": False, "field": field, "state_size": 5, "depth": 3.0, **options}
    model = make_model("denots", chosen, "regression", 2, 0, 1, seed=1)
    model.backbone.calibrate(series)
    return model.eval()


def problem_of(series: SeriesSet) -> Trial:
    part = Part(series, torch.tensor(series.target)[:, None])
    return Trial(make_task("regression"), part, part, part)


def test_a_trajectory_starts_at_zero_and_ends_in_the_state_of_the_model(series: SeriesSet) -> None:
    model = model_of(series, "anti")
    path = follow(model, series)
    with torch.no_grad():
        end = model.backbone(model.backbone.prepare(series)).states[:, -1]
    assert path.states[:, 0].abs().max() == 0
    torch.testing.assert_close(path.states[:, -1], end, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(path.norms, path.states.square().sum(dim=2).sqrt())


@pytest.mark.parametrize("field", ["sync", "anti"])
def test_gates_are_those_of_torchs_gru_cell(series: SeriesSet, field: str) -> None:
    model = model_of(series, field)
    path = follow(model, series, points=4)
    found = gates(model, path)
    weights = model.backbone.field
    for i, k in ((0, 1), (2, 3)):
        u, h = path.drive[i, k], path.states[i, k] * (-1 if field == "anti" else 1)

        def candidate(h: torch.Tensor, u: torch.Tensor = u) -> torch.Tensor:
            v = weights.weight_hh @ h + weights.bias_hh
            r = torch.sigmoid(u[:5] + v[:5])
            return torch.tanh(u[10:] + r * v[10:])

        z = torch.sigmoid(u[5:10] + (weights.weight_hh @ h + weights.bias_hh)[5:10])
        jacobian = torch.autograd.functional.jacobian(candidate, h)
        torch.testing.assert_close(found.decay[i, k], z.mean())
        torch.testing.assert_close(found.update[i, k], 1 - z.mean())
        torch.testing.assert_close(found.along[i, k], (jacobian @ h).norm() / h.norm(), rtol=1e-4, atol=1e-6)
        assert float(found.worst[i, k]) == pytest.approx(np.linalg.norm(jacobian.detach().numpy(), 2), rel=1e-4)


def test_contraction_is_the_largest_eigenvalue_of_the_symmetric_jacobian(series: SeriesSet) -> None:
    model = model_of(series, "tanh")
    path = follow(model, series, points=3)
    u, h = path.drive[1, 2], path.states[1, 2]
    jacobian = torch.autograd.functional.jacobian(lambda h: model.backbone.field.slope(u[None], h[None])[0], h)
    symmetric = (jacobian + jacobian.T).detach().numpy() / 2
    assert float(contraction(model, path)[1, 2]) == pytest.approx(np.linalg.eigvalsh(symmetric)[-1], abs=1e-5)


def test_the_strengths_are_averages_over_series(series: SeriesSet) -> None:
    model = model_of(series, "anti")
    found = feedback_strength(model, problem_of(series))
    direct = gates(model, follow(model, series))
    assert found is not None
    np.testing.assert_allclose(found["feedback"], direct.decay[:, 1:].mean(dim=0), rtol=1e-5)
    np.testing.assert_allclose(found["update, along h"], (direct.along * direct.update)[:, 1:].mean(dim=0), rtol=1e-5)
    assert feedback_strength(model_of(series, "tanh"), problem_of(series)) is None
    assert len(state_norms(model, problem_of(series))["mean"]) == 21


def test_the_norm_of_weights_is_that_of_all_of_them_end_to_end(series: SeriesSet) -> None:
    model = model_of(series, "tanh")
    found = weight_norms(model, problem_of(series))
    flat = np.concatenate([weight.detach().numpy().ravel() for weight in model.backbone.field.parameters()])
    assert found["all"] == pytest.approx(np.linalg.norm(flat), rel=1e-5)
    assert found["weight_out"] == pytest.approx(float(model.backbone.field.weight_out.detach().norm()), rel=1e-5)


def test_a_gain_is_a_depth(series: SeriesSet) -> None:
    """dh/dt = g (f - h) ends where the stretched dh/dt = f - h ends."""
    with torch.no_grad():
        field = SyncFeedbackGRU(2, 4).double()
        path, h0 = NaturalCubic.fit(series, torch.float64), torch.zeros(3, 4, dtype=torch.float64)
        options = {"rtol": 1e-9, "atol": 1e-9}
        stretched = solve(field, path.scale_time(7.0), h0, backend="reference", **options)
        gained = solve(Gained(field, 7.0), path, h0, backend="reference", **options)
    torch.testing.assert_close(stretched.states, gained.states, rtol=1e-6, atol=1e-7)
    found = gain_for_depth(model_of(series, "anti"), problem_of(series))
    assert found is not None
    assert found["state gap"] < 1e-5


@pytest.mark.slow
def test_the_gain_is_learnt(series: SeriesSet) -> None:
    model = model_of(series, "anti", learn_depth=True, backend="reference")
    model(model.backbone.prepare(series)).outputs.square().sum().backward()
    gradient = float(model.backbone.gain.grad)

    def loss(gain: float) -> float:
        with torch.no_grad():
            model.backbone.gain.fill_(gain)
            return float(tightened(model, 1e-9)(tightened(model).backbone.prepare(series)).outputs.square().sum())

    assert gradient == pytest.approx((loss(1 + 1e-4) - loss(1 - 1e-4)) / 2e-4, rel=0.05)


def test_a_tight_solve_is_closer_to_the_truth(series: SeriesSet) -> None:
    loose = state_accuracy(model_of(series, "anti", tolerance=1e-2, predict_tolerance=None), problem_of(series))
    close = state_accuracy(model_of(series, "anti", tolerance=1e-5, predict_tolerance=None), problem_of(series))
    assert loose is not None
    assert close is not None
    assert close["largest error"] < 1e-3 * 3
    assert close["largest error"] < loose["largest error"]
    assert close["metric at 1e-8"] == pytest.approx(loose["metric at 1e-8"], abs=1e-6)


def test_a_nudge_is_forgotten_at_the_rate_of_the_decay(series: SeriesSet) -> None:
    """With zero weights the synchronous field is dh/dt = -h/2: a nudge half-way decays by exp(-span / 4)."""
    model = model_of(series, "sync")
    with torch.no_grad():
        for weight in model.backbone.field.parameters():
            weight.zero_()
    found = memory(model, problem_of(series))
    spans = 3.0 * series.spans / np.median(series.spans)
    assert found is not None
    np.testing.assert_allclose(found["left"], np.exp(-spans / 4), rtol=1e-5)
    np.testing.assert_allclose(found["log norm"], -0.5, rtol=1e-6)
    assert set(found["stable"]) == {1.0}


def test_systems_without_a_trajectory_are_refused(series: SeriesSet) -> None:
    model = make_model("last-value", {}, "regression", 2, 0, 1, seed=0)
    with pytest.raises(InvalidOption, match="LastValue has no trajectory"):
        follow(model, series)
    tanh = model_of(series, "tanh")
    path = follow(tanh, series)
    with pytest.raises(InvalidOption, match="TanhField has no gates"):
        gates(tanh, path)


def test_attacks_leave_the_model_of_clean_series_alone(series: SeriesSet) -> None:
    from denots.experiments.attacks import under_attack

    model = model_of(series, "anti")
    clean = under_attack(model, problem_of(series))
    again = under_attack(model, problem_of(replace(series)))
    assert clean == again
    assert clean["drop"]["0"] == clean["change"]["0"]
    assert len(clean["drop"]["0.85"]) == 5


def test_a_series_that_cannot_be_solved_leaves_the_memory_of_the_others_as_it_is(series: SeriesSet) -> None:
    for steps in range(20, 2000, 20):
        model = model_of(series, "sync", max_steps=steps)
        solved = follow(tightened(model), series).solved
        if 0 < len(solved) < len(series):
            break
    kept = series.select(solved.numpy())
    found, alone = memory(model, problem_of(series)), memory(model, problem_of(kept))
    assert found is not None
    assert alone is not None
    assert 0 < len(found["left"]) < len(series)
    for name, values in alone.items():
        assert found[name] == pytest.approx(values, rel=1e-6)


def test_a_trajectory_from_the_first_values_is_followed_wherever_rounding_puts_its_start() -> None:
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(0.01, 1, 5)) for _ in range(300)]
    many = SeriesSet.from_arrays(times, [rng.normal(size=(5, 2)) for _ in times], start=0.0)
    model = model_of(many, "sync", initial="first", depth=20.0)
    path = follow(model, many)
    first = model.backbone.first_state(model.backbone.prepare(many)).detach()
    torch.testing.assert_close(path.states[:, 0], first, rtol=1e-5, atol=1e-6)
