"""`denots tune`: a table in, the best model out; killed at any moment, the same command goes on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

import denots
from cli.conftest import COLUMNS, Run
from denots.tuning.study import open_study

SETTINGS = ("state_size=4", "max_epochs=4", "batches_per_epoch=2", "copies=0")
QUICK = [*COLUMNS, "--static", "age", "--target", "outcome", *(word for each in SETTINGS for word in ("--set", each))]


@pytest.fixture
def tuned(visits: Path, run: Run, tmp_path: Path) -> Path:
    run("tune", visits, *QUICK, "--trials", "3", "-o", tmp_path / "model", "--quiet")
    return tmp_path / "model"


def outcomes(study: Path) -> list[tuple[object, ...]]:
    return [(t.number, t.state.name, t.params, t.intermediate_values, t.value) for t in open_study(study).trials]


def test_it_tells_each_trial_and_the_best_and_its_model_answers_alike_from_both_doors(
    visits: Path, new: Path, run: Run, tmp_path: Path
) -> None:
    result = run("tune", visits, *QUICK, "--trials", "3", "-o", tmp_path / "model")
    for number in (1, 2, 3):
        assert f"trial {number} of 3 (depth " in result.stderr
    assert result.stderr.count(" left\n") >= 3
    assert "3 trials: 3 complete" in result.stdout
    assert "the best options, for denots fit: --set depth=" in result.stdout
    run("predict", tmp_path / "model", new, "-o", tmp_path / "told.csv")
    told = pd.read_csv(tmp_path / "told.csv", float_precision="round_trip", dtype={"patient": str})
    asked = denots.load(tmp_path / "model").predict_table(pd.read_csv(new, dtype={"patient": str}))
    assert told["p_ill"].tolist() == asked["p_ill"].tolist()
    # The options that it prints make the same model again.
    best = result.stdout.split("for denots fit: ")[1].splitlines()[0].split()
    run("fit", visits, *QUICK, "--system", "denots", *best, "-o", tmp_path / "again", "--quiet")
    for name in ("arrays.safetensors", "calibration.safetensors"):
        assert (tmp_path / "model" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_killed_it_goes_on_to_the_same_trials_and_the_same_model(
    tuned: Path, visits: Path, run: Run, tmp_path: Path
) -> None:
    command = ["tune", str(visits), *QUICK, "--trials", "3", "-o", str(tmp_path / "other"), "--quiet"]
    study = tmp_path / "other.study"
    code = "import sys; from denots.cli import main; sys.argv[0] = 'denots'; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, *command], env={**os.environ, "OMP_NUM_THREADS": "1"}
    ) as process:
        journal = study / "journal.jsonl"
        while not journal.exists() or journal.read_text().count('"op_code":7') < 5:  # an epoch of the second trial
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "other").exists()
    run(*command)
    assert outcomes(study) == outcomes(tmp_path / "model.study")
    assert (tmp_path / "other" / "arrays.safetensors").read_bytes() == (tuned / "arrays.safetensors").read_bytes()


def test_a_finished_model_is_replaced_only_when_asked_and_more_trials_go_on(
    tuned: Path, visits: Path, run: Run
) -> None:
    again = ("tune", visits, *QUICK, "--trials", "4", "-o", tuned)
    assert "--overwrite" in run(*again, code=1).stderr
    first = outcomes(tuned.with_name("model.study"))
    run(*again, "--overwrite", "--quiet")
    assert outcomes(tuned.with_name("model.study"))[:3] == first


def test_restart_removes_a_search_and_nothing_else(tuned: Path, visits: Path, run: Run) -> None:
    study = tuned.with_name("model.study")
    seeded = ("tune", visits, *QUICK, "--trials", "1", "--seed", "5", "-o", tuned, "--overwrite", "--quiet")
    assert "differs in estimator seed, seed" in run(*seeded, code=1).stderr
    (study / "note.txt").write_text("mine")
    assert "holds other things than a search" in run(*seeded, "--restart", code=1).stderr
    assert (study / "note.txt").read_text() == "mine"
    (study / "note.txt").unlink()
    run(*seeded, "--restart")
    assert len(outcomes(study)) == 1


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--search", "dept=1:2"), 2, "Did you mean 'depth'"),
        (("--search", "depth=3:3"), 2, "is empty"),
        (("--search", "depth=9:1"), 2, "is empty"),
        (("--search", "depth=-1:9"), 2, "above zero"),
        (("--search", "readout"), 2, "a Range, or in a list"),
        (("--trials", "0"), 2, "--trials"),
        (("--budget", "0"), 2, "positive number of minutes"),
        (("--jobs", "0"), 2, "--jobs"),
        (("--system", "summary"), 2, "no option of 'summary'"),
        (("--set", "depth=2", "--search", "depth"), 2, "both set and searched"),
        (("--set", "depth=auto"), 2, "depth 'auto' tries several"),
    ],
)
def test_what_cannot_be_searched_is_refused(
    words: tuple[str, ...], code: int, told: str, visits: Path, run: Run, tmp_path: Path
) -> None:
    columns = [*COLUMNS, "--static", "age", "--target", "outcome"]
    result = run("tune", visits, *columns, "-o", tmp_path / "model", *words, code=code)
    assert told in " ".join(result.stderr.replace("│", " ").split())
    assert not (tmp_path / "model").exists()


def test_without_optuna_it_says_how_to_get_it(
    visits: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    assert "pip install 'denots[tune]'" in run("tune", visits, *QUICK, "-o", tmp_path / "model", code=1).stderr


def test_fit_logs_its_curve_where_asked_and_keeps_to_its_jobs(visits: Path, run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log"
    run("fit", visits, *QUICK, "--system", "denots", "--jobs", "1", "--log", log, "-o", tmp_path / "model", "-q")
    curve, logged = pd.read_csv(tmp_path / "model" / "curve.csv"), pd.read_csv(log / "run.csv")
    assert logged["learning_rate"].between(0, 0.005).all()
    pd.testing.assert_frame_equal(logged[curve.columns], curve)
    assert list((log / "run").glob("events.out.tfevents.*"))
    result = run(
        "fit",
        visits,
        *COLUMNS,
        "--target",
        "outcome",
        "--static",
        "age",
        "--system",
        "summary",
        "--log",
        log,
        "-o",
        tmp_path / "b",
    )
    assert "nothing was logged: 'summary' did not train by epochs" in result.stderr
