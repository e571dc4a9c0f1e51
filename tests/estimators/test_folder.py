"""Folders of models and checkpoints: the same bits back, nothing foreign in, nothing lost."""

import hashlib
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
    assert len(curve) == 1 + len(model.fitted_.curve)
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
    weights = folder / "arrays.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    with pytest.raises(InvalidFolder, match="truncated"):
        denots.load(folder)
    weights.unlink()
    with pytest.raises(InvalidFolder, match="incomplete"):
        denots.load(folder)


def test_a_foreign_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFolder, match=r"no manifest\.json"):
        denots.load(tmp_path)
    with pytest.raises(InvalidFolder, match="no such folder"):
        denots.load(tmp_path / "nothing")
    (tmp_path / "table.csv").write_text("id,time")
    with pytest.raises(InvalidFolder, match="is a file"):
        denots.load(tmp_path / "table.csv")
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(InvalidFolder, match="does not describe"):
        denots.load(tmp_path)
    (tmp_path / "manifest.json").write_text('{"format"')
    with pytest.raises(InvalidFolder, match="damaged"):
        denots.load(tmp_path)


def test_a_newer_folder_asks_for_an_upgrade(folder: Path) -> None:
    file = folder / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "format_version": 99}))
    with pytest.raises(InvalidFolder, match="upgrade"):
        denots.load(folder)


def rewritten(folder: Path, change: dict) -> None:
    """Change model.json and make the checksums fit again, as someone would who means harm."""
    file = folder / "model.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    resealed(folder)


def resealed(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["sha256"]
    for name in manifest["files"]:
        content = (folder / name).read_bytes()
        manifest["files"][name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    own = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps({**manifest, "sha256": own}))


@pytest.mark.parametrize(
    "change",
    [
        {"estimator": "os.system"},
        {"estimator": 3},
        {"params": {"depth": 2.0, "colour": "red"}},
        {"params": None},
        {"system": {}},
        {"system": {"name": "denots", "options": {"state_size": 10**9}, "state": {}}},
        {"system": {"name": "trees", "options": {}, "state": {"forests": ["no tree"]}}},
        {"system": {"name": "nothing", "options": {}, "state": {}}},
        {"task": {"name": "classification", "state": {"labels": [1], "dtype": "<i8", "weights": [1], "shares": [1]}}},
        {"task": {"name": "regression", "state": {}}},
        {"channels": 10**9},
        {"channels": [f"c{k}" for k in range(10**5)]},
        {"channels": None},
        {"static": ["a"]},
        {"learnt": {}},
        {"learnt": None},
        {"schema": {"id": 3}},
        {"ranges": None},
    ],
    ids=lambda change: json.dumps(change)[:60],
)
def test_a_changed_description_is_one_typed_error_whatever_is_in_it(folder: Path, change: dict) -> None:
    rewritten(folder, change)
    with pytest.raises(InvalidFolder):
        denots.load(folder)


def test_a_deeply_nested_description_is_refused(folder: Path) -> None:
    (folder / "model.json").write_text("[" * 100_000 + "]" * 100_000)
    resealed(folder)
    with pytest.raises(InvalidFolder):
        denots.load(folder)


def test_a_missing_entry_of_the_description_is_refused(folder: Path) -> None:
    whole = json.loads((folder / "model.json").read_text())
    for name in whole:
        (folder / "model.json").write_text(json.dumps({k: v for k, v in whole.items() if k != name}))
        resealed(folder)
        with pytest.raises(InvalidFolder):
            denots.load(folder)


@pytest.mark.parametrize("name", ["model.json", "arrays.safetensors", "curve.csv", "manifest.json"])
def test_a_flipped_bit_in_any_file_is_noticed(folder: Path, name: str) -> None:
    content = bytearray((folder / name).read_bytes())
    for place in (len(content) // 3, len(content) // 2, len(content) - 3):
        changed = bytearray(content)
        changed[place] ^= 1
        (folder / name).write_bytes(bytes(changed))
        with pytest.raises(InvalidFolder):
            denots.load(folder)
    (folder / name).write_bytes(bytes(content))
    denots.load(folder)


def test_a_note_in_a_model_folder_does_not_keep_it_from_loading_and_is_never_removed(
    regressor: DeNOTSRegressor, folder: Path
) -> None:
    (folder / "notes.txt").write_text("trained on ward 3")
    np.testing.assert_array_equal(denots.load(folder).predict(waves()), regressor.predict(waves()))
    with pytest.raises(InvalidFolder, match=r"notes\.txt"):
        regressor.save(folder)
    assert (folder / "notes.txt").read_text() == "trained on ward 3"


def test_whatever_lies_beside_a_file_named_like_ours_is_kept(regressor: DeNOTSRegressor, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('{"mine": true}')
    (tmp_path / "data.csv").write_text("id,time")
    with pytest.raises(InvalidFolder, match=r"data\.csv, model\.json"):
        regressor.save(tmp_path)
    assert (tmp_path / "data.csv").read_text() == "id,time"
    assert (tmp_path / "model.json").read_text() == '{"mine": true}'


def test_dots_links_and_the_home_folder_are_followed(
    regressor: DeNOTSRegressor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    regressor.save(".")
    assert (tmp_path / "here" / "manifest.json").exists()
    (tmp_path / "link").symlink_to(tmp_path / "here")
    regressor.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    monkeypatch.setenv("HOME", str(tmp_path))
    regressor.save("~/mine")
    np.testing.assert_array_equal(denots.load("~/mine").predict(waves()), regressor.predict(waves()))


def test_a_folder_with_other_things_is_not_overwritten(regressor: DeNOTSRegressor, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InvalidFolder, match=r"holds other files too \(thesis\.tex\)"):
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
    assert again.fitted_.curve == first.fitted_.curve
    with pytest.raises(InvalidFolder, match="other data or options"):
        DeNOTSRegressor(**options).fit(waves(seed=9))
    with pytest.raises(InvalidFolder, match="other data or options"):
        DeNOTSRegressor(**options).fit(waves(), waves().target[::-1].copy())
    with pytest.raises(InvalidFolder, match="other data or options"):
        DeNOTSRegressor(**{**options, "state_size": 7}).fit(waves())
    shutil.rmtree(tmp_path / "run")
    DeNOTSRegressor(**options).fit(waves(seed=9))
