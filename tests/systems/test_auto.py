"""The system for people who ask for none: what it tries, what it says, and what it does when nothing can be learnt."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, log_loss
from torch import Tensor

import denots
from denots import SeriesClassifier, SeriesRegressor, SeriesSet
from denots.errors import NothingLearnt, OutOfTime
from denots.systems import SYSTEMS, Fitted, Problem, State, auto, bagged
from denots.systems.auto import Auto, AutoConfig
from denots.systems.bagged import fit_bag
from denots.tasks import Classification, Regression
from denots.training.model import Output
from wave_series import waves


def tones(n: int = 90, seed: int = 0) -> SeriesSet:
    """Three pitches, seen at random moments."""
    rng = np.random.default_rng(seed)
    pitch = rng.integers(1, 4, n)
    times = [np.sort(rng.uniform(0, 6, rng.integers(12, 30))) for _ in pitch]
    values = [
        np.sin(k * t + rng.uniform(0, 6)) + 0.1 * rng.normal(size=len(t)) for k, t in zip(pitch, times, strict=True)
    ]
    return SeriesSet.from_arrays(times, values, target=np.array(["low", "mid", "high"])[pitch - 1])


def test_what_was_held_out_foretells_how_good_new_answers_are() -> None:
    model = SeriesClassifier("fast", random_state=0).fit(tones(200))
    fresh = tones(300, seed=1)
    right = accuracy_score(fresh.target, model.predict(fresh))
    assert right > 0.85
    assert model.validation_score_ == pytest.approx(right, abs=0.06)
    shares = np.full((300, 3), 1 / 3)
    assert log_loss(fresh.target, model.predict_proba(fresh)) < 0.5 * log_loss(fresh.target, shares)


def test_the_leaderboard_has_every_system_the_trivial_answer_and_the_blend() -> None:
    model = SeriesClassifier("fast", random_state=0).fit(tones())
    rows = {row["system"]: row for row in model.leaderboard_}
    assert list(rows) == [
        "trivial answer",
        "summary",
        "oscillators",
        "timed-oscillators",
        "convolutions",
        "discriminant",
        "blend",
    ]
    assert rows["trivial answer"]["score"] < rows["oscillators"]["score"] <= 1
    assert rows["blend"]["loss"] <= min(row["loss"] for row in rows.values()) + 0.02
    assert all(row["spread"] > 0 for row in rows.values() if row["score"] < 1)
    assert set(rows["blend"]["weights"]) <= set(rows)


def test_a_blend_is_the_weighted_sum_of_its_members_above_the_trivial_answer() -> None:
    model = SeriesClassifier("fast", random_state=0).fit(tones())
    fresh = tones(7, seed=2)
    blend = model.fitted_
    wanted = torch.from_numpy(blend.base) + sum(
        weight * member.outputs(fresh).outputs
        for weight, member in zip(blend.weights.tolist(), blend.members.values(), strict=True)
    )
    torch.testing.assert_close(blend.outputs(fresh).outputs, wanted)
    assert torch.equal(blend.outputs(fresh.select([3])).outputs[0], blend.outputs(fresh).outputs[3])


def test_a_saved_model_gives_the_same_bits_and_keeps_its_leaderboard(tmp_path) -> None:
    series = tones(60)
    small = Auto("fast", "", {name: SYSTEMS[name] for name in ("oscillators", "trees", "forest")})
    SYSTEMS["small-blend"] = small.__class__("small-blend", "", small.members)
    try:
        model = SeriesClassifier("small-blend", random_state=0).fit(series)
        model.save(tmp_path / "model")
        again = denots.load(tmp_path / "model")
        assert np.array_equal(again.predict_proba(series), model.predict_proba(series))
        assert again.leaderboard_ == model.leaderboard_
    finally:
        del SYSTEMS["small-blend"]


def test_nothing_but_noise_gives_the_trivial_answer_and_says_so() -> None:
    rng = np.random.default_rng(0)
    series = SeriesSet.from_arrays([np.arange(8.0)] * 60, list(rng.normal(size=(60, 8))), target=rng.integers(0, 2, 60))
    with pytest.warns(NothingLearnt, match="nothing that was tried beats the trivial answer"):
        model = SeriesClassifier("fast", random_state=0).fit(series)
    share = (series.target == 1).mean()
    np.testing.assert_allclose(model.predict_proba(series)[:, 1], share, rtol=1e-3)


def test_numbers_are_learnt_in_their_own_unit() -> None:
    series = tones(150)
    speed = np.select([series.target == "low", series.target == "mid"], [100.0, 200.0], 300.0)
    model = SeriesRegressor("fast", random_state=0).fit(series, speed)
    fresh = tones(100, seed=5)
    truth = np.select([fresh.target == "low", fresh.target == "mid"], [100.0, 200.0], 300.0)
    assert model.score(fresh, truth) > 0.7


def test_what_does_not_fit_into_the_budget_is_left_out_by_name() -> None:
    with pytest.warns(NothingLearnt):
        model = SeriesClassifier("auto", options={"budget": 1e-3}, random_state=0).fit(tones(40))
    notes = {row["system"]: row.get("note", "") for row in model.leaderboard_}
    assert "left out" in notes["denots"]
    assert not model.fitted_.members


def test_trained_systems_come_early_for_many_series_and_the_budget_grows_with_them() -> None:
    auto = SYSTEMS["auto"]
    assert isinstance(auto, Auto)
    assert [name for name, _ in auto._ordered(100)][-1] == "denots"
    early = ["summary", "discriminant", "trees", "denots", "oscillators"]
    assert [name for name, _ in auto._ordered(5000)][:5] == early
    config = AutoConfig()
    assert config.seconds(10) < config.seconds(1000) < config.seconds(10**7) == 300
    assert AutoConfig(budget=7.0).seconds(10**7) == 7


def test_classes_of_two_series_are_learnt_too() -> None:
    persons = np.repeat(np.arange(20), 2)
    times = [np.linspace(0, 1, 15)] * 40
    series = SeriesSet.from_arrays(times, [person + np.sin(9 * times[0]) for person in persons], target=persons)
    few = Auto("few", "", {name: SYSTEMS[name] for name in ("oscillators", "forest")})
    rows = {row["system"]: row for row in SeriesClassifier(few, random_state=0).fit(series).leaderboard_}
    assert rows["forest"]["series"] == rows["oscillators"]["series"] == 40
    assert rows["blend"]["score"] > 0.5


@pytest.mark.parametrize("n", [60, 1100])
def test_a_system_is_weighed_by_enough_series_or_not_at_all(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    series = tones(n)
    task = Classification.read(series)
    moments = itertools.count(0.0)
    monkeypatch.setattr(bagged.time, "time", lambda: next(moments))
    problem = Problem(task, task.pose(series), None)
    if n < 1000:  # all five folds are needed to hold out so few
        with pytest.raises(OutOfTime, match="of 5 folds"):
            fit_bag(SYSTEMS["forest"].with_options(trees=3), problem, 5, seed=0, deadline=5.0)
        return
    bag = fit_bag(SYSTEMS["forest"].with_options(trees=3), problem, 5, seed=0, deadline=5.0)
    known = ~bag.held_out.isnan().any(dim=1)
    assert 200 <= int(known.sum()) < n
    assert len(bag.members) == round(5 * float(known.double().mean()))


@dataclass(frozen=True, kw_only=True, eq=False)
class Said(Fitted):
    """Known held-out answers, and nothing else."""

    def outputs(self, series: SeriesSet, at: Tensor | None = None) -> Output:
        raise NotImplementedError

    def state(self) -> State:
        raise NotImplementedError


def test_of_many_series_a_member_that_says_nothing_new_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(3, 500, 1))
    target = torch.from_numpy(parts.sum(axis=0))
    task = Regression.read(waves(500).with_target(target[:, 0].numpy()))
    target = task.pose(waves(500).with_target(target[:, 0].numpy())).target
    told = {
        "one": parts[0] + parts[1],
        "other": parts[2],
        "echo": parts[0] + parts[1] + 0.01 * rng.normal(size=(500, 1)),
    }
    found = {name: Said(task=task, held_out=torch.from_numpy(it)) for name, it in told.items()}
    trivial = torch.zeros(500, 1, dtype=torch.float64)
    assert len(auto.combine(task, found, trivial, target).members) == 3
    monkeypatch.setattr(auto, "MANY_ANSWERS", 500)
    blend = auto.combine(task, found, trivial, target)
    assert len(blend.members) == 2
    assert "other" in blend.members


def test_of_few_series_an_unlikely_member_counts_for_less_than_one_that_said_the_same() -> None:
    rng = np.random.default_rng(0)
    truth, noise = rng.normal(size=(12, 1)), 0.5 * rng.normal(size=(2, 12, 1))
    task = Regression.read(waves(12).with_target(truth[:, 0]))
    target = task.pose(waves(12).with_target(truth[:, 0])).target
    found = {
        name: Said(task=task, held_out=torch.from_numpy(truth + error))
        for name, error in zip(("usual", "odd"), noise, strict=True)
    }
    trivial = torch.zeros(12, 1, dtype=torch.float64)
    alike, held = (auto.combine(task, found, trivial, target, unlikely=names) for names in ((), ("odd",)))
    weights = dict(zip(held.members, held.weights.tolist(), strict=True))
    assert weights["odd"] < dict(zip(alike.members, alike.weights.tolist(), strict=True))["odd"]
    assert weights["odd"] < weights["usual"]
