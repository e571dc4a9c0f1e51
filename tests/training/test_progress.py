"""What is told while a run goes on: nothing unless asked, lines for a file, a bar for a terminal."""

import io
import re
import sys

import pytest

from denots.training import progress
from denots.training.config import TrainConfig
from denots.training.fit import fit
from denots.training.progress import Bar, Lines, Plan, Progress, shown

from training_runs import SHORT, examples, waves

PLAN = Plan("", "R2", epochs=50, batches=4)


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


def watch(watcher: Lines, monkeypatch: pytest.MonkeyPatch, *, epochs: int, seconds: float, done: int = 0) -> None:
    """Let epochs of so many seconds each go by on a clock of its own."""
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    rows = [{"epoch": n, "val_metric": 0.5 - 0.01 * n} for n in range(done)]
    watcher.start(PLAN, rows)
    for number in range(done, done + epochs):
        for _ in range(PLAN.batches):
            clock.now += seconds / PLAN.batches
            watcher.batch()
        rows = [*rows, {"epoch": number, "val_metric": 0.5 - 0.01 * number}]
        watcher.epoch(rows)
    watcher.stop()


def test_nothing_is_told_unless_asked(capfd: pytest.CaptureFixture[str]) -> None:
    model, data = examples(waves())
    fit(model, data, data, SHORT)
    assert capfd.readouterr() == ("", "")


def test_a_file_gets_lines_with_epoch_metric_best_and_time_left(capfd: pytest.CaptureFixture[str]) -> None:
    model, data = examples(waves())
    fit(model, data, data, TrainConfig(**{**SHORT.__dict__, "max_epochs": 40}), progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    line = r"depth 2, epoch 1/40: R2 -?\d\.\d{3}, best -?\d\.\d{3} in epoch 1, at most \d+ (s|min) left"
    assert re.fullmatch(line, err.splitlines()[0])


def test_short_epochs_get_a_line_every_ten_seconds_and_ever_fewer(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    watch(Lines(), monkeypatch, epochs=49, seconds=5)
    told = [int(place) for place in re.findall(r"epoch (\d+)/50:", capfd.readouterr().err)]
    assert told[:4] == [1, 3, 5, 7]
    assert told[-1] - told[-2] == 5  # a tenth of 220 s


def test_long_epochs_are_told_one_by_one_with_the_time_that_is_left(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    watch(Lines(), monkeypatch, epochs=2, seconds=120)
    assert capfd.readouterr().err.splitlines() == [
        "epoch 1/50: R2 0.500, best 0.500 in epoch 1, at most 1 h 38 min left",
        "epoch 2/50: R2 0.490, best 0.500 in epoch 1, at most 1 h 36 min left",
    ]


def test_a_resumed_run_counts_from_where_it_goes_on(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    watch(Lines(), monkeypatch, epochs=1, seconds=30, done=48)
    assert capfd.readouterr().err == "epoch 49/50: R2 0.020, best 0.500 in epoch 1, at most 30 s left\n"


def test_a_terminal_gets_a_bar_with_the_time_left_that_vanishes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    assert isinstance(shown(True), Bar)
    watch(shown(True), monkeypatch, epochs=2, seconds=90)
    assert "at most 1 h 12 min left" in screen.getvalue()
    assert "epoch 3/50" in screen.getvalue()
    assert screen.getvalue().rstrip("\n\r").endswith("\x1b[2K")


def test_an_object_is_taken_as_it_is() -> None:
    watcher = Progress()
    assert shown(watcher) is watcher
    assert type(shown(False)) is Progress
