"""A progress bar for someone who watches a run: the epoch, its batches, and how good the model is."""

import lightning as L
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from denots.training.model import Model


class EpochBar(L.Callback):
    """One line on stderr that vanishes when training ends."""

    def __init__(self, model: Model, max_epochs: int) -> None:
        depth = getattr(model.backbone.config, "depth", None)
        self.label = "" if depth is None else f"depth {depth:g}, "
        self.metric_name, self.max_epochs = model.task.metric_name, max_epochs
        self.best = (float("-inf"), 0)
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[score]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self.line = self.bar.add_task("", score="")

    def on_train_epoch_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        self.bar.start()
        described = f"{self.label}epoch {trainer.current_epoch + 1}/{self.max_epochs}"
        self.bar.update(self.line, description=described, completed=0, total=int(trainer.num_training_batches))

    def on_train_batch_end(self, *_: object, **__: object) -> None:
        self.bar.advance(self.line)

    def on_train_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        score = float(trainer.callback_metrics["val_metric"])
        self.best = max(self.best, (score, -trainer.current_epoch))
        best, epoch = self.best
        self.bar.update(self.line, score=f"{self.metric_name} {score:.3f}, best {best:.3f} in epoch {1 - epoch}")

    def teardown(self, trainer: L.Trainer, pl_module: L.LightningModule, stage: str) -> None:
        self.bar.stop()

    def on_exception(self, trainer: L.Trainer, pl_module: L.LightningModule, exception: BaseException) -> None:
        self.bar.stop()
