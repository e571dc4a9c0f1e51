"""Patients of the challenge of 2012 from its text files, against a plain reading of each."""

from pathlib import Path

import numpy as np
import pytest

from denots.datasets import DATASETS, DerivedRecipe, load
from denots.datasets.imports import import_source, open_import
from denots.datasets.physionet2012 import CHANNELS, STATIC
from denots.errors import InvalidFile

RECIPE = DATASETS["physionet-2012"]
assert isinstance(RECIPE, DerivedRecipe)
HEAD = "RecordID,SAPS-I,SOFA,Length_of_stay,Survival,In-hospital_death"


def patient(record: int, *lines: str, unit: int = 3, height: float = 170, weight: float = 80) -> str:
    rows = [f"RecordID,{record}", "Age,54", "Gender,1", f"Height,{height}", f"ICUType,{unit}", f"Weight,{weight}"]
    return "\n".join(["Time,Parameter,Value", *(f"00:00,{row}" for row in rows), *lines]) + "\n"


def write(folder: Path, letter: str, patients: dict[int, str], deaths: set[int] = frozenset()) -> None:  # type: ignore[assignment]
    (folder / f"set-{letter}").mkdir(parents=True)
    for record, text in patients.items():
        (folder / f"set-{letter}" / f"{record}.txt").write_text(text)
    lines = [f"{record},6,1,5,-1,{int(record in deaths)}" for record in patients]
    (folder / f"Outcomes-{letter}.txt").write_text("\n".join([HEAD, *lines]) + "\n")


def imported(folder: Path):
    import_source(RECIPE.source, [folder])
    return open_import(RECIPE.source)["patients"]


def test_rows_are_times_and_twice_measured_values_their_mean(tmp_path: Path) -> None:
    lines = ["00:07,HR,73", "00:07,HR,75", "00:07,pH,7.4", "01:30,Temp,36.5", "47:59,Weight,81", "48:00,Weight,-1"]
    write(tmp_path, "a", {7: patient(7, *lines)}, deaths={7})
    series = imported(tmp_path)
    assert series.ids.tolist() == ["a-7"]
    assert series.target.tolist() == [1]
    assert series.time_unit == "h"
    np.testing.assert_allclose(series.times, [7 / 60, 1.5, 47 + 59 / 60])
    expected = np.full((3, 37), np.nan)
    for row, channel, value in [(0, "HR", 74), (0, "pH", 7.4), (1, "Temp", 36.5), (2, "Weight", 81)]:
        expected[row, CHANNELS.index(channel)] = value
    np.testing.assert_allclose(series.values, expected, rtol=1e-6)
    assert series.start.tolist() == [0]


def test_descriptors_are_numbers_or_categories_and_minus_one_is_unknown(tmp_path: Path) -> None:
    patients = {
        1: patient(1, "00:00,HR,60", unit=2, height=-1),
        2: patient(2, "00:00,HR,60", unit=4, weight=-1),
    }
    write(tmp_path, "a", patients)
    static = imported(tmp_path).static
    nan = np.nan
    np.testing.assert_array_equal(static, [[54, 1, nan, 80, 0, 1, 0, 0], [54, 1, 170, nan, 0, 0, 0, 1]])
    assert STATIC[4:] == ("ICU coronary", "ICU cardiac surgery", "ICU medical", "ICU surgical")


def test_patients_without_a_measurement_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, "a", {1: patient(1), 2: patient(2, "10:00,GCS,15"), 3: patient(3, "02:00,Weight,-1")})
    assert imported(tmp_path).ids.tolist() == ["a-2"]


def test_set_a_is_learnt_from_and_the_others_are_tested(tmp_path: Path) -> None:
    write(tmp_path, "a", {k: patient(k, "01:00,HR,60") for k in range(100, 121)}, deaths={101, 105})
    import_source(RECIPE.source, [tmp_path])
    splits = load("physionet-2012").splits
    assert [len(split) for split in (splits.train, splits.val, splits.test)] == [14, 3, 4]
    write(tmp_path, "b", {k: patient(k, "01:00,HR,60") for k in range(200, 206)})
    import_source(RECIPE.source, [tmp_path])
    splits = load("physionet-2012").splits
    assert [len(split) for split in (splits.train, splits.val, splits.test)] == [17, 4, 6]
    assert {name[:2] for name in splits.test.ids.tolist()} == {"b-"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (patient(1, "00:07,HR,fast"), r"1\.txt cannot be parsed"),
        (patient(1, "noon,HR,70"), r"1\.txt cannot be parsed"),
        (patient(1, "00:07,Mood,3"), "unknown parameter 'Mood'"),
        (patient(1, "00:07,HR,70", unit=9), "an ICUType is 9; the challenge has 1 to 4"),
        ("Time,Value\n", "expected Time,Parameter,Value"),
        ("Time,Parameter,Value\n", "no row after its header"),
    ],
)
def test_a_file_that_is_not_of_the_challenge_is_refused(tmp_path: Path, text: str, words: str) -> None:
    write(tmp_path, "a", {1: text, 2: patient(2, "01:00,HR,60")})
    with pytest.raises(InvalidFile, match=words):
        imported(tmp_path)


def test_outcomes_and_patients_have_to_agree(tmp_path: Path) -> None:
    write(tmp_path, "a", {k: patient(k, "01:00,HR,60") for k in (1, 2)})
    (tmp_path / "set-a" / "3.txt").write_text(patient(3))
    with pytest.raises(InvalidFile, match=r"1 patients, 3 first, are not in Outcomes-a\.txt"):
        imported(tmp_path)
    (tmp_path / "set-a" / "3.txt").unlink()
    (tmp_path / "set-a" / "1.txt").unlink()
    with pytest.raises(InvalidFile, match=r"1 records of Outcomes-a\.txt, 1 first, have no file"):
        imported(tmp_path)
    (tmp_path / "Outcomes-a.txt").unlink()
    with pytest.raises(InvalidFile, match="1 files of patients and 0 of outcomes"):
        imported(tmp_path)
