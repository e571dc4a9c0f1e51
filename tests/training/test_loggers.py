"""Learning curves that are kept as they grow, for people and for TensorBoard."""

import csv
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from denots.estimators import SeriesRegressor
from denots.training.config import TrainConfig
from denots.training.fit import fit
from denots.training.loggers import CSVLog, TensorBoardLog
from denots.training.progress import Progress

from training_runs import SHORT, STEADY, examples, waves

OPTIONS = {"max_epochs": 3, "batches_per_epoch": 2, "state_size": 4, "depth": 2.0, "copies": 0}


def table(file: Path) -> list[dict[str, float]]:
    with file.open(newline="") as stream:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(stream)]


def test_the_csv_file_holds_the_learning_curve_and_the_rate_of_the_last_batch_of_each_epoch(tmp_path: Path) -> None:
    model, data = examples(waves())
    config = replace(SHORT, schedule="one-cycle", max_epochs=4)
    curve = fit(model, data, data, config, progress=CSVLog(tmp_path)).rows
    found = table(tmp_path / "run.csv")
    assert list(found[0])[:6] == ["epoch", "loss", "val_loss", "val_metric", "learning_rate", "seconds"]
    rates = [row.pop("learning_rate") for row in found]
    assert found == curve
    share = (np.arange(1, 5) - 0.5 / config.batches_per_epoch) / 4  # of the whole, at the middle of each last batch
    falling = config.learning_rate * (1 + np.cos(math.pi * (share - 0.1) / 0.9)) / 2
    np.testing.assert_allclose(rates, falling, rtol=1e-12)


def test_tensorboard_reads_the_same_curve_back(tmp_path: Path) -> None:
    model, data = examples(waves())
    curve = fit(model, data, data, SHORT, progress=TensorBoardLog(tmp_path)).rows
    board = EventAccumulator(str(tmp_path / "run")).Reload()
    told = board.Scalars("val_loss")
    assert [event.step for event in told] == [1, 2, 3]
    np.testing.assert_allclose([event.value for event in told], [row["val_loss"] for row in curve], rtol=1e-6)
    assert {"loss", "val_metric", "learning_rate", "seconds"} <= set(board.Tags()["scalars"])


def test_a_continued_run_goes_on_in_its_log(tmp_path: Path) -> None:
    for epochs in (2, 4):
        model, data = examples(waves())
        logs = CSVLog(tmp_path / "csv"), TensorBoardLog(tmp_path / "board")
        config: TrainConfig = replace(STEADY, max_epochs=epochs)
        for log in logs:
            fit(model, data, data, config, folder=tmp_path / type(log).__name__, progress=log)
    assert [row["epoch"] for row in table(tmp_path / "csv" / "run.csv")] == [0, 1, 2, 3]
    board = EventAccumulator(str(tmp_path / "board" / "run")).Reload()
    assert [event.step for event in board.Scalars("loss")] == [1, 2, 3, 4]


def test_an_estimator_tells_its_callbacks_and_each_run_has_a_file(tmp_path: Path) -> None:
    class Count(Progress):
        epochs = 0

        def epoch(self, rows: list[dict[str, float]]) -> None:
            self.epochs += 1

    counted = Count()
    model = SeriesRegressor("denots", options={**OPTIONS, "depth": "auto"}, random_state=0)
    model.fit(waves(), callbacks=[counted, CSVLog(tmp_path)])
    assert counted.epochs == 4 * 3
    assert sorted(file.name for file in tmp_path.iterdir()) == [f"depth-{depth}.csv" for depth in (1, 10, 3, 30)]


def test_what_a_callback_raises_ends_the_fit() -> None:
    class Enough(Progress):
        def epoch(self, rows: list[dict[str, float]]) -> None:
            if len(rows) == 2:
                raise StopAsyncIteration

    with pytest.raises(StopAsyncIteration):
        SeriesRegressor("denots", options=OPTIONS, random_state=0).fit(waves(), callbacks=[Enough()])


def test_a_blend_says_what_it_tries_and_how_long_it_may_take(capfd: pytest.CaptureFixture[str]) -> None:
    SeriesRegressor("fast", random_state=0, verbose=True).fit(waves(30))
    lines = capfd.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines[:3]] == [
        "trying summary",
        "trying oscillators",
        "trying timed-oscillators",
    ]
    assert lines[0].endswith("s left")
