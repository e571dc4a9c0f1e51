"""Folders of models and checkpoints: the same bits back, nothing foreign in, nothing lost."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import denots
from denots.errors import InvalidFolder
from denots.estimators import DeNOTSClassifier, DeNOTSForecaster, DeNOTSRegressor
from wave_series import FAST, waves


@pytest.mark.parametrize("kind", [DeNOTSClassifier, DeNOTSRegressor, DeNOTSForecaster])
def test_a_loaded_model_predicts_the_same_bits(kind, tmp_path: Path) -> None:
    base = waves()
    series = replace(base, static=np.arange(30.0)[:, None], static_names=("age",))
    y = np.where(series.target > 2.5, "fast", "slow") if kind is DeNOTSClassifier else series.target
    model = kind(**FAST).fit(series, y)
    model.save(tmp_path / "model")
    curve = (tmp_path / "model" / "curve.csv").read_text().splitlines()
    assert len(curve) == 1 + len(model.history_.rows)
    loaded = denots.load(tmp_path / "model")
    assert type(loaded) is kind
    if kind is DeNOTSForecaster:
        np.testing.assert_array_equal(loaded.predict(series, [4.0]), model.predict(series, [4.0]))
    elif kind is DeNOTSClassifier:
        np.testing.assert_array_equal(loaded.predict_proba(series), model.predict_proba(series))
        np.testing.assert_array_equal(loaded.predict(series), model.predict(series))
    else:
        np.testing.assert_array_equal(loaded.predict(series), model.predict(series))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model"]


@pytest.fixture
def folder(regressor: DeNOTSRegressor, tmp_path: Path) -> Path:
    regressor.save(tmp_path / "model")
    return tmp_path / "model"


def test_a_truncated_folder_is_refused(folder: Path) -> None:
    weights = folder / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    with pytest.raises(InvalidFolder, match="truncated"):
        denots.load(folder)
    weights.unlink()
    with pytest.raises(InvalidFolder, match="incomplete"):
        denots.load(folder)


def test_a_foreign_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFolder, match=r"no model\.json"):
        denots.load(tmp_path)
    with pytest.raises(InvalidFolder, match="no such folder"):
        denots.load(tmp_path / "nothing")
    (tmp_path / "table.csv").write_text("id,time")
    with pytest.raises(InvalidFolder, match="is a file"):
        denots.load(tmp_path / "table.csv")
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(InvalidFolder, match="not the description"):
        denots.load(tmp_path)
    (tmp_path / "model.json").write_text('{"format"')
    with pytest.raises(InvalidFolder, match="damaged"):
        denots.load(tmp_path)


def test_a_newer_folder_asks_for_an_upgrade(folder: Path) -> None:
    file = folder / "model.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "version": 99}))
    with pytest.raises(InvalidFolder, match="upgrade"):
        denots.load(folder)


@pytest.mark.parametrize("change", [{"estimator": "os.system"}, {"model": {}}, {"learnt": {"predict": 1}}])
def test_a_folder_cannot_name_other_code(folder: Path, change) -> None:
    file = folder / "model.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(InvalidFolder):
        denots.load(folder)


def test_a_folder_with_other_things_is_not_overwritten(regressor: DeNOTSRegressor, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InvalidFolder, match="not a model folder"):
        regressor.save(tmp_path)
    assert (tmp_path / "thesis.tex").exists()


def test_a_failed_save_leaves_the_old_model(regressor: DeNOTSRegressor, folder: Path, monkeypatch) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("denots.estimators.folder.json.dumps", full)
    with pytest.raises(OSError, match="disk full"):
        regressor.save(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_a_checkpoint_of_other_data_is_not_continued(tmp_path: Path) -> None:
    options = {**FAST, "checkpoint_dir": tmp_path / "run"}
    first = DeNOTSRegressor(**options).fit(waves())
    again = DeNOTSRegressor(**options).fit(waves())
    assert again.history_.rows == first.history_.rows
    with pytest.raises(InvalidFolder, match="other data or options"):
        DeNOTSRegressor(**options).fit(waves(seed=9))
    with pytest.raises(InvalidFolder, match="other data or options"):
        DeNOTSRegressor(**options).fit(waves(), waves().target[::-1].copy())
    with pytest.raises(InvalidFolder, match="other data or options"):
        DeNOTSRegressor(**{**options, "state_size": 7}).fit(waves())
    shutil.rmtree(tmp_path / "run")
    DeNOTSRegressor(**options).fit(waves(seed=9))
