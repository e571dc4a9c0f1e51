"""A run that was cut short, killed or interrupted goes on to the same weights."""

import csv
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from denots.training.config import TrainConfig
from denots.training.examples import Examples
from denots.training.fit import CHECKPOINT, CURVE, completed_epochs, fit
from denots.training.progress import Progress

from models import calibrated, make_model
from training_runs import SHORT, STEADY, examples, trained, waves


def test_a_balanced_run_cut_short_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    series = waves()
    target = torch.from_numpy((series.target > 3).astype(np.int64))

    def trained_classes(folder: Path | None, **changes) -> dict:
        model = make_model("denots", {"state_size": 6, "depth": 2.0}, "binary", 1, 0, 1, seed=0)
        calibrated(model, series, target)
        data = Examples(model.backbone.prepare(series), target)
        fit(model, data, data, replace(STEADY, **{"balanced_sampling": True, **changes}), folder=folder)
        return model.state_dict()

    whole, plain = trained_classes(None), trained_classes(None, balanced_sampling=False)
    trained_classes(tmp_path, max_epochs=2)
    resumed = trained_classes(tmp_path)
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    assert not torch.equal(whole["head.weight"], plain["head.weight"])


def test_a_run_cut_short_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    whole, rows = trained(config=STEADY)
    trained(tmp_path, config=replace(STEADY, max_epochs=2))
    resumed, resumed_rows = trained(tmp_path, config=STEADY)
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
    for a, b in zip(rows, resumed_rows, strict=True):
        assert {k: v for k, v in a.items() if k != "seconds"} == {k: v for k, v in b.items() if k != "seconds"}
    with (tmp_path / CURVE).open() as file:
        assert [float(row["val_metric"]) for row in csv.DictReader(file)] == [row["val_metric"] for row in rows]


def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    weights, rows = trained(tmp_path)
    stamp = (tmp_path / CHECKPOINT).stat().st_mtime_ns
    again, again_rows = trained(tmp_path)
    assert (tmp_path / CHECKPOINT).stat().st_mtime_ns == stamp
    assert again_rows == rows
    assert all(torch.equal(weights[name], again[name]) for name in weights)


def test_patience_ends_a_run_and_a_resumed_one_too(tmp_path: Path) -> None:
    config = TrainConfig(
        learning_rate=1e-9, batch_size=8, batches_per_epoch=1, max_epochs=50, patience=2, min_delta=0.1
    )
    _, rows = trained(tmp_path, config=config)
    assert len(rows) == 3
    assert len(trained(tmp_path, config=config)[1]) == 3


KILLED = """
    import sys
    from pathlib import Path
    sys.path.insert(0, {tests!r})
    from dataclasses import replace
    from training_runs import SHORT, trained
    import torch
    weights, _ = trained(Path({folder!r}), config=replace(SHORT, max_epochs={epochs}))
    torch.save(weights, {out!r})
"""


@pytest.mark.parametrize("after_epoch", [1, 3])
def test_a_sigkill_at_any_moment_loses_nothing(tmp_path: Path, after_epoch: int) -> None:
    epochs, out = 6, tmp_path / "weights.pt"
    script = textwrap.dedent(KILLED).format(
        tests=str(Path(__file__).parents[1]), folder=str(tmp_path / "run"), epochs=epochs, out=str(out)
    )
    command, curve = [sys.executable, "-c", script], tmp_path / "run" / CURVE
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})
    while process.poll() is None and (not curve.exists() or len(curve.read_text().splitlines()) <= after_epoch):
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not out.exists()
    subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    whole, _ = trained(config=replace(SHORT, max_epochs=epochs))
    resumed = torch.load(out, weights_only=True)
    for name in whole:
        torch.testing.assert_close(resumed[name], whole[name], rtol=0, atol=0)


def test_a_model_with_dropout_that_is_cut_short_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    """Dropout draws from the global generator, whose state no checkpoint holds."""
    series = waves()

    def dropped(folder: Path | None, epochs: int) -> dict:
        model = make_model("tempformer", {"state_size": 16}, "regression", 1)
        target = torch.from_numpy(series.target)[:, None]
        calibrated(model, series, target)
        data = Examples(model.backbone.prepare(series), target)
        fit(model, data, data, replace(STEADY, max_epochs=epochs), folder=folder)
        return model.state_dict()

    whole = dropped(None, 4)
    dropped(tmp_path, 2)
    resumed = dropped(tmp_path, 4)
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_an_interruption_at_any_moment_leaves_a_checkpoint_to_go_on_from(tmp_path: Path) -> None:
    class Impatient(Progress):
        def batch(self) -> None:
            super().batch()
            if self.batches_done == 5:  # in the middle of the second epoch
                raise KeyboardInterrupt

    whole, _ = trained()
    model, data = examples(waves())
    with pytest.raises(KeyboardInterrupt):
        fit(model, data, data, SHORT, folder=tmp_path, progress=Impatient())
    assert completed_epochs(tmp_path) == 1
    resumed, _ = trained(tmp_path)
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
