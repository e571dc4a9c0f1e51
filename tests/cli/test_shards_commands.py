"""Shards through the doors of tables: `denots fit FOLDER` and `denots predict MODEL FOLDER`."""

import shutil
from pathlib import Path

import pandas as pd
import pytest

import denots
from cli.conftest import COLUMNS, Run, invoked
from wave_series import waves

RIDGE = ["--system", "oscillators", "--set", "oscillators=16"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table, its shards and a model that has learnt from them, to be read only."""
    folder = tmp_path_factory.mktemp("shards")
    waves(120).to_frame().to_csv(folder / "table.csv", index=False)
    invoked("data", "convert", folder / "table.csv", "--target", "target", "--shards", "4", "-o", folder / "shards")
    invoked("fit", folder / "shards", *RIDGE, "-o", folder / "model")
    return folder


def test_answers_for_shards_are_those_for_the_table(run: Run, place: Path, tmp_path: Path) -> None:
    told = run("predict", place / "model", place / "shards", "-o", tmp_path / "answers")
    assert "120 predictions" in told.stdout
    run("predict", place / "model", place / "table.csv", "-o", tmp_path / "answers.csv")
    found = pd.read_parquet(tmp_path / "answers").set_index("id").sort_index()
    expected = pd.read_csv(tmp_path / "answers.csv").set_index("id").sort_index()
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=1e-12)


def test_a_fit_of_shards_shows_the_leaderboard_of_a_fit_of_their_table(run: Run, place: Path, tmp_path: Path) -> None:
    tables = {"shards": [], "table.csv": ["--target", "target"]}
    boards = []
    for name, target in tables.items():
        told = run("fit", place / name, *target, "--system", "fast", "-o", tmp_path / name).stdout
        head, board = told.split("\nheld out")
        assert " ± " in next(line for line in head.splitlines() if line.startswith("validation"))
        boards.append([line.split()[0] for line in board.splitlines()[1:] if line])
    assert boards[0] == boards[1]
    assert (boards[0][0], boards[0][-1]) == ("trivial", "blend")


@pytest.mark.parametrize("command", [["evaluate", "model"], ["inspect"], ["card", "model"]])
def test_what_takes_a_table_says_who_reads_shards(run: Run, place: Path, tmp_path: Path, command: list[str]) -> None:
    name, *model = command
    out = ["-o", tmp_path / "card.html"] if name == "card" else []
    told = run(name, *(place / word for word in model), place / "shards", *out, code=1)
    assert "is a set of shards, which denots fit and denots predict read" in " ".join(told.stderr.split())


def test_a_restarted_job_makes_only_what_is_missing(run: Run, place: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers"
    run("predict", place / "model", place / "shards", "-o", out)
    before = {file.name: file.read_bytes() for file in out.glob("*.parquet")}
    lost = out / "part-00002.parquet"
    lost.unlink()
    kept = {file.name: file.stat().st_mtime_ns for file in out.glob("*.parquet")}
    told = run("predict", place / "model", place / "shards", "-o", out)
    assert "3 of 4 shards have their answers" in told.stdout
    assert {file.name: file.read_bytes() for file in out.glob("*.parquet")} == before
    assert {name: (out / name).stat().st_mtime_ns for name in kept} == kept


def test_answers_of_another_model_are_not_mixed_in(run: Run, place: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers"
    run("predict", place / "model", place / "shards", "-o", out)
    run("fit", place / "shards", *RIDGE, "--seed", "1", "--quiet", "-o", tmp_path / "other")
    told = run("predict", tmp_path / "other", place / "shards", "-o", out, code=1)
    assert "another model" in told.stderr
    told = run("predict", place / "model", place / "shards", "--coverage", "0.9", "-o", out, code=1)
    assert "another question" in told.stderr
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "note.txt").write_text("mine")
    told = run("predict", place / "model", place / "shards", "-o", tmp_path / "mine", code=1)
    assert "something else than answers" in told.stderr


def test_answers_for_shards_need_a_folder(run: Run, place: Path, tmp_path: Path) -> None:
    told = run("predict", place / "model", place / "shards", "-o", tmp_path / "answers.csv", code=2)
    assert "give --out a folder" in told.stderr


def test_columns_are_told_when_shards_are_made(run: Run, place: Path, tmp_path: Path) -> None:
    told = run("fit", place / "shards", *COLUMNS, "-o", tmp_path / "model", code=2)
    assert "denots data convert" in told.stderr


def test_forecasts_are_not_learnt_from_shards(run: Run, place: Path, tmp_path: Path) -> None:
    told = run("fit", place / "shards", "--task", "forecast", "-o", tmp_path / "model", code=2)
    assert "learnt from shards" in told.stderr


def test_a_model_of_shards_reads_tables_like_the_converted_one(place: Path) -> None:
    model = denots.load(place / "model")
    assert model.schema_ is not None
    assert model.schema_.target == "target"
    assert len(model.predict_table(pd.read_csv(place / "table.csv"))) == 120


def test_a_damaged_shard_is_named(run: Run, place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "shards", tmp_path / "shards")
    file = tmp_path / "shards" / "00001" / "times.npy"
    file.write_bytes(file.read_bytes()[:-8])
    told = run("predict", place / "model", tmp_path / "shards", "-o", tmp_path / "answers", code=1)
    assert "00001/times.npy was changed or truncated" in told.stderr
