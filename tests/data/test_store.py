"""A stored set comes back exactly, or not at all with a reason."""

import hashlib
import json
import os
import pickle
import tempfile
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from denots.data import SeriesSet, store
from denots.data.store import content_hash, open_series_set, save_series_set
from denots.errors import InvalidFolder, InvalidSeries

from strategies import QUICK, series_sets

EXAMPLE = SeriesSet.from_arrays(
    [[0.0, 0.5, 2.0], [1e9 + 0.125]],
    [[[1.0, np.nan], [2.0, 3.0], [np.nan, 4.0]], [[5.0, np.nan]]],
    ids=["Ann", "Bjørn"],
    channels=["pulse", "温度"],
    static=[[60.0], [np.nan]],
    static_names=["age"],
    target=["ill", "well"],
    start=[-1.0, 1e9],
    time_unit="h",
)
OTHER = SeriesSet.from_arrays([[0.0]], [[1.0]])


def entries(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def edit_manifest(folder: Path, **changes: Any) -> None:
    file = folder / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@QUICK
@given(series_sets())
def test_a_set_comes_back_exactly(series: SeriesSet) -> None:
    with tempfile.TemporaryDirectory() as folder:
        save_series_set(series, Path(folder) / "set")
        back = open_series_set(Path(folder) / "set")
    assert back.same_as(series)
    for field in fields(series):
        was, now = getattr(series, field.name), getattr(back, field.name)
        assert type(now) is type(was)
        assert getattr(now, "dtype", None) == getattr(was, "dtype", None)
    assert content_hash(back) == content_hash(series)


def test_a_set_saves_and_opens_by_its_own_methods(tmp_path: Path) -> None:
    EXAMPLE.save(str(tmp_path / "deep" / "set"))
    assert SeriesSet.open(str(tmp_path / "deep" / "set")).same_as(EXAMPLE)


def test_the_manifest_tells_a_reader_what_is_inside(tmp_path: Path) -> None:
    save_series_set(EXAMPLE, tmp_path / "set")
    assert entries(tmp_path / "set") == ["manifest.json", "series.npz"]
    manifest = json.loads((tmp_path / "set" / "manifest.json").read_text(encoding="utf-8"))
    expected = {"format": "denots-series", "format_version": 1, "series": 2, "observations": 4, "time_unit": "h"}
    assert manifest.items() >= expected.items()
    assert (manifest["channels"], manifest["static_names"]) == (["pulse", "温度"], ["age"])
    assert manifest["file_sha256"] == hashlib.sha256((tmp_path / "set" / "series.npz").read_bytes()).hexdigest()


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(tmp_path: Path, kept: float) -> None:
    save_series_set(EXAMPLE, tmp_path / "set")
    file = tmp_path / "set" / "series.npz"
    content = file.read_bytes()
    file.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(InvalidFolder, match="changed or truncated"):
        open_series_set(tmp_path / "set")


def test_any_changed_byte_is_noticed(tmp_path: Path) -> None:
    save_series_set(EXAMPLE, tmp_path / "set")
    file = tmp_path / "set" / "series.npz"
    content = file.read_bytes()
    for place in range(0, len(content), 37):
        changed = bytearray(content)
        changed[place] ^= 1
        file.write_bytes(changed)
        with pytest.raises(InvalidFolder, match="changed or truncated"):
            open_series_set(tmp_path / "set")


@pytest.mark.parametrize(
    "change",
    [
        {"channels": ["pulse", "x"]},
        {"channels": 5},
        {"static_names": []},
        {"time_unit": "s"},
        {"content_sha256": "0" * 64},
    ],
)
def test_a_manifest_that_no_longer_fits_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    save_series_set(EXAMPLE, tmp_path / "set")
    edit_manifest(tmp_path / "set", **change)
    with pytest.raises(InvalidFolder, match="does not describe"):
        open_series_set(tmp_path / "set")


def test_a_newer_format_says_to_upgrade(tmp_path: Path) -> None:
    save_series_set(EXAMPLE, tmp_path / "set")
    edit_manifest(tmp_path / "set", format_version=2, denots_version="9.0")
    with pytest.raises(InvalidFolder, match=r"denots 9.0 in format 2.*upgrade denots"):
        open_series_set(tmp_path / "set")


@pytest.mark.parametrize("version", [0, "1", None])
def test_a_version_that_never_existed_is_refused(tmp_path: Path, version: Any) -> None:
    save_series_set(EXAMPLE, tmp_path / "set")
    edit_manifest(tmp_path / "set", format_version=version)
    with pytest.raises(InvalidFolder, match="expected 1 to 1"):
        open_series_set(tmp_path / "set")


@pytest.mark.parametrize("text", ["", "{", '{"format": "denots-series"', "[]", '{"format": "other"}', "\ud800"])
def test_a_damaged_or_foreign_manifest_is_refused(tmp_path: Path, text: str) -> None:
    save_series_set(EXAMPLE, tmp_path / "set")
    (tmp_path / "set" / "manifest.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InvalidFolder):
        open_series_set(tmp_path / "set")


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidFolder, match=r"manifest\.json cannot be read"):
        open_series_set(tmp_path / "nowhere")
    save_series_set(EXAMPLE, tmp_path / "set")
    (tmp_path / "set" / "series.npz").unlink()
    with pytest.raises(InvalidFolder, match=r"no series\.npz"):
        open_series_set(tmp_path / "set")


def test_a_pickle_in_the_archive_is_never_run(tmp_path: Path) -> None:
    save_series_set(OTHER, tmp_path / "set")
    trap = tmp_path / "trap"

    class Trap:
        def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
            return os.mkdir, (str(trap),)

    assert pickle.dumps(Trap())
    np.savez(tmp_path / "set" / "series.npz", ids=np.array([Trap()], dtype=object))
    digest = hashlib.sha256((tmp_path / "set" / "series.npz").read_bytes()).hexdigest()
    edit_manifest(tmp_path / "set", file_sha256=digest)
    with pytest.raises(InvalidFolder, match="do not trust"):
        open_series_set(tmp_path / "set")
    assert not trap.exists()


def test_an_earlier_set_is_replaced(tmp_path: Path) -> None:
    save_series_set(OTHER, tmp_path / "set")
    save_series_set(EXAMPLE, tmp_path / "set")
    assert open_series_set(tmp_path / "set").same_as(EXAMPLE)
    assert entries(tmp_path) == ["set"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    save_series_set(EXAMPLE, tmp_path / "set")
    assert open_series_set(tmp_path / "set").same_as(EXAMPLE)


def make_file(place: Path) -> None:
    place.write_text("mine")


def make_foreign_folder(place: Path) -> None:
    place.mkdir()
    (place / "thesis.txt").write_text("mine")


def make_mixed_folder(place: Path) -> None:
    save_series_set(OTHER, place)
    (place / "thesis.txt").write_text("mine")


@pytest.mark.parametrize("make", [make_file, make_foreign_folder, make_mixed_folder])
def test_what_denots_did_not_write_is_never_replaced(tmp_path: Path, make: Callable[[Path], None]) -> None:
    place = tmp_path / "set"
    make(place)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    with pytest.raises(InvalidFolder, match="nothing was written"):
        save_series_set(EXAMPLE, place)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


@pytest.mark.parametrize("moment", ["savez", "write_manifest"])
def test_an_interrupted_save_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(np if moment == "savez" else store, moment, interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_series_set(EXAMPLE, tmp_path / "set")
    assert entries(tmp_path) == []


def test_an_interrupted_replacement_keeps_the_earlier_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_series_set(OTHER, tmp_path / "set")
    rename, calls = os.rename, []

    def fail_second(source: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) == 2:
            raise OSError("disk full")
        rename(source, target)

    monkeypatch.setattr(os, "rename", fail_second)
    with pytest.raises(OSError, match="disk full"):
        save_series_set(EXAMPLE, tmp_path / "set")
    assert entries(tmp_path) == ["set"]
    assert open_series_set(tmp_path / "set").same_as(OTHER)


def test_arrays_of_objects_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidSeries, match=r"ids are of type object"):
        save_series_set(replace(EXAMPLE, ids=EXAMPLE.ids.astype(object)), tmp_path / "set")
    assert entries(tmp_path) == []


def test_the_content_hash_ignores_how_the_numbers_lie_in_memory() -> None:
    swapped = replace(
        EXAMPLE,
        values=np.asfortranarray(EXAMPLE.values),
        offsets=EXAMPLE.offsets.astype(">i8"),
        ids=EXAMPLE.ids.astype("<U40"),
        static=-EXAMPLE.static * -1.0,
    )
    swapped.static[1, 0] = -np.nan
    assert content_hash(swapped) == content_hash(EXAMPLE)


@pytest.mark.parametrize(
    "change",
    [
        {"times": EXAMPLE.times - np.array([0, 1e-9, 0, 0])},
        {"values": np.where(EXAMPLE.values == 3, np.nan, EXAMPLE.values)},
        {"values": EXAMPLE.values.astype(np.float32)},
        {"offsets": np.array([0, 2, 4])},
        {"start": np.array([-1.0, 0.0])},
        {"ids": np.array(["Ann", "Bo"])},
        {"channels": ("pulse", "t")},
        {"static": np.array([[60.0], [0.0]])},
        {"static": None, "static_names": ()},
        {"static_names": ("years",)},
        {"target": None},
        {"target": np.array(["well", "ill"])},
        {"time_unit": "s"},
    ],
)
def test_the_content_hash_changes_with_every_field(change: dict[str, Any]) -> None:
    values = {"times": np.array([0.0, 0.5, 2.0, 3.0])} if "offsets" in change else {}
    before = replace(EXAMPLE, **values, start=np.array([-1.0, 2.0])) if values else EXAMPLE
    assert content_hash(replace(before, **change)) != content_hash(before)


def test_names_of_several_targets_are_kept(tmp_path: Path) -> None:
    table = pd.DataFrame({"height": [1.5, 2.5], "weight": [70.0, 80.0]})
    series = SeriesSet.from_arrays([[0.0, 1.0], [0.5]], [[1.0, 2.0], [3.0]], target=table)
    series.save(tmp_path / "set")
    again = SeriesSet.open(tmp_path / "set")
    assert again.target_names == ("height", "weight")
    assert again.same_as(series)
    read = SeriesSet.from_frame(again.to_frame(), id="id", time="time", target=["height", "weight"])
    assert read.target_names == ("height", "weight")
    np.testing.assert_array_equal(read.target, table)
