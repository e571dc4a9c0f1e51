"""Sepsis from both of its forms; values are judged by pandas, the window and the filters by hand."""

from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from denots.data.store import content_hash
from denots.datasets import DATASETS, DerivedRecipe, load
from denots.datasets.imports import import_source, open_import
from denots.datasets.sepsis import read_challenge
from denots.errors import InvalidFile

from published_files import CHANNELS, STATIC, Patient, hospitals, write_packed_patients, write_patients

SEPSIS = DATASETS["sepsis"]
assert isinstance(SEPSIS, DerivedRecipe)
KEPT = {p.number for stays in hospitals().values() for p in stays} - {19, 20, 100_013}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_patients(tmp_path / "challenge", hospitals())
    return tmp_path / "challenge"


def number(name: str) -> int:
    return int(name[1:])


def test_patient_files_read_as_pandas_reads_them(folder: Path) -> None:
    parts = read_challenge([folder])
    for hospital, patients in hospitals().items():
        assert [number(name) for name in parts[hospital].ids.tolist()] == [p.number for p in patients]
        for one, patient in zip(parts[hospital], patients, strict=True):
            table = pd.read_csv(StringIO(patient.text()), sep="|")
            np.testing.assert_array_equal(one.values[:, :-1], table[CHANNELS].to_numpy(np.float32))
            np.testing.assert_array_equal(one.values[:, -1], table["SepsisLabel"])
            np.testing.assert_array_equal(one.times, table["ICULOS"])
            np.testing.assert_array_equal(one.static, table[STATIC].to_numpy(np.float32)[0])
            assert one.target == table["SepsisLabel"].max()
    assert (parts["A"].channels[:34], parts["A"].static_names) == (tuple(CHANNELS), tuple(STATIC))


def test_both_forms_are_the_same_to_the_last_bit(folder: Path, tmp_path: Path) -> None:
    write_packed_patients(tmp_path, hospitals())
    text, packed = read_challenge([folder]), read_challenge([tmp_path / "setA.npz", tmp_path / "setB.npz"])
    assert [content_hash(text[part]) for part in "AB"] == [content_hash(packed[part]) for part in "AB"]
    folders = [folder / "training_setB", folder / "training_setA"]
    assert read_challenge(folders)["A"].same_as(text["A"])


def test_what_is_seen_is_the_first_72_hours_from_the_first_row(folder: Path) -> None:
    import_source(SEPSIS.source, [folder])
    splits = load("sepsis").splits
    patients = {p.number: p for stays in hospitals().values() for p in stays}
    seen = [one for series in (splits.train, splits.val, splits.test) for one in series]
    assert {number(one.id) for one in seen} == KEPT
    for one in seen:
        patient = patients[number(one.id)]
        rows = [row for row in range(patient.hours) if patient.first + row < 72]
        np.testing.assert_array_equal(one.times, rows)
        np.testing.assert_array_equal(one.values, patient.values[rows].astype(np.float32))
        assert one.target == int(patient.onset >= 0)
    assert splits.train.channels == tuple(CHANNELS)
    assert splits.train.static_names == tuple(STATIC)
    assert (splits.train.start == 0).all()


def test_patients_are_split_70_15_15_or_by_hospital(folder: Path) -> None:
    import_source(SEPSIS.source, [folder])
    splits = load("sepsis").splits
    names = [set(series.ids.tolist()) for series in (splits.train, splits.val, splits.test)]
    assert [len(part) for part in names] == [21, 4, 5]
    assert len(set.union(*names)) == len(KEPT) == 30
    assert splits.train.ids.tolist() != load("sepsis", seed=1).splits.train.ids.tolist()
    shift = load("sepsis-shift").splits
    assert {number(name) > 100_000 for part in (shift.train, shift.val) for name in part.ids.tolist()} == {False}
    assert {number(name) > 100_000 for name in shift.test.ids.tolist()} == {True}
    assert (len(shift.train), len(shift.val), len(shift.test)) == (15, 3, 12)


