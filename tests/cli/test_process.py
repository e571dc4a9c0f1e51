"""The installed command in processes of its own: what it imports, and what signals do to it."""

import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cli.conftest import COLUMNS, VISITS, Run

COMMAND = [sys.executable, "-c", "from denots.cli import main; main()"]
FIT = [*COLUMNS, "--channels", "pulse,temperature", "--static", "age", "--set", "depth=1", "--set", "state_size=4"]
FIT += [
    "--system",
    "denots",
    "--set",
    "max_epochs=60",
    "--set",
    "batches_per_epoch=1",
    "--set",
    "patience=60",
    "--set",
    "learning_rate=0.02",
]


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


def wait_for(event: Callable[[], bool]) -> None:
    patience = time.monotonic() + 120
    while not event():
        assert time.monotonic() < patience
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def heeded_signals() -> Iterator[None]:
    """Ignored signals are inherited: a background job ignores SIGINT, what nohup starts SIGHUP."""
    heeded = {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}
    before = {sign: signal.signal(sign, handler) for sign, handler in heeded.items()}
    yield
    for sign, handler in before.items():
        signal.signal(sign, handler)


def interrupted_fit(folder: Path, sign: signal.Signals) -> tuple[int, str]:
    """Exit code and stderr of a fit that got a signal as soon as three epochs were checkpointed."""
    (folder / "visits.csv").write_text(VISITS)
    curve = folder / ".m.fit" / "run" / "curve.csv"
    process = subprocess.Popen(
        [*COMMAND, "fit", "visits.csv", *FIT, "--out", "m"], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: process.poll() is not None or (curve.exists() and len(curve.read_text().splitlines()) > 3))
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
    for file in ("arrays.safetensors", "model.json"):
        assert Path("m", file).read_bytes() == Path("whole", file).read_bytes()


def test_ctrl_c_in_training_exits_with_130_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    code, complaint = interrupted_fit(tmp_path, signal.SIGINT)
    assert code == 130
    assert complaint.endswith("\ninterrupted: the same command goes on after the last finished epoch.\n")
    assert (tmp_path / ".m.fit" / "run" / "checkpoint.ckpt").is_file()
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_is_told_leaves_its_code_and_the_same_command_goes_on_to_the_same_bytes(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sign: signal.Signals
) -> None:
    code, complaint = interrupted_fit(tmp_path, sign)
    assert code == 128 + sign
    *_, last, signed = complaint.splitlines()
    assert last == "interrupted: the same command goes on after the last finished epoch."
    assert signed == f"stopped: by {sign.name}."
    assert "Traceback" not in complaint
    assert not (tmp_path / "m").exists()
    monkeypatch.chdir(tmp_path)
    assert "continuing an interrupted run after epoch" in run("fit", "visits.csv", *FIT, "--out", "m").stdout
    run("fit", "visits.csv", *FIT, "--quiet", "--out", "whole")
    assert Path("m", "arrays.safetensors").read_bytes() == Path("whole", "arrays.safetensors").read_bytes()


def test_a_terminal_that_hangs_up_leaves_a_checkpoint_and_its_code(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text(VISITS)
    curve = tmp_path / ".m.fit" / "run" / "curve.csv"
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.execv(sys.executable, [*COMMAND, "fit", "visits.csv", *FIT, "--out", "m"])
    wait_for(lambda: curve.exists() and len(curve.read_text().splitlines()) > 3)
    os.close(terminal)  # the kernel sends SIGHUP, and nothing can be written any more
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 128 + signal.SIGHUP
    assert (tmp_path / ".m.fit" / "run" / "checkpoint.ckpt").is_file()


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    code = (
        "import os, signal; from denots.cli.signals import stopping_signals\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "with stopping_signals(): os.kill(os.getpid(), signal.SIGHUP)\n"
        "assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN\n"
        "assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_fit_into_a_file_tells_its_progress_in_lines_unless_it_is_quiet(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text(VISITS)
    fit = [*COMMAND, "fit", "visits.csv", *FIT, "--set", "max_epochs=3"]
    told = subprocess.run([*fit, "--out", "a"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert re.match(
        r"depth 1, epoch 1/3: R2 -?\d+\.\d{3}, best -?\d+\.\d{3} in epoch 1, at most \d+ s left\n", told.stderr
    )
    quiet = subprocess.run([*fit, "--out", "b", "--quiet"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (quiet.stdout, quiet.stderr) == ("", "")
