"""The built-in data sets on the command line, and what the command says of itself."""

import hashlib
import re
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import denots
from cli.conftest import Run
from denots import kernels
from denots.datasets import DATASETS, load

from published_files import STATIC, gestures, hospitals, write_patients, write_ts


def test_list_names_every_data_set_in_full(run: Run) -> None:
    shown = run("data", "list").stdout
    assert [name for name in DATASETS if not re.search(rf"^ *{name} ", shown, re.MULTILINE)] == []


def test_build_says_where_the_data_are(run: Run) -> None:
    folder = Path(run("data", "build", "bump", "--size", "9", "--seed", "3").stdout.strip())
    assert (folder / "dataset.json").is_file()
    built = denots.datasets.open_dataset(folder)
    assert built.splits.test.same_as(load("bump", size=9, seed=3).splits.test)


def test_info_shows_counts_and_a_sketch(run: Run) -> None:
    shown = run("data", "info", "pendulum-small", "--size", "12", "--split", "test").stdout
    splits = load("pendulum-small", size=12).splits
    assert f"{len(splits.train)} train, {len(splits.val)} val, {len(splits.test)} test; below: test" in shown
    assert f"{len(splits.test.times)}; {splits.test.lengths.min()} to {splits.test.lengths.max()} a series" in shown
    missing = np.isnan(splits.test.values).mean(axis=0)
    assert f"x {missing[0]:.1%}, y {missing[1]:.1%}" in shown
    assert "test-0: " in shown
    assert "│" in shown
    assert "classes" in run("data", "info", "bump", "--size", "12").stdout


def test_an_exported_table_reads_back_as_the_data_set(run: Run, tmp_path: Path) -> None:
    shown = run(
        "data", "export", "pendulum-small", "--size", "12", "--split", "val", "--out", tmp_path / "t.csv"
    ).stdout
    expected = load("pendulum-small", size=12).splits.val
    table = pd.read_csv(tmp_path / "t.csv", float_precision="round_trip")
    assert f"{len(expected)} series, {len(table)} rows" in shown
    assert list(table.columns) == ["id", "time", "x", "y", "target"]
    read = denots.SeriesSet.from_frame(table, id="id", time="time", target="target")
    np.testing.assert_array_equal(read.times, expected.times)
    np.testing.assert_array_equal(read.values.astype(np.float32), expected.values)
    np.testing.assert_array_equal(read.ids, expected.ids)
    np.testing.assert_array_equal(read.target, expected.target)


def test_a_forecasting_set_is_exported_without_a_target(run: Run, tmp_path: Path) -> None:
    run("data", "export", "sine-2", "--size", "6", "--out", tmp_path / "t.parquet")
    assert list(pd.read_parquet(tmp_path / "t.parquet").columns) == ["id", "time", "value"]


def test_data_are_imported_checked_and_used(run: Run, tmp_path: Path) -> None:
    assert " ".join(run("data", "list").stdout.split()).count("(to be imported)") == 5
    write_ts(tmp_path, "UWaveGestureLibrary", gestures(120, 320, steps=315, classes=8))
    shown = run("data", "import", "uwgl", tmp_path).stdout
    assert Path(shown.splitlines()[0]).is_dir()
    shown = run("data", "check", "uwgl").stdout
    assert "11 of 11 facts confirmed" in shown
    assert "NO" not in shown
    shown = run("data", "info", "uwgl", "--protocol", "paper", "--split", "test").stdout
    assert "96 train, 24 val, 320 test; below: test" in shown
    missing = np.isnan(load("uwgl", protocol="paper").splits.test.values).mean(axis=0)
    assert f"x0 {missing[0]:.1%}" in shown
    assert "protocol is one of" in run("data", "build", "uwgl", "--protocol", "nice", code=2).stderr


def test_a_check_that_fails_shows_what_differs_with_exit_code_1(run: Run, tmp_path: Path) -> None:
    write_ts(tmp_path, "UWaveGestureLibrary", gestures(119, 320, steps=315, classes=8))
    run("data", "import", "uwgl", tmp_path / "UWaveGestureLibrary_TRAIN.ts", tmp_path / "UWaveGestureLibrary_TEST.ts")
    shown = run("data", "check", "uwgl", code=1).stdout
    assert re.search(r"training series +120 +119 +NO", shown)
    assert re.search(r"test series +320 +320 +yes", shown)
    assert "8 of 11 facts confirmed" in shown