def test_both_protocols_share_one_folder(folder: Path) -> None:
    home = import_source(SEPSIS.source, [folder]).parents[1]
    fair, paper = load("sepsis", protocol="fair").splits.train, load("sepsis", protocol="paper").splits.train
    assert fair.same_as(paper)
    assert len(list((home / "datasets").iterdir())) == 1


def test_the_onset_survives_the_import(folder: Path) -> None:
    import_source(SEPSIS.source, [folder])
    stay = open_import(SEPSIS.source)["A"]
    row = stay.ids.tolist().index("p000018")
    assert np.flatnonzero(stay[row].values[:, -1])[0] == 3


def changed(text: str, line: int, column: str, cell: str) -> str:
    rows = [row.split("|") for row in text.splitlines()]
    rows[line - 1][rows[0].index(column)] = cell
    return "\n".join("|".join(row) for row in rows) + "\n"


TEXT = Patient(5, 13).text()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (changed(TEXT, 4, "HR", "fast"), "line 4: HR is 'fast'; expected a number"),
        (changed(TEXT, 6, "ICULOS", "NaN"), "line 6: ICULOS is 'NaN'"),
        (TEXT + "1|2|3\n", "line 15: 3 cells; expected 41"),
        (changed(TEXT, 3, "Age", "11"), "Age changes to 11.0 during the stay"),
        (TEXT.replace("HR|O2Sat", "HR|SpO2"), "line 1: the columns are not those of the challenge"),
        (TEXT.splitlines()[0] + "\n", "has no row after its header"),
        ("", "line 1: the columns"),
    ],
)
def test_a_fault_is_named_with_file_and_line(folder: Path, text: str, words: str) -> None:
    (folder / "training_setA" / "p000005.psv").write_text(text)
    with pytest.raises(InvalidFile, match=rf"p000005\.psv.*{words}"):
        read_challenge([folder])


def test_unsorted_hours_name_the_patient(folder: Path) -> None:
    (folder / "training_setA" / "p000005.psv").write_text(changed(TEXT, 6, "ICULOS", "2"))
    with pytest.raises(ValueError, match="series 'p000005': times must increase"):
        read_challenge([folder])


def test_windows_line_ends_and_a_missing_last_one_change_nothing(folder: Path) -> None:
    whole = read_challenge([folder])["A"]
    file = folder / "training_setA" / "p000005.psv"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n").removesuffix(b"\r\n"))
    assert read_challenge([folder])["A"].same_as(whole)


def test_one_hospital_is_not_enough(folder: Path) -> None:
    with pytest.raises(InvalidFile, match="all 20 patients are of hospital A"):
        read_challenge([folder / "training_setA"])


def test_a_folder_without_data_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="training_setA and training_setB"):
        read_challenge([tmp_path])


def test_a_file_of_nobody_is_refused(folder: Path) -> None:
    (folder / "training_setA" / "notes.psv").write_text(TEXT)
    with pytest.raises(InvalidFile, match=r"notes\.psv is not named after a patient"):
        read_challenge([folder])


@pytest.mark.parametrize(
    ("name", "array", "words"),
    [
        ("value_names", np.array(CHANNELS[::-1]), "value_names are not those of the challenge"),
        ("label_onset", np.array([-1, -1]), "2 entries in label_onset for 20 patients"),
        ("lengths", np.full(20, 8), "do not fit the lengths"),
        ("static", None, "lacks static"),
    ],
)
def test_a_wrong_packed_file_is_refused(tmp_path: Path, name: str, array: np.ndarray | None, words: str) -> None:
    write_packed_patients(tmp_path, hospitals())
    with np.load(tmp_path / "setA.npz") as archive:
        arrays = {key: archive[key] for key in archive.files} | {name: array}
    np.savez(tmp_path / "setA.npz", **{key: value for key, value in arrays.items() if value is not None})
    with pytest.raises(InvalidFile, match=rf"setA\.npz.*{words}"):
        read_challenge([tmp_path])
