"""Any set of the archive becomes a data set: ragged, with holes, with time stamps, of classes or of numbers."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from denots.datasets import DATASETS, DerivedRecipe, load
from denots.datasets.archive import import_archives, imported_archives
from denots.datasets.facts import check_facts
from denots.datasets.imports import open_import
from denots.errors import InvalidFile, InvalidOption, NotImported

from published_files import gestures, write_arff, write_ts

NUMBERS = """\
@problemName Heat
@timeStamps true
@missing true
@univariate false
@dimensions 2
@equalLength false
@targetLabel true
@classLabel false
@data
(0,1.5),(2.5,2):(0,7),(4,?):3.25
(1,1):(3,8),(3.5,9):-1
(0,4),(1,5),(2,6):(0,1):0.5
"""
RAGGED = """\
@problemName Steps
@timeStamps false
@missing false
@univariate true
@equalLength false
@classLabel true low high
@data
1,2,3:low
4,5:high
6,7,8,9:high
"""


def parts_of(name: str) -> dict:
    recipe = DATASETS.find(name)
    assert isinstance(recipe, DerivedRecipe)
    return open_import(recipe.source)


def write_twice(folder: Path, name: str, text: str) -> None:
    for part in ("TRAIN", "TEST"):
        (folder / f"{name}_{part}.ts").write_text(text)


def test_numbers_with_time_stamps_are_a_regression(tmp_path: Path) -> None:
    write_twice(tmp_path, "Heat", NUMBERS)
    assert list(import_archives([tmp_path])) == ["uea-Heat"]
    train = parts_of("uea-Heat")["train"]
    assert train.target.tolist() == [3.25, -1.0, 0.5]
    assert train.lengths.tolist() == [2, 3, 3]  # at time 4 nothing was observed, and it is the end
    np.testing.assert_array_equal(train[0].times, [0, 2.5])
    np.testing.assert_array_equal(train[1].values, [[1, np.nan], [np.nan, 8], [np.nan, 9]])
    data = load("uea-Heat")
    assert data.task == "regression"
    assert [len(split) for split in (data.splits.train, data.splits.val, data.splits.test)] == [2, 1, 3]


def test_series_keep_their_lengths(tmp_path: Path) -> None:
    write_twice(tmp_path, "Steps", RAGGED)
    import_archives([tmp_path])
    train = parts_of("uea-Steps")["train"]
    assert [one.values[:, 0].tolist() for one in train] == [[1, 2, 3], [4, 5], [6, 7, 8, 9]]
    assert load("uea-Steps").task == "classification"


def test_missing_steps_at_the_end_of_an_arff_series_are_padding(tmp_path: Path) -> None:
    data = gestures(train=4, test=4, steps=6, channels=2, classes=2)
    data["TRAIN"][0][1, 4:] = np.nan
    data["TRAIN"][0][2, 2] = np.nan
    write_arff(tmp_path, "Padded", data)
    import_archives([tmp_path])
    train = parts_of("uea-Padded")["train"]
    assert train.lengths.tolist() == [6, 4, 6, 6]
    np.testing.assert_array_equal(train[2].values, data["TRAIN"][0][2])


def test_a_zip_with_every_form_and_single_dimensions_is_one_set(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    write_ts(tmp_path / "files", "Waves", gestures())
    write_arff(tmp_path / "files", "Waves", gestures())
    write_arff(tmp_path / "files", "WavesDimension1", gestures(channels=1))
    with zipfile.ZipFile(tmp_path / "anything.zip", "w") as archive:
        for file in (tmp_path / "files").iterdir():
            archive.write(file, f"deep/{file.name}")
        archive.writestr("Waves_TRAIN.txt", "not read")
    assert list(import_archives([tmp_path / "anything.zip"])) == ["uea-Waves"]
    assert parts_of("uea-Waves")["test"].padded().values.shape == (12, 40, 3)


def test_a_folder_of_sets_is_imported_as_a_whole(tmp_path: Path) -> None:
    for name in ("One", "Two"):
        (tmp_path / name).mkdir()
        write_ts(tmp_path / name, name, gestures(classes=2 if name == "One" else 5))
    assert imported_archives() == []
    import_archives([tmp_path])
    assert imported_archives() == ["uea-One", "uea-Two"]
    assert len(np.unique(parts_of("uea-Two")["train"].target)) == 5


def test_what_cannot_be_taken_in_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="nowhere does not exist"):
        import_archives([tmp_path / "nowhere"])
    (tmp_path / "Half_TRAIN.ts").write_text(RAGGED)
    with pytest.raises(InvalidFile, match="no pair NAME_TRAIN and NAME_TEST"):
        import_archives([tmp_path])
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        write_twice(tmp_path / place, "Twin", RAGGED)
    with pytest.raises(InvalidFile, match="stands twice"):
        import_archives([tmp_path])
    with pytest.raises(NotImported, match="denots data import uea-Unseen PATH"):
        load("uea-Unseen")


def test_facts_are_checked_where_they_are_known(tmp_path: Path) -> None:
    write_ts(tmp_path, "BasicMotions", gestures(40, 40, steps=100, channels=6, classes=4))
    write_ts(tmp_path, "Mine", gestures())
    import_archives([tmp_path])
    assert all(finding.ok for finding in check_facts(DATASETS.find("uea-BasicMotions")))  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="nothing is known here about 'uea-Mine'"):
        check_facts(DATASETS.find("uea-Mine"))  # type: ignore[arg-type]
