"""Train a model: AdamW, early stopping, and after every epoch a checkpoint from which a killed run goes on."""

import csv
import io
import math
import time
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from denots.cluster.team import Team
from denots.errors import InvalidOption, OutOfTime
from denots.folders import write_file_whole
from denots.training.adamw import AdamW
from denots.training.checkpoint import Checkpoint, unusable
from denots.training.config import TrainConfig
from denots.training.examples import Examples
from denots.training.loader import class_weights, draw_batches
from denots.training.model import Model, run_model
from denots.training.progress import Plan, Progress, shown
from denots.training.schedule import cycles, step_size
from denots.training.sharpness import best_factor

CHECKPOINT, CURVE = "checkpoint.ckpt", "curve.csv"


@dataclass(frozen=True)
class History:
    """The learning curve, one row an epoch. The best epoch has the lowest validation loss, or the highest
    metric; among equals, which are common in small validation splits, the lowest loss. Where nothing is
    validated it is the last one.
    """

    rows: list[dict[str, float]] = field(default_factory=list)
    choose: Literal["loss", "metric", "last"] = "metric"

    @property
    def best(self) -> dict[str, float]:
        if self.choose == "last":
            return self.rows[-1]
        if self.choose == "loss":
            return min(self.rows, key=lambda row: row["val_loss"])
        return max(self.rows, key=lambda row: (row["val_metric"], -row["val_loss"]))

    @property
    def seconds(self) -> float:
        return sum(row["seconds"] for row in self.rows)

    def ended(self, config: TrainConfig) -> bool:
        """Whether a run with this curve is over: by its last epoch, a cycle in vain, without patience or a metric."""
        if len(self.rows) >= config.max_epochs:
            return True
        if not self.rows or self.choose == "last":
            return False
        return self._cycle_in_vain(config) or self._waited_too_long(config)

    def next_cycle(self, config: TrainConfig) -> float | None:
        """Seconds that the next cycle should take, where one has just ended."""
        lengths = cycles(config.schedule, config.max_epochs)
        coming = dict(zip(accumulate(lengths), lengths[1:], strict=False)).get(len(self.rows))
        return None if coming is None else coming * self.seconds / len(self.rows)

    def _cycle_in_vain(self, config: TrainConfig) -> bool:
        """Whether a cycle has just ended of which no epoch is the best so far."""
        ends = [0, *accumulate(cycles(config.schedule, config.max_epochs))]
        begin = dict(zip(ends[1:], ends[:-1], strict=True)).get(len(self.rows))
        return begin is not None and self.rows.index(self.best) < begin

    def _waited_too_long(self, config: TrainConfig) -> bool:
        best, waited, metric = torch.tensor(-torch.inf), 0, 0.0
        for metric in (row["val_metric"] for row in self.rows):
            current = torch.tensor(metric, dtype=torch.float32)  # as it was measured, min_delta included
            best, waited = (current, 0) if current - config.min_delta > best else (best, waited + 1)
        return (config.patience is not None and waited >= config.patience) or not math.isfinite(metric)

    def write_csv(self, file: Path) -> None:
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, fieldnames=list(self.rows[0]))
        writer.writeheader()
        writer.writerows(self.rows)
        write_file_whole(file, text.getvalue().encode())


def fit(
    model: Model,
    train: Examples,
    val: Examples | None,
    config: TrainConfig,
    *,
    folder: Path | None = None,
    progress: Progress | bool = False,
    deadline: float | None = None,
    anytime: bool = False,
    team: Team | None = None,
) -> History:
    """Train in place and end with the weights of the best epoch, or of the last one without `val`.

    Args:
        folder: where the checkpoint and the learning curve are kept; if it holds a checkpoint
            of an earlier run, that run is continued.
        progress: who is told about each batch and epoch; True is a bar or lines on stderr.
        deadline: a time (as of `time.time()`) after which the next finished epoch is the last
            one for now: OutOfTime is raised.
        anytime: begin no cycle of the schedule that would not end before the deadline; the weights
            that are best until then are the answer.
        team: processes that do the same; each learns from its piece of every batch, and the first one writes. The
            order of sums is that of ranks, so weights depend on the size of a team, and on nothing that happens to it.
    """
    run = _Run(model, train, val, config, team or Team())
    if folder is not None and (folder / CHECKPOINT).exists():
        run.restore(folder / CHECKPOINT)
    run.team.agree(len(run.history.rows))
    watcher = shown(progress)
    if not run.history.ended(config):
        watcher.start(Plan.of(model, config, batches=run.batches), run.history.rows)
    try:
        with torch.random.fork_rng(devices=[]):
            while not run.history.ended(config):
                run.epoch(watcher)
                if folder is not None and run.team.rank == 0:
                    run.save(folder)
                if deadline is not None and time.time() > deadline:
                    epochs = len(run.history.rows)
                    raise OutOfTime(f"time ran out after {epochs} epochs; start again to go on from there.")
                coming = run.history.next_cycle(config) if anytime else None
                if coming is not None and deadline is not None and time.time() + coming > deadline:
                    break
    finally:
        watcher.stop()
    model.load_state_dict(run.best_weights)
    model.sharpen(run.history.best.get("sharpness", 1.0))
    return run.history


