"""The blend for labels of rows: causal by construction, weighed by the loss over rows that nobody has learnt from."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss, roc_auc_score

import denots
from denots import RowPredictor, SeriesClassifier, SeriesSet
from denots.errors import InvalidOption
from denots.systems import SYSTEMS
from denots.systems.auto import Auto
from denots.systems.held_out import trivial_outputs
from denots.tasks import TASKS

FAST = {"max_epochs": 2, "batches_per_epoch": 20, "rounds": 30, "state_size": 12}


def stays(n: int = 60, seed: int = 0) -> SeriesSet:
    """Pulses, some not seen; the label is whether the last known one is high, and unknown now and then."""
    rng = np.random.default_rng(seed)
    times = [np.sort(rng.uniform(0, 24, rng.integers(2, 12))) for _ in range(n)]
    pulse = [70 + 3 * rng.normal(size=len(t)).cumsum() for t in times]
    labels = [np.where(rng.random(len(x)) < 0.1, np.nan, x > 71) for x in pulse]
    return SeriesSet.from_arrays(times, pulse, row_target=labels)


def small(*names: str) -> Auto:
    chosen = {}
    for name in names or SYSTEMS["running-auto"].members:
        member = SYSTEMS[name]
        chosen[name] = member.with_options(**{key: value for key, value in FAST.items() if key in member.options})
    return replace(SYSTEMS["running-auto"], members=chosen)


@pytest.fixture(scope="module")
def model() -> RowPredictor:
    return RowPredictor(small(), random_state=0).fit(stays())


def test_the_leaderboard_tells_what_rows_that_were_held_out_say(model: RowPredictor) -> None:
    rows, part = {row["system"]: row for row in model.leaderboard_}, model.task_.pose(stays())
    assert list(rows) == ["trivial answer", "running-trees", "running-gru", "running-denots", "blend"]
    known = ~part.target.isnan()
    truth = part.target[known].numpy()
    told = torch.sigmoid(model.fitted_.held_out[known])[:, 0].numpy()
    assert rows["blend"]["loss"] == pytest.approx(log_loss(truth, told), rel=1e-6)
    assert rows["blend"]["score"] == pytest.approx(roc_auc_score(truth, told), rel=1e-6)
    assert rows["trivial answer"]["loss"] == pytest.approx(log_loss(truth, np.full(len(truth), truth.mean())), rel=1e-3)
    assert rows["blend"]["loss"] < min(row["loss"] for row in rows.values()) + 0.02
    assert rows["blend"]["loss"] < 0.6 * rows["trivial answer"]["loss"]


def test_new_rows_are_told_as_well_as_those_that_were_held_out(model: RowPredictor) -> None:
    assert model.score(stays(100, seed=1)) > model.validation_score_ - 0.08
    assert model.validation_score_ > 0.85


def test_a_blend_is_the_weighted_sum_of_its_members_at_every_moment(model: RowPredictor) -> None:
    fresh, blend = stays(5, seed=2).without_row_target(), model.fitted_
    at = torch.from_numpy(np.linspace(fresh.ends - 1, fresh.ends + 3, 4).T.copy())
    wanted = torch.from_numpy(blend.base) + sum(
        weight * member.outputs(fresh, at).outputs
        for weight, member in zip(blend.weights.tolist(), blend.members.values(), strict=True)
    )
    torch.testing.assert_close(blend.outputs(fresh, at).outputs, wanted)


def test_a_saved_model_gives_the_same_bits(tmp_path: Path) -> None:
    SYSTEMS["small-rows"] = replace(small("running-trees", "running-denots"), name="small-rows")
    try:
        model = RowPredictor("small-rows", random_state=0).fit(stays())
        model.save(tmp_path / "model")
        again, fresh = denots.load(tmp_path / "model"), stays(9, seed=3)
        for one, other in zip(model.predict_proba(fresh), again.predict_proba(fresh), strict=True):
            np.testing.assert_array_equal(one, other)
        assert again.leaderboard_ == model.leaderboard_
    finally:
        del SYSTEMS["small-rows"]


def test_numbers_are_learnt_too() -> None:
    series = stays()
    series = replace(series, row_target=200 + 5 * series.values[:, 0])
    model = RowPredictor(small("running-trees"), random_state=0).fit(series)
    fresh = stays(40, seed=1)
    assert model.score(replace(fresh, row_target=200 + 5 * fresh.values[:, 0])) > 0.9


@pytest.mark.filterwarnings("ignore::denots.errors.NothingLearnt")
@pytest.mark.parametrize("per_row", [True, False])
def test_weights_count_in_the_trivial_answer_and_in_the_blend(per_row: bool) -> None:
    rng, n = np.random.default_rng(0), 80
    labels = [rng.integers(0, 2, 6).astype(float) for _ in range(n)]
    series = SeriesSet.from_arrays([np.arange(6.0)] * n, [rng.normal(size=6) for _ in range(n)], row_target=labels)
    table = np.stack(labels)
    weight = np.where(table > 0, 9.0, 1.0) if per_row else 1 + 5 * table.mean(axis=1)
    every = torch.from_numpy(np.broadcast_to(weight if per_row else weight[:, None], table.shape).copy())
    task = TASKS["row-classification"].read(series)
    base = trivial_outputs(task, torch.from_numpy(table), torch.from_numpy(weight))
    share = float((every * torch.from_numpy(table)).sum() / every.sum())
    assert torch.sigmoid(base).unique().item() == pytest.approx(share, rel=1e-4)
    model = RowPredictor(small("running-trees"), random_state=0).fit(series, sample_weight=weight.ravel())
    assert np.concatenate(model.predict_proba(series))[:, 1].mean() == pytest.approx(share, abs=0.03)


def test_one_member_that_may_look_ahead_makes_a_blend_that_may() -> None:
    assert SYSTEMS["running-auto"].causal
    mixed = replace(small(), members={**small().members, "denots": SYSTEMS["denots"]})
    with pytest.raises(InvalidOption, match="may look ahead"):
        RowPredictor(mixed).fit(stays())
    with pytest.raises(InvalidOption, match="running-auto' tells something of each row"):
        SeriesClassifier("running-auto").fit(stays().without_row_target(), np.arange(60) % 2)


def test_it_is_what_rows_get_unasked() -> None:
    assert RowPredictor().system == "running-auto"
