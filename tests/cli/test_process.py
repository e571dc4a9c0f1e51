"""The installed command in processes of its own: what it imports, and what signals do to it."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.conftest import COLUMNS, VISITS, Run

COMMAND = [sys.executable, "-c", "from denots.cli import main; main()"]
FIT = [*COLUMNS, "--channels", "pulse,temperature", "--static", "age", "--set", "depth=1", "--set", "state_size=4"]
FIT += ["--set", "max_epochs=60", "--set", "batches_per_epoch=1", "--set", "patience=60", "--set", "learning_rate=0.02"]


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['denots', '--help']\n"
        "from denots.cli import main\n"
        "try: main()\n"
        "except SystemExit as stop: assert stop.code == 0\n"
        "heavy = {'torch', 'pandas', 'pyarrow', 'sklearn', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "denots fit" in done.stdout


def interrupted_fit(folder: Path, sign: signal.Signals) -> tuple[int, str]:
    """Exit code and stderr of a fit that got a signal as soon as three epochs were checkpointed."""
    (folder / "visits.csv").write_text(VISITS)
    curve = folder / ".m.fit" / "depth-1" / "curve.csv"
    # Ignored signals are inherited, and a background job ignores this one.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [*COMMAND, "fit", "visits.csv", *FIT, "--out", "m"], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    signal.signal(signal.SIGINT, before)
    patience = time.monotonic() + 120
    while not (curve.exists() and len(curve.read_text().splitlines()) > 3) and process.poll() is None:
        assert time.monotonic() < patience
        time.sleep(0.01)
    process.send_signal(sign)
    _, complaint = process.communicate(timeout=60)
    return process.returncode, complaint


def test_a_killed_fit_leaves_no_model_and_ends_with_the_same_weights_when_rerun(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, complaint = interrupted_fit(tmp_path, signal.SIGKILL)
    assert code == -signal.SIGKILL, complaint
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "home") == [".m.fit", "visits.csv"]
    monkeypatch.chdir(tmp_path)
    shown = run("fit", "visits.csv", *FIT, "--out", "m").stdout
    last = re.search(r"continuing an interrupted run after epoch (\d+)", shown)
    best = re.search(r"the best was number (\d+)", shown)
    assert last is not None
    assert best is not None
    assert 3 <= int(last[1]) < int(best[1])  # else the kept weights would not depend on the second part
    assert not Path(".m.fit").exists()
    run("fit", "visits.csv", *FIT, "--quiet", "--out", "whole")
    for file in ("weights.safetensors", "table.json"):
        assert Path("m", file).read_bytes() == Path("whole", file).read_bytes()


def test_ctrl_c_in_training_exits_with_130_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    code, complaint = interrupted_fit(tmp_path, signal.SIGINT)
    assert code == 130
    assert complaint == "interrupted: the same command goes on after the last finished epoch.\n"
    assert (tmp_path / ".m.fit" / "depth-1" / "checkpoint.ckpt").is_file()
    assert not (tmp_path / "m").exists()