def test_a_download_is_imported_and_its_trust_is_told(run: Run, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    write_ts(tmp_path, "UWaveGestureLibrary", gestures())
    with zipfile.ZipFile(site / "u.zip", "w") as archive:
        for file in tmp_path.glob("*.ts"):
            archive.write(file, file.name)
    handler = partial(Silent, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_address[1]}/u.zip"
        first = run("data", "download", "uwgl", "--url", url).stdout
        second = run("data", "download", "uwgl", "--url", url).stdout
        wrong = run("data", "download", "uwgl", "--url", url, "--sha256", "0" * 64, code=1).stderr
        server.shutdown()
        thread.join()
    found = hashlib.sha256((site / "u.zip").read_bytes()).hexdigest()
    assert f"sha256 {found} (seen for the first time" in first
    assert f"sha256 {found} (as expected)" in second
    assert "it was thrown away" in wrong
    assert len(load("uwgl").splits.test) == 12


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def test_static_features_are_exported_with_the_table(run: Run, tmp_path: Path) -> None:
    write_patients(tmp_path / "challenge", hospitals())
    run("data", "import", "sepsis", tmp_path / "challenge")
    run("data", "export", "sepsis", "--split", "test", "--out", tmp_path / "t.parquet")
    table, expected = pd.read_parquet(tmp_path / "t.parquet"), load("sepsis").splits.test
    assert list(table.columns) == ["id", "time", *expected.channels, *STATIC, "target"]
    first = table.groupby("id", sort=False)[STATIC].first()
    np.testing.assert_array_equal(first.to_numpy(np.float32), expected.static)


def test_what_is_not_there_or_not_real_is_told(run: Run) -> None:
    assert "denots data import insect-sound PATH" in run("data", "check", "insect-sound", code=1).stderr
    assert "nothing to import" in run("data", "import", "bump", "somewhere", code=2).stderr
    assert "Did you mean 'uwgl'" in run("data", "download", "uwgll", code=2).stderr


@pytest.mark.parametrize(
    ("command", "nearest"),
    [
        (["build", "pendulm"], "'pendulum'"),
        (["info", "bumb"], "'bump'"),
        (["export", "sine-mx", "--out", "t.csv"], "'sine-mix'"),
        (["info", "bump", "--size", "9", "--split", "tests"], "'test'"),
    ],
)
def test_unknown_names_bring_the_nearest(run: Run, command: list[str], nearest: str) -> None:
    result = run("data", *command, code=2)
    assert result.stderr.startswith("error: unknown ")
    assert nearest in result.stderr


def test_a_size_too_small_is_refused(run: Run) -> None:
    assert "at least 3 series" in run("data", "build", "bump", "--size", "2", code=2).stderr


def test_info_tells_versions_extension_and_home(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import torch

    monkeypatch.setenv("DENOTS_HOME", str(tmp_path))
    shown = run("info").stdout
    for words in (
        denots.__version__,
        f"torch {torch.__version__}",
        ", ".join(kernels.fields()),
        "DENOTS_TARGET",
        str(tmp_path),
    ):
        assert words in shown


def test_version(run: Run) -> None:
    assert run("--version").stdout == f"denots {denots.__version__}\n"


@pytest.mark.parametrize(
    "command",
    [
        *("fit", "predict", "evaluate", "train", "info", "data list", "data build", "data info", "data export"),
        *("data import", "data download", "data check", "compete", "order"),
    ],
)
def test_every_help_text_holds_an_example_that_fits_the_screen(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    prose = run(*command.split(), "--help").stdout.split("╭")[0]
    assert re.search(rf"^ +denots {command}\b", prose, re.MULTILINE)


def test_a_mistyped_command_is_a_usage_error(run: Run) -> None:
    assert "No such command 'fot'" in run("fot", code=2).stderr
