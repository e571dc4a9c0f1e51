"""UWGL and InsectSound from every form of the archive, and the gaps of both protocols."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from denots.datasets import DATASETS, DerivedRecipe, load
from denots.datasets.imports import import_source, open_import
from denots.datasets.uea import read_archive
from denots.errors import InvalidFile

from published_files import gestures, write_arff, write_packed, write_ts

UWGL = DATASETS["uwgl"]
assert isinstance(UWGL, DerivedRecipe)
ARCHIVE = "UWaveGestureLibrary"
STEPS = 40
GAPS = 12  # floor(0.3 * 40)


@pytest.fixture
def imported(tmp_path: Path) -> None:
    write_ts(tmp_path, ARCHIVE, gestures())
    import_source(UWGL.source, [tmp_path])


@pytest.mark.parametrize("write", [write_ts, write_arff, write_packed])
def test_every_form_brings_the_same_series(tmp_path: Path, write) -> None:
    data = gestures()
    write(tmp_path, ARCHIVE, data)
    found = read_archive(ARCHIVE, [tmp_path])
    for part, (values, labels) in data.items():
        series = found[part.lower()]
        np.testing.assert_array_equal(series.padded().values, values)
        assert series.values.dtype == np.float32
        assert series.target.tolist() == labels.tolist()
        assert series.ids.tolist() == [f"{part.lower()}-{k}" for k in range(len(values))]


def test_files_given_by_themselves_need_no_archive_name(tmp_path: Path) -> None:
    write_ts(tmp_path, "Mine", gestures())
    files = [tmp_path / "Mine_TEST.ts", tmp_path / "Mine_TRAIN.ts"]
    assert len(read_archive(ARCHIVE, files)["train"]) == 20
    with pytest.raises(InvalidFile, match=f"no {ARCHIVE}_TRAIN"):
        read_archive(ARCHIVE, [tmp_path])


def test_other_sets_and_single_dimensions_in_the_folder_do_not_matter(tmp_path: Path) -> None:
    write_arff(tmp_path, f"{ARCHIVE}Dimension1", gestures(channels=1))
    write_arff(tmp_path, ARCHIVE, gestures())
    write_ts(tmp_path, "Epilepsy", gestures(train=4))
    assert len(read_archive(ARCHIVE, [tmp_path])["train"].channels) == 3


def test_a_file_that_stands_twice_is_not_guessed(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write_ts(tmp_path / name, ARCHIVE, gestures())
    with pytest.raises(InvalidFile, match=r"stands twice.*give the folder of one"):
        read_archive(ARCHIVE, [tmp_path])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y_train": np.arange(20)}, "y_train must hold whole numbers from 0 to 3"),
        ({"X_test": np.zeros((12, 40))}, r"shapes \(12, 40\) and \(12,\)"),
        ({"classes": None}, "lacks classes"),
        ({"X_train": np.array([{}])}, "something else than plain arrays"),
    ],
)
def test_a_wrong_packed_file_is_refused(tmp_path: Path, change: dict, words: str) -> None:
    write_packed(tmp_path, ARCHIVE, gestures())
    file = tmp_path / f"{ARCHIVE}.npz"
    with np.load(file) as archive:
        arrays = {name: archive[name] for name in archive.files} | change
    np.savez(file, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(InvalidFile, match=words):
        read_archive(ARCHIVE, [file])


def test_a_truncated_packed_file_is_refused(tmp_path: Path) -> None:
    write_packed(tmp_path, ARCHIVE, gestures())
    file = tmp_path / f"{ARCHIVE}.npz"
    file.write_bytes(file.read_bytes()[:-50])
    with pytest.raises(InvalidFile, match=r"\.npz is damaged"):
        read_archive(ARCHIVE, [tmp_path])


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize("protocol", ["fair", "paper"])
def test_values_are_those_of_the_archive_or_missing_in_all_channels(protocol) -> None:
    raw = {one.id: one for series in open_import(UWGL.source).values() for one in series}
    splits = load("uwgl", protocol=protocol).splits
    for series in (splits.train, splits.val, splits.test):
        np.testing.assert_array_equal(series.padded().times, np.tile(np.linspace(0, 1, STEPS), (len(series), 1)))
        assert (series.start == 0).all()
        for one in series:
            gone = np.isnan(one.values)
            assert (gone.all(axis=1) == gone.any(axis=1)).all()
            np.testing.assert_array_equal(one.values[~gone], raw[one.id].values[~gone])
            assert one.target == raw[one.id].target
            assert len(one.times) == STEPS
            if protocol == "fair":
                assert gone[:, 0].sum() == GAPS
            else:
                assert 1 <= gone[:, 0].sum() <= GAPS


def test_with_replacement_the_share_is_that_of_the_closed_form(tmp_path: Path) -> None:
    write_packed(tmp_path, ARCHIVE, gestures(train=400, test=400, channels=1))
    import_source(UWGL.source, [tmp_path])
    splits = load("uwgl", protocol="paper").splits
    gone = np.concatenate([np.isnan(series.padded().values[:, :, 0]) for series in (splits.train, splits.test)])
    expected = 1 - (1 - 1 / STEPS) ** GAPS
    assert gone.mean() == pytest.approx(expected, abs=0.005)
    assert gone.mean(axis=0) == pytest.approx(expected, abs=0.08)  # first and last steps too
    assert len(np.unique(gone, axis=0)) > 700


@pytest.mark.usefixtures("imported")
def test_the_training_part_is_cut_80_to_20_and_the_test_part_stays() -> None:
    splits = load("uwgl", protocol="fair").splits
    train, val, test = (set(series.ids.tolist()) for series in (splits.train, splits.val, splits.test))
    assert (len(train), len(val), len(test)) == (16, 4, 12)
    assert train | val == {f"train-{k}" for k in range(20)}
    assert test == {f"test-{k}" for k in range(12)}
    assert len(np.unique(splits.train.target[:8])) > 1  # shuffled, although the archive is sorted by class


@pytest.mark.usefixtures("imported")
def test_the_seed_decides_split_and_gaps() -> None:
    first, other = load("uwgl", protocol="fair").splits, load("uwgl", seed=1, protocol="fair").splits
    assert first.train.ids.tolist() != other.train.ids.tolist()
    mask = {seed: np.isnan(splits.test.values) for seed, splits in ((0, first), (1, other))}
    assert not np.array_equal(mask[0], mask[1])
    small = load("uwgl", size=(5, 2, 3), protocol="fair").splits
    assert small.train.same_as(first.train.select(range(5)))
    assert small.test.same_as(first.test.select(range(3)))


def test_series_of_different_length_share_their_step(tmp_path: Path) -> None:
    data = gestures(steps=11)
    write_packed(tmp_path, ARCHIVE, data)
    parts = read_archive(ARCHIVE, [tmp_path])
    shorter = parts["train"].select([0])
    short = replace(shorter, times=shorter.times[:6], values=shorter.values[:6], offsets=np.array([0, 6]))
    splits = UWGL.derive["fair"]({"train": parts["train"], "test": short}, 0)
    np.testing.assert_allclose(splits["test"].times, np.arange(6) / 10)
    assert np.isnan(splits["test"].values[:, 0]).sum() == 1


def test_insect_sound_has_one_channel_and_ten_classes(tmp_path: Path) -> None:
    recipe = DATASETS["insect-sound"]
    assert isinstance(recipe, DerivedRecipe)
    write_ts(tmp_path, "InsectSound", gestures(train=30, test=20, steps=60, channels=1, classes=10))
    import_source(recipe.source, [tmp_path])
    data = load("insect-sound", protocol="paper")
    assert data.task == "classification"
    assert len(data.splits.train) == 24
    assert data.splits.test.channels == ("x0",)
    assert len(np.unique(data.splits.test.target)) == 10
