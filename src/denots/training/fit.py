"""Train a model with Lightning; a run killed at any moment goes on where its last epoch ended."""

import csv
import logging
import os
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.pytorch.callbacks import Checkpoint, EarlyStopping
from torch import Tensor

from denots.errors import OutOfTime
from denots.training.config import TrainConfig
from denots.training.examples import Examples
from denots.training.loader import ExamplesModule
from denots.training.model import Model
from denots.training.module import TrainingModule
from denots.training.progress import EpochBar

CHECKPOINT, CURVE = "checkpoint.ckpt", "curve.csv"


@dataclass(frozen=True)
class History:
    """The learning curve, one row an epoch. The best epoch has the highest metric; among equals,
    which are common in small validation splits, the lowest validation loss.
    """

    rows: list[dict[str, float]] = field(default_factory=list)

    @property
    def best(self) -> dict[str, float]:
        return max(self.rows, key=lambda row: (row["val_metric"], -row["val_loss"]))

    def write_csv(self, file: Path) -> None:
        with file.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, fieldnames=list(self.rows[0]))
            writer.writeheader()
            writer.writerows(self.rows)

    @property
    def seconds(self) -> float:
        return sum(row["seconds"] for row in self.rows)


class Journal(Checkpoint):
    """Keeps the curve and the best weights, and writes both with the checkpoint after every epoch.

    One file holds everything that a resumed run needs, and it is replaced in one move: there is
    no moment at which weights, optimiser and curve could disagree. Lightning runs a Checkpoint
    after every other callback, so early stopping has counted the epoch before it is written.
    """

    def __init__(self, folder: Path | None, deadline: float | None) -> None:
        self.folder, self.deadline = folder, deadline
        self.rows: list[dict[str, float]] = []
        self.best_weights: dict[str, Tensor] = {}
        self.started = time.perf_counter()

    def on_train_epoch_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self.started = time.perf_counter()

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        assert isinstance(pl_module, TrainingModule)
        metric = float(trainer.callback_metrics["val_metric"])
        loss = float(torch.stack(pl_module.losses).mean()) if pl_module.losses else float("nan")
        val_loss = float(trainer.callback_metrics["val_loss"])
        row = {"epoch": trainer.current_epoch, "loss": loss, "val_loss": val_loss, "val_metric": metric}
        row["failures"] = pl_module.failures
        if "evaluations" in trainer.callback_metrics:
            row["evaluations"] = float(trainer.callback_metrics["evaluations"])
        self.rows.append({**row, "seconds": time.perf_counter() - self.started})
        if History(self.rows).best is self.rows[-1]:
            self.best_weights = {name: value.clone() for name, value in pl_module.model.state_dict().items()}
        if self.folder is not None:
            self._write(trainer)
        if self.deadline is not None and time.time() > self.deadline:
            raise OutOfTime(f"time ran out after {len(self.rows)} epochs; start again to go on from there.")

    def state_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "best_weights": self.best_weights}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.rows, self.best_weights = state_dict["rows"], state_dict["best_weights"]

    def _write(self, trainer: L.Trainer) -> None:
        assert self.folder is not None
        fresh = self.folder / f"{CHECKPOINT}.new"
        trainer.save_checkpoint(fresh)
        os.replace(fresh, self.folder / CHECKPOINT)
        fresh = self.folder / f"{CURVE}.new"
        History(self.rows).write_csv(fresh)
        os.replace(fresh, self.folder / CURVE)


class _EpochSeed(L.Callback):
    """Whatever a model draws at random in an epoch depends on the seed and the epoch alone."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def on_train_epoch_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        torch.manual_seed(self.seed * 1_000_003 + trainer.current_epoch)


def fit(
    model: Model,
    train: Examples,
    val: Examples,
    config: TrainConfig,
    *,
    folder: Path | None = None,
    progress: bool = False,
    deadline: float | None = None,
) -> History:
    """Train in place and end with the weights of the best epoch.

    Args:
        folder: where the checkpoint and the learning curve are kept; if it holds a checkpoint
            of an earlier run, that run is continued.
        deadline: a time (as of `time.time()`) after which the next finished epoch is the last
            one for now: OutOfTime is raised.
    """
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    journal = Journal(folder, deadline)
    stopping = EarlyStopping(
        "val_metric", mode="max", patience=config.patience, min_delta=config.min_delta, verbose=False
    )
    data = ExamplesModule(train, val, config)
    checkpoint = None if folder is None or not (folder / CHECKPOINT).exists() else folder / CHECKPOINT
    with _quiet_lightning(), torch.random.fork_rng(devices=[]):
        trainer = L.Trainer(
            accelerator="cpu",
            max_epochs=config.max_epochs,
            callbacks=[
                stopping,
                _EpochSeed(config.seed),
                journal,
                *([EpochBar(model, config.max_epochs)] if progress else []),
            ],
            enable_progress_bar=False,
            enable_model_summary=False,
            logger=False,
            num_sanity_val_steps=0,
        )
        if checkpoint is None or not _finished(checkpoint, config):
            with _plain_interrupt():
                trainer.fit(TrainingModule(model, config.learning_rate), data, ckpt_path=checkpoint, weights_only=True)
        else:
            saved = torch.load(checkpoint, weights_only=True)
            journal.load_state_dict(saved["callbacks"][journal.state_key])
    model.load_state_dict(journal.best_weights)
    return History(journal.rows)


def completed_epochs(folder: Path) -> int:
    """How many epochs the run in a folder has behind it; 0 where there is no checkpoint."""
    checkpoint = folder / CHECKPOINT
    return _epochs(torch.load(checkpoint, weights_only=True)) if checkpoint.exists() else 0


def _finished(checkpoint: Path, config: TrainConfig) -> bool:
    """Whether the run behind a checkpoint had already ended, by patience or by its last epoch."""
    saved = torch.load(checkpoint, weights_only=True)
    waits = [state["wait_count"] for key, state in saved["callbacks"].items() if key.startswith("EarlyStopping")]
    return max(waits) >= config.patience or _epochs(saved) >= config.max_epochs


def _epochs(saved: dict[str, Any]) -> int:
    return len(next(state["rows"] for key, state in saved["callbacks"].items() if key.startswith("Journal")))


@contextmanager
def _plain_interrupt() -> Iterator[None]:
    """Ctrl-C arrives as KeyboardInterrupt: Lightning would exit the process and switch the signal off."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    except SystemExit as stop:
        if not isinstance(stop.__context__, KeyboardInterrupt):
            raise
        signal.signal(signal.SIGINT, handler)
        raise KeyboardInterrupt from None


@contextmanager
def _quiet_lightning() -> Iterator[None]:
    """No advertisements on stdout; and advice about workers does not apply to row selections."""
    logger = logging.getLogger("lightning.pytorch")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="lightning")
            warnings.filterwarnings("ignore", message=".*does not have many workers.*")
            yield
    finally:
        logger.setLevel(level)
