"""Imports are whole or absent, tied to what is made of them, and say what to do when they are not there."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from denots.datasets import DATASETS, DerivedRecipe, build, load
from denots.datasets.imports import import_folder, import_source, imported, open_import
from denots.errors import InvalidFile, InvalidFolder, InvalidOption, NotImported

from published_files import gestures, hospitals, write_patients, write_ts

UWGL = DATASETS["uwgl"]
assert isinstance(UWGL, DerivedRecipe)
ARCHIVE = "UWaveGestureLibrary"
REAL = [name for name, recipe in DATASETS.items() if isinstance(recipe, DerivedRecipe)]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "files").mkdir()
    write_ts(tmp_path / "files", ARCHIVE, gestures())
    return tmp_path / "files"


def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def zipped(folder: Path, archive: Path, prefix: str = "") -> Path:
    with zipfile.ZipFile(archive, "w") as content:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                content.write(file, f"{prefix}{file.relative_to(folder)}")
        content.writestr(f"{prefix}ReadMe.txt", "not data")
    return archive


@pytest.mark.parametrize("name", REAL)
def test_what_is_not_imported_is_told_with_site_and_commands(name: str) -> None:
    recipe = DATASETS[name]
    assert isinstance(recipe, DerivedRecipe)
    with pytest.raises(NotImported) as caught:
        load(name)
    for words in (recipe.source.title, recipe.source.page, f"denots data import {recipe.source.name} PATH"):
        assert words in str(caught.value)
    site = "physionet.org" if name.startswith(("sepsis", "physionet")) else "timeseriesclassification.com"
    assert site in recipe.source.page
    assert site in recipe.source.url


def test_a_zip_archive_is_read_wherever_its_files_lie(files: Path, tmp_path: Path) -> None:
    import_source(UWGL.source, [files])
    plain = open_import(UWGL.source)["train"]
    import_source(UWGL.source, [zipped(files, tmp_path / "archive.zip", "deep/down/")])
    assert open_import(UWGL.source)["train"].same_as(plain)
    sepsis = DATASETS["sepsis"]
    assert isinstance(sepsis, DerivedRecipe)
    write_patients(tmp_path / "challenge", hospitals())
    import_source(sepsis.source, [zipped(tmp_path / "challenge", tmp_path / "c.zip", "training/")])
    assert len(open_import(sepsis.source)["B"]) == 13


def test_names_in_an_archive_cannot_leave_its_folder(files: Path, tmp_path: Path) -> None:
    import_source(UWGL.source, [zipped(files, tmp_path / "evil.zip", "../../../")])
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["evil.zip", "files", "home"]
    assert [entry.name for entry in home(tmp_path).iterdir()] == ["imported"]


def test_a_failed_import_leaves_the_earlier_one(files: Path, tmp_path: Path) -> None:
    import_source(UWGL.source, [files])
    before = open_import(UWGL.source)["test"]
    (files / f"{ARCHIVE}_TEST.ts").write_text("@data\n")
    with pytest.raises(InvalidFile, match=r"_TEST\.ts, line 1"):
        import_source(UWGL.source, [files])
    assert open_import(UWGL.source)["test"].same_as(before)
    assert [entry.name for entry in home(tmp_path).iterdir()] == ["imported"]


def test_a_damaged_archive_and_a_missing_path_are_told(files: Path, tmp_path: Path) -> None:
    archive = zipped(files, tmp_path / "archive.zip")
    broken = bytearray(archive.read_bytes())
    broken[200:260] = bytes(60)
    archive.write_bytes(broken)
    with pytest.raises(InvalidFile, match=r"archive\.zip is damaged"):
        import_source(UWGL.source, [archive])
    archive.write_bytes(broken[:-100])
    with pytest.raises(InvalidFile, match=r"archive\.zip is damaged"):
        import_source(UWGL.source, [archive])
    with pytest.raises(InvalidFile, match="nowhere does not exist"):
        import_source(UWGL.source, [tmp_path / "nowhere"])


def test_a_new_import_is_never_answered_from_the_old_cache(files: Path) -> None:
    import_source(UWGL.source, [files])
    old = load("uwgl").splits.test
    data = gestures()
    data["TEST"][0][:] += 1
    write_ts(files, ARCHIVE, data)
    import_source(UWGL.source, [files])
    np.testing.assert_allclose(load("uwgl").splits.test.values, old.values + 1, rtol=1e-6)


def test_the_protocol_is_part_of_folder_and_manifest(files: Path) -> None:
    import_source(UWGL.source, [files])
    folders = {protocol: build("uwgl", protocol=protocol) for protocol in ("fair", "paper")}
    for protocol, folder in folders.items():
        assert f"-{protocol}-" in folder.name
        assert json.loads((folder / "dataset.json").read_text())["protocol"] == protocol
    with pytest.raises(InvalidOption, match="protocol is one of paper, fair, best; got 'nice'"):
        load("uwgl", protocol="nice")  # type: ignore[arg-type]


@pytest.mark.parametrize(("file", "words"), [("train/series.npz", "truncated"), ("import.json", "was changed")])
def test_a_damaged_import_is_named_and_can_be_repeated(files: Path, file: str, words: str) -> None:
    folder = import_source(UWGL.source, [files])
    if file.endswith(".json"):
        (folder / file).write_text((folder / file).read_text().replace('"usable"', '"useful"'))
    else:
        (folder / file).write_bytes((folder / file).read_bytes()[:-9])
    with pytest.raises(InvalidFolder, match=rf"{words}.*denots data import uwgl PATH. again"):
        load("uwgl")
    import_source(UWGL.source, [files])
    assert len(load("uwgl").splits.train) == 16


def test_more_series_than_there_are_is_refused(files: Path) -> None:
    import_source(UWGL.source, [files])
    with pytest.raises(InvalidOption, match="13 series asked for 'test', but this data set defines 12"):
        load("uwgl", size=(1, 1, 13))


def test_a_synthetic_set_has_nothing_to_import() -> None:
    with pytest.raises(InvalidOption, match="'bump' is drawn from a seed"):
        imported(DATASETS["bump"])
    assert import_folder(UWGL.source).name == "uwgl-v1"
