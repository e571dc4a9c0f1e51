"""What Lightning needs to know: the loss of a batch, the metric of a split, the optimiser."""

from collections.abc import Callable

import lightning as L
import torch
from torch import Tensor

from denots.training.examples import Examples
from denots.training.model import Model, Output


class SerialAdam(torch.optim.Adam):
    """Adam in one thread: PyTorch would wake its others for every small parameter, and they would then
    spin for milliseconds on the processors that the solver of the next batch needs.
    """

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor | None:  # type: ignore[override]
        loss = None if closure is None else closure()
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            super().step()
        finally:
            torch.set_num_threads(threads)
        return loss


class TrainingModule(L.LightningModule):
    """Trains any model of the package; series that failed to solve leave the loss, not the run."""

    def __init__(self, model: Model, learning_rate: float) -> None:
        super().__init__()
        self.model, self.learning_rate = model, learning_rate
        self.collected: list[tuple[Output, Tensor]] = []
        self.losses: list[Tensor] = []
        self.failures = 0

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return SerialAdam(self.model.parameters(), lr=self.learning_rate, fused=True)

    def on_train_epoch_start(self) -> None:
        self.losses, self.failures = [], 0

    def training_step(self, batch: Examples) -> Tensor | None:
        output = self.model(batch.inputs, batch.at)
        self.failures += int((~output.ok).sum())
        if not output.ok.any():
            return None
        outputs, target = output.outputs, batch.target
        if not output.ok.all():
            outputs, target = outputs[output.ok], target[output.ok]
        loss = self.model.task.loss(outputs, target)
        self.losses.append(loss.detach())
        return loss

    def validation_step(self, batch: Examples) -> None:
        self.collected.append((self.model(batch.inputs, batch.at), batch.target))

    def on_validation_epoch_end(self) -> None:
        outputs = torch.cat([output.outputs for output, _ in self.collected])
        target = torch.cat([target for _, target in self.collected])
        counts = [output.evaluations for output, _ in self.collected if output.evaluations is not None]
        solved = torch.cat([output.ok for output, _ in self.collected])
        self.collected = []
        self.log("val_metric", self.model.task.metric(outputs, target).float())
        loss = self.model.task.loss(outputs[solved], target[solved]) if solved.any() else torch.inf
        self.log("val_loss", loss)
        if counts:
            self.log("evaluations", torch.cat(counts).float().mean())

    def transfer_batch_to_device(self, batch: Examples, device: torch.device, dataloader_idx: int) -> Examples:
        return batch
