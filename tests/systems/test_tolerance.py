"""The tolerance of predictions that is chosen after training: against closed forms, and against all answers."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

import denots
from denots.inference.solver import SolverConfig
from denots.systems import tolerance
from denots.systems.tolerance import COARSER, eased, steady
from denots.tasks import Classification
from wave_series import waves

QUICK = {"max_epochs": 2, "batches_per_epoch": 4, "batch_size": 32, "state_size": 8}


@pytest.fixture(scope="module")
def model() -> denots.SeriesRegressor:
    return denots.SeriesRegressor("denots", options=QUICK, random_state=0).fit(waves(120))


def test_answers_stand_where_the_tolerance_was_chosen(model: denots.SeriesRegressor) -> None:
    chosen = model.fitted_.settled["predict_tolerance"]
    assert 1e-5 < chosen <= 0.1
    series = waves(300, seed=1)
    answers = {}
    backbone = model.fitted_.model.backbone
    kept: SolverConfig = backbone.config
    for size in (chosen, chosen / 2, 1e-5):
        backbone.config = replace(kept, predict_tolerance=size)
        answers[size] = model.predict(series)
    backbone.config = kept
    scale = answers[1e-5].std()
    for size in (chosen / 2, 1e-5):
        assert np.mean(np.abs(answers[chosen] - answers[size]) > 1e-3 * scale) <= 0.01


def test_a_saved_model_keeps_its_tolerance_and_its_bits(model: denots.SeriesRegressor, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    again = denots.load(tmp_path / "model")
    assert again.fitted_.model.backbone.config == model.fitted_.model.backbone.config
    series = waves(20, seed=2)
    np.testing.assert_array_equal(again.predict(series), model.predict(series))


def test_who_asks_for_a_tolerance_has_it() -> None:
    options = {**QUICK, "predict_tolerance": 1e-4}
    model = denots.SeriesRegressor("denots", options=options, random_state=0).fit(waves(60))
    assert model.fitted_.model.backbone.config.predict_tolerance == 1e-4


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (lambda size: size, 1e-3),  # off by as much as the tolerance
        (lambda size: 0.2 * size, 3e-3),
        (lambda size: 0.0, 0.1),
        (lambda size: float(size > 2e-5), None),  # the same at all that are tried, and wrong
        (lambda size: 1e9 * size, None),
    ],
)
def test_the_coarsest_is_taken_that_neither_half_of_it_nor_the_asked_one_contradicts(
    model: denots.SeriesRegressor,
    answer: Callable[[float], float],
    wanted: float | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spread = torch.linspace(-1.0, 1.0, 400, dtype=torch.float64)
    spread = (spread / spread.std())[:, None]

    def answers(fitted: object, part: object, size: float) -> Tensor:
        return spread + answer(size)

    monkeypatch.setattr(tolerance, "_answers", answers)
    backbone = model.fitted_.model.backbone
    kept = backbone.config
    backbone.config = replace(kept, predict_tolerance=1e-5)
    problem = model.task_.pose(waves(30))
    found = eased(model.fitted_, problem, seed=0)
    assert backbone.config.predict_tolerance == (wanted or 1e-5)
    assert found.settled["predict_tolerance"] == (wanted or model.fitted_.settled["predict_tolerance"])
    backbone.config = kept


def test_one_series_in_a_thousand_may_move_and_failures_count_as_moves() -> None:
    task = Classification.read(waves(20).with_target(np.arange(20) % 2))
    still = torch.full((2000, 1), 0.5)
    assert steady(task, still, still)
    assert not steady(task, torch.where(torch.arange(2000)[:, None] < 3, torch.nan, still), still)
    assert steady(task, torch.where(torch.arange(2000)[:, None] < 2, 0.6, still), still)
    assert not steady(task, torch.where(torch.arange(2000)[:, None] < 3, 0.6, still), still)
    failed = torch.where(torch.arange(2000)[:, None] < 900, torch.nan, still)
    assert steady(task, failed, failed)
    assert max(COARSER) == 0.1
