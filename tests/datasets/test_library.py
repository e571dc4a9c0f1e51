"""Data sets are built once, whole or not at all, and opened unchanged."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from denots import progress
from denots.data import SeriesSet
from denots.data.ts_file import read_ts
from denots.datasets import DATASETS, Recipe, SplitSizes, build, load, open_dataset
from denots.datasets.library import home, load_recipe
from denots.errors import InvalidFolder, InvalidOption, UnknownName
from denots.progress import byte_bar, track


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DENOTS_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


class Counted:
    """A generator that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, seed: int, sizes: SplitSizes) -> dict[str, SeriesSet]:
        self.calls += 1
        return {part: SeriesSet.from_arrays([[0.0]] * n, [[float(seed)]] * n) for part, n in sizes._asdict().items()}


def toy(generate: object, version: int = 1) -> Recipe:
    return Recipe("toy", "regression", "r2", "a toy", SplitSizes(3, 2, 1), generate, version)  # type: ignore[arg-type]


def folders(place: Path) -> list[str]:
    return sorted(entry.name for entry in place.iterdir()) if place.exists() else []


def test_a_data_set_has_its_task_and_three_splits(own_home: Path) -> None:
    data = load("sine-mix", size=20)
    assert (data.name, data.task) == ("sine-mix", "regression")
    assert [len(part) for part in (data.splits.train, data.splits.val, data.splits.test)] == [18, 1, 1]
    assert folders(own_home / "datasets") == ["sine-mix-v1-seed0-18-1-1"]


def test_what_is_loaded_is_what_was_generated() -> None:
    data = load("pendulum", seed=4, size=(5, 3, 2))
    fresh = DATASETS["pendulum"].generate(4, SplitSizes(5, 3, 2))
    assert data.splits.train.same_as(fresh["train"])
    assert data.splits.val.same_as(fresh["val"])
    assert data.splits.test.same_as(fresh["test"])


def test_the_second_load_generates_nothing() -> None:
    generate = Counted()
    for _ in range(2):
        load_recipe(toy(generate), seed=0, size=None)
    assert generate.calls == 1


def test_seed_size_and_version_have_their_own_folders(own_home: Path) -> None:
    generate = Counted()
    for seed, size, version in [(0, None, 1), (1, None, 1), (0, (1, 1, 1), 1), (0, None, 2)]:
        load_recipe(toy(generate, version), seed=seed, size=size)
    assert generate.calls == 4
    assert len(folders(own_home / "datasets")) == 4


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'pendulum'"):
        load("pendulm")


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(InvalidOption, match="seed -1"):
        load("bump", seed=-1)


def test_an_interrupted_build_leaves_nothing_and_the_next_one_works(own_home: Path) -> None:
    def interrupt(seed: int, sizes: SplitSizes) -> dict[str, SeriesSet]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_recipe(toy(interrupt), seed=0, size=None)
    assert folders(own_home / "datasets") == []
    assert len(load_recipe(toy(Counted()), seed=0, size=None).splits.train) == 3


def test_the_build_that_finishes_first_is_kept() -> None:
    generate = Counted()

    def overtaken(seed: int, sizes: SplitSizes) -> dict[str, SeriesSet]:
        load_recipe(toy(generate), seed=0, size=None)
        return {part: series.with_target(np.ones(len(series))) for part, series in generate(seed, sizes).items()}

    assert load_recipe(toy(overtaken), seed=0, size=None).splits.train.target is None


def test_a_damaged_folder_is_named_and_can_be_built_again(own_home: Path) -> None:
    whole = load("bump", size=10).splits.test
    folder = next((own_home / "datasets").iterdir())
    file = folder / "test" / "series.npz"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InvalidFolder, match=r"truncated.*Delete .*bump-v1-seed0"):
        load("bump", size=10)
    assert build("bump", size=10) == folder
    assert load("bump", size=10).splits.test.same_as(whole)


def test_a_split_from_elsewhere_is_noticed(tmp_path: Path) -> None:
    ours = build("bump", size=10, folder=tmp_path / "ours")
    other = build("bump", size=10, seed=1, folder=tmp_path / "other")
    (ours / "val").rename(tmp_path / "aside")
    (other / "val").rename(ours / "val")
    with pytest.raises(InvalidFolder, match="is not the split"):
        open_dataset(ours)


@pytest.mark.parametrize("change", [{"task": 3}, {"name": None}, {"content_sha256": []}])
def test_a_changed_manifest_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    folder = build("bump", size=10, folder=tmp_path / "bump")
    manifest = json.loads((folder / "dataset.json").read_text())
    (folder / "dataset.json").write_text(json.dumps(manifest | change))
    with pytest.raises(InvalidFolder, match="was changed"):
        open_dataset(folder)


def test_building_never_replaces_what_is_not_a_data_set(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    with pytest.raises(InvalidFolder, match="nothing was written"):
        build("bump", size=10, folder=tmp_path / "mine")
    assert (tmp_path / "mine" / "notes.txt").read_text() == "keep"


def test_building_twice_into_a_folder_replaces_it(tmp_path: Path) -> None:
    build("bump", size=10, folder=tmp_path / "bump")
    build("bump", size=20, folder=str(tmp_path / "bump"))
    data = open_dataset(tmp_path / "bump")
    assert sum(len(part) for part in (data.splits.train, data.splits.val, data.splits.test)) == 20


@pytest.mark.skipif(sys.platform != "linux", reason="the cache folder follows XDG only on Linux")
def test_without_a_home_the_cache_folder_of_the_user_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DENOTS_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert home() == tmp_path / "denots"


def test_building_is_silent_when_nobody_watches_and_it_is_soon_done(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("denots.progress.FIRST_SECONDS", 600.0)  # however busy the machine is
    load("pendulum-small", size=(60, 1, 1))
    assert capfd.readouterr() == ("", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_for_long_work_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert list(track(range(3), "short")) == [0, 1, 2]
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]
    assert list(track(range(50), "pendulum train")) == list(range(50))
    assert "pendulum train" in sys.stderr.getvalue()  # type: ignore[attr-defined]


def test_a_log_gets_a_line_now_and_then_with_the_time_left(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    clock = iter(np.arange(0.0, 1000.0, 2.0))  # each look at it is two seconds after the one before
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(clock)))
    assert list(track(range(20), "fits")) == list(range(20))
    assert capfd.readouterr().err.splitlines() == [
        "fits: 2 of 20, 54 s left",
        "fits: 7 of 20, 30 s left",
        "fits: 12 of 20, 17 s left",
        "fits: 17 of 20, 6 s left",
    ]


def test_bytes_are_counted_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "Toy_TRAIN.ts"
    file.write_text("@univariate true\n@classLabel true a\n@data\n" + "1,2,3:a\n" * 5)
    lines: list[int] = []
    read_ts(file, lines.append)
    assert lines == [len("1,2,3:a\n")] * 5
    for screen in (Terminal(), io.StringIO()):
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys, "stderr", screen)
        with byte_bar("Toy", 2000, 500) as advance:
            advance(1500)
        assert ("2.0/2.0 kB" in screen.getvalue()) == screen.isatty()


@pytest.mark.slow
def test_the_full_pendulum_set_has_the_published_counts_and_lengths() -> None:
    data = load("pendulum")
    parts = [data.splits.train, data.splits.val, data.splits.test]
    assert [len(part) for part in parts] == [22937, 4915, 4916]
    assert all(np.median(part.lengths) == pytest.approx(315, abs=2) for part in parts)
