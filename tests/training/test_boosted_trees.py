"""Boosted trees stand beside the neural systems: same splits, same metrics, same records."""

import numpy as np
import pytest
import torch
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import r2_score, roc_auc_score

from denots.data.summary import summarise
from denots.datasets import load
from denots.runs.record import RunRecord
from denots.runs.run import run
from denots.runs.spec import BackboneSpec, DatasetSpec, RunSpec

TREES = BackboneSpec("boosted-trees", {"max_iter": 20})


@pytest.fixture(autouse=True)
def one_thread(monkeypatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def test_the_metric_is_what_scikit_learn_finds_on_the_same_features() -> None:
    record = run(RunSpec(DatasetSpec("sine-mix", size=150), TREES, seed=3))
    splits = load("sine-mix", size=150).splits
    trees = HistGradientBoostingRegressor(max_iter=20, early_stopping=False, random_state=3)
    trees.fit(summarise(splits.train), splits.train.target)
    wanted = r2_score(splits.test.target, trees.predict(summarise(splits.test)))
    assert record.metrics["test"]["R2"] == pytest.approx(wanted, abs=1e-3)


def test_a_bump_is_seen_in_the_summary() -> None:
    record = run(RunSpec(DatasetSpec("bump", size=150), TREES))
    splits = load("bump", size=150).splits
    peak = summarise(splits.test)[:, 2 + 4]
    assert record.metrics["test"]["AUROC"] == roc_auc_score(splits.test.target, peak) == 1.0


def test_a_forecast_beats_the_mean_and_the_record_survives_json() -> None:
    record = run(RunSpec(DatasetSpec("pendulum-angles", size=150), TREES))
    assert 0.5 < record.metrics["test"]["R2"] < 1
    assert record.parameters > 0
    assert record.evaluations is None
    assert record.curve == []
    assert RunRecord.from_json(record.to_json()) == record


def test_classes_missing_from_training_get_no_probability() -> None:
    from denots.readout import Multiclass
    from denots.training.boosted_trees import BoostedTrees

    series = load("bump", size=60).splits.train
    trees = BoostedTrees(BoostedTrees.Config(max_iter=5), Multiclass(1, 3), "multiclass", seed=0)
    target = torch.from_numpy(np.where(np.asarray(series.target, dtype=np.int64) == 1, 2, 0))
    outputs = trees.fit(series, target, None).outputs(series, None)
    assert torch.isneginf(outputs[:, 1]).all()
    torch.testing.assert_close(outputs.softmax(dim=1).sum(dim=1), torch.ones(len(series), dtype=torch.float64))
