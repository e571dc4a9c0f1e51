"""Certificates of models: what they prove is attacked, what they measure is measured again, the rest is refused."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from denots import SeriesClassifier, SeriesRegressor, SeriesSet, load
from denots.errors import InvalidOption, NotCertifiable
from denots.paths import PATHS
from denots.paths.extremes import extremes
from denots.paths.slopes import append_slopes
from denots.theory.certificate import certify
from denots.theory.certificate_page import build_page
from denots.theory.measurement import answers_of, measure
from denots.theory.proof import prove
from denots.theory.trajectory import follow, tightened

SMALL = {"state_size": 6, "depth": 4.0, "max_epochs": 2, "batches_per_epoch": 2, "copies": 0}


@pytest.fixture(scope="module")
def series() -> SeriesSet:
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(0, 5, rng.integers(8, 20))) for _ in range(24)]
    speeds = rng.uniform(1, 3, 24)
    values = [np.stack([np.sin(s * t), rng.normal(size=len(t))], axis=1) for s, t in zip(speeds, times, strict=True)]
    return SeriesSet.from_arrays(times, values, target=speeds, start=0.0)


def fitted(series: SeriesSet, **options) -> SeriesRegressor:
    return SeriesRegressor("denots", options={**SMALL, **options}, random_state=0).fit(series)


@pytest.fixture(scope="module")
def models(series: SeriesSet) -> dict[str, SeriesRegressor]:
    return {
        "anti": fitted(series),
        "sync": fitted(series, field="sync", readout="last", initial="zero"),
        "certified": fitted(series, stability="certified", readout="last"),
        "certified sync": fitted(series, stability="certified", field="sync"),
    }


NAMES = ("anti", "sync", "certified", "certified sync")


@pytest.mark.parametrize("name", NAMES)
def test_the_box_holds_every_trajectory_and_noise_moves_no_answer_beyond_the_bound(
    name: str, models: dict[str, SeriesRegressor], series: SeriesSet
) -> None:
    model = models[name].fitted_.model
    tight = tightened(model, 1e-9).eval()
    rng = np.random.default_rng(1)
    pushes = 0.3 * rng.choice([-1.0, 1.0], size=series.values.shape) * model.backbone.intake.scale[:2].numpy()
    attacked = replace(series, values=series.values + pushes)
    both = replace(
        series,
        times=np.tile(series.times, 2),
        values=np.concatenate([series.values, attacked.values]),
        offsets=np.concatenate([series.offsets, series.offsets[1:] + series.offsets[-1]]),
        start=np.tile(series.start, 2),
        ids=np.arange(2 * len(series)),
        target=None,
    )
    proof = prove(tight, both)
    for one in (series, attacked):
        assert proof.box.state.holds(follow(tight, one).states, 1e-6).all()
    told, moved = (answers_of(tight, one)[0] for one in (series, attacked))
    noise = replace(series, values=pushes / model.backbone.intake.scale[:2].numpy())
    signal = PATHS["natural-cubic"].fit(
        replace(noise, times=noise.times / float(model.backbone.intake.time_scale)), torch.float64
    )
    signal = append_slopes(signal.scale_time(4.0), model.backbone.slope_scale)
    low, high = extremes(signal)
    sizes = torch.zeros(len(series), len(proof.noisy), dtype=torch.float64)
    sizes[:, :2], sizes[:, -2:] = (torch.maximum(-low, high)[:, part] for part in (slice(0, 2), slice(2, 4)))
    spans = (series.ends - series.start) * proof.clock
    for row in range(len(series)):
        bound = proof.change(sizes[row], float(spans[row]))
        assert float((told - moved)[row].abs().max()) <= bound + 1e-9
    assert float((told - moved).abs().max()) <= proof.largest_change


@pytest.mark.parametrize("name", ["certified", "certified sync"])
def test_a_certified_model_contracts_after_training_with_and_without_series(
    name: str, models: dict[str, SeriesRegressor], series: SeriesSet
) -> None:
    for certificate in (models[name].certify(series), models[name].certify()):
        assert certificate.contracting == "on the reachable set"
        assert certificate.box_until == math.inf
        assert certificate["growth"].value < 0
        assert math.isfinite(certificate["half-life at most"].value)


def test_synchronous_states_stay_below_one_for_any_signal_at_all(models: dict[str, SeriesRegressor]) -> None:
    certificate = models["sync"].certify()
    assert certificate.inputs == ()
    assert certificate["largest state"].value <= 1
    assert certificate.box_until == math.inf
    assert certificate.measured == ()


def test_what_is_measured_is_what_brute_force_finds(models: dict[str, SeriesRegressor], series: SeriesSet) -> None:
    model = models["sync"].fitted_.model
    tight = tightened(model, 1e-9).eval()
    found = measure(model, tight, series)
    backbone = tight.backbone
    inputs = backbone.prepare(series)
    u = backbone.drive(inputs)(inputs.path.value(inputs.path.t1), torch.arange(len(series)))
    h = follow(tight, series).states[:, -1]
    field = backbone.affine_field
    for row in (0, 7):
        jacobian = torch.autograd.functional.jacobian(lambda s, r=row: field.slope(u[r : r + 1], s[None])[0], h[row])
        judge = np.linalg.eigvalsh((jacobian + jacobian.T).detach().numpy() / 2)[-1]
        assert float(found.growth[row, -1]) == pytest.approx(judge, abs=0.05)  # half a step before the end
    assert (found.influence[:, -1] == 1).all()
    assert found.lags[:, 0].numpy() == pytest.approx(series.ends - series.start)
    assert found.lags[:, -1].abs().max() == 0
    assert 0 <= found.stable_share <= 1
    assert found.removal > 0
    assert found.noise > 0


def test_the_influence_of_the_start_is_the_derivative_that_the_solver_gives(
    models: dict[str, SeriesRegressor], series: SeriesSet
) -> None:
    from denots.ode import solve

    model = models["sync"].fitted_.model
    tight = tightened(model, 1e-9).eval()
    found = measure(model, tight, series)
    backbone = tight.backbone
    inputs = backbone.prepare(series)

    def end(first: torch.Tensor) -> torch.Tensor:
        return solve(backbone.driven_field, inputs.path, first, rtol=1e-9, atol=1e-9).states[:, -1]

    first = backbone.first_state(inputs).detach().requires_grad_(True)
    rows = [torch.autograd.grad(end(first)[:, k].sum(), first)[0] for k in range(6)]
    judge = torch.linalg.matrix_norm(torch.stack(rows, dim=1), ord=2)
    torch.testing.assert_close(found.influence[:, 0], judge, rtol=0.04, atol=1e-3)


def test_a_certificate_is_plain_json_and_a_page_with_pictures(
    models: dict[str, SeriesRegressor], series: SeriesSet
) -> None:
    certificate = models["anti"].certify(series)
    plain = json.loads(certificate.to_json())
    assert plain["series"] == len(series)
    assert {claim["kind"] for claim in plain["claims"]} == {"proved", "measured"}
    assert len(plain["box"]) == 6
    page = build_page(certificate)
    assert page.count('<svg viewBox="0 0 360') == 4
    for claim in certificate.claims:
        assert claim.words.split(",")[0].replace("'", "&#x27;") in page
    assert "inf" not in certificate.to_json()


def test_a_saved_model_has_the_same_certificate(
    models: dict[str, SeriesRegressor], series: SeriesSet, tmp_path
) -> None:
    models["certified"].save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.certify(series).to_json() == models["certified"].certify(series).to_json()


def test_classes_are_certified_in_log_odds(series: SeriesSet) -> None:
    classes = np.digitize(series.target, [1.7, 2.3])
    model = SeriesClassifier("denots", options={**SMALL, "stability": "certified"}, random_state=0).fit(series, classes)
    certificate = model.certify(series)
    assert certificate["change by noise"].unit == "log-odds per standard deviation"
    tight = tightened(model.fitted_.model, 1e-9).eval()
    told, _ = answers_of(tight, series)
    logits = tight(tight.backbone.prepare(series)).outputs
    torch.testing.assert_close(told[:, 0], logits[:, 0] - logits[:, 1])


def test_models_without_a_proof_are_refused_with_the_reason(series: SeriesSet) -> None:
    free = fitted(series, field="none")
    with pytest.raises(NotCertifiable, match="NoFeedbackGRU has no negative feedback"):
        free.certify(series)
    trees = SeriesRegressor("trees", random_state=0).fit(series)
    with pytest.raises(NotCertifiable, match="fit system 'denots'"):
        trees.certify(series)
    gru = SeriesRegressor("gru", options={"max_epochs": 1, "batches_per_epoch": 1}, random_state=0).fit(series)
    with pytest.raises(NotCertifiable, match="no differential equation with negative feedback"):
        certify(gru.fitted_)


@pytest.mark.parametrize("options", [{"normalise": "batch"}, {"learn_depth": True}, {"inflate": 2}])
def test_options_that_the_proof_does_not_cover_are_refused(options, series: SeriesSet) -> None:
    with pytest.raises(InvalidOption, match="leave normalise, inflate, holes and learn_depth at their defaults"):
        fitted(series, stability="certified", **options)