def completed_epochs(folder: Path) -> int:
    """How many epochs the run in a folder has behind it; 0 where there is no checkpoint."""
    file = folder / CHECKPOINT
    return len(Checkpoint.read(file).rows) if file.exists() else 0


class _Run:
    """What changes while a model is trained: its weights, the optimiser, the curve and the best weights."""

    def __init__(self, model: Model, train: Examples, val: Examples | None, config: TrainConfig, team: Team) -> None:
        self.model, self.train, self.val, self.config, self.team = model, train, val, config, team
        self.class_weights = class_weights(train.target) if config.balanced_sampling else None
        self.batches, self.batch_size = config.epoch_length(len(train)), config.batch_length(len(train))
        if team.size > min(self.batch_size, len(train), len(train if val is None else val)):
            raise InvalidOption(
                f"{team.size} workers cannot share batches of {self.batch_size} series; give fewer workers, or a larger batch_size."
            )
        self.optimiser = AdamW(model.parameters(), config.learning_rate, config.weight_decay, config.clip)
        self.history = History(choose="last" if val is None else config.choose)
        self.best_weights: dict[str, Tensor] = {}

    def epoch(self, watcher: Progress) -> None:
        """Learn from every batch, then judge. All that is drawn at random depends on seed and epoch alone."""
        started, number = time.perf_counter(), len(self.history.rows)
        loss, failures = self._learn(number, watcher)
        row = {"epoch": number, "loss": loss, **self._judge(), "failures": failures}
        self.history.rows.append({**row, "seconds": time.perf_counter() - started})
        if self.history.best is self.history.rows[-1]:
            self.best_weights = {name: value.clone() for name, value in self.model.state_dict().items()}
        watcher.epoch(self.history.rows)

    def _learn(self, number: int, watcher: Progress) -> tuple[float, int]:
        """The mean loss over batches, and how often a series could not be solved; that leaves the loss, not the run."""
        seed = self.config.seed * 1_000_003 + number
        torch.manual_seed(seed + (self.team.rank << 40))
        if number:
            torch.empty((), dtype=torch.int64).random_()  # a draw that recorded runs made: dropout repeats theirs
        rows = draw_batches(
            len(self.train),
            self.batch_size,
            self.batches,
            seed=seed,
            weights=self.class_weights,
            shard=self.train.shard,
        )
        self.model.train()
        losses, failures = [], 0
        for done, batch in enumerate(rows):
            self._set_step_size(number + (done + 0.5) / self.batches)
            piece = self.train.select(self.team.piece(batch))
            output = self.model(piece.inputs, piece.at).joined(self.team, len(batch))
            failures += int((~output.ok).sum())
            if output.ok.any():
                loss = self.train.loss(self.model.task, output.outputs, output.ok, batch)
                self.optimiser.zero_grad()
                loss.backward()
                self.team.add_gradients(self.model.parameters())
                self.optimiser.step()
                losses.append(loss.detach())
            watcher.batch()
        return float(torch.stack(losses).mean()) if losses else math.nan, failures

    def _set_step_size(self, moment: float) -> None:
        config = self.config
        self.optimiser.learning_rate = config.learning_rate * step_size(config.schedule, config.max_epochs, moment)

    @torch.inference_mode()
    def _judge(self) -> dict[str, float]:
        """Loss and metric over the validation split, and field calls for each of its series; NaN without one.

        Where epochs are chosen by it, the loss is that of logits as sure as they should be.
        """
        task, val = self.model.task, self.val
        if val is None:
            return {"val_loss": math.nan, "val_metric": math.nan}
        output = run_model(self.model, val.inputs, val.at, batch_size=2 * self.batch_size, team=self.team)

        def loss(factor: float) -> float:
            return float(val.loss(task, output.outputs * factor, output.ok))

        found = {"val_loss": math.inf, "val_metric": float(task.metric(output.outputs, val.target).float())}
        if output.ok.any():
            if self.config.choose == "loss":
                found["sharpness"] = best_factor(task, loss)
            found["val_loss"] = loss(found.get("sharpness", 1.0))
        if output.evaluations is not None:
            found["evaluations"] = float(output.evaluations.float().mean())
        return found

    def save(self, folder: Path) -> None:
        rows, weights = self.history.rows, self.model.state_dict()
        checkpoint = Checkpoint(rows, weights, self.best_weights, self.optimiser.state())
        checkpoint.write(folder / CHECKPOINT)
        self.history.write_csv(folder / CURVE)

    def restore(self, file: Path) -> None:
        saved = Checkpoint.read(file)
        try:
            self.model.load_state_dict(saved.weights)
        except RuntimeError as error:
            raise unusable(file, "belongs to another model") from error
        self.optimiser.load(saved.optimiser)
        self.history, self.best_weights = replace(self.history, rows=saved.rows), saved.best
