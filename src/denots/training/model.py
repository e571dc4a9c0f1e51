"""A backbone and a readout, and nothing else: what is trained, saved and shipped."""

from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Float64
from torch import Tensor, nn

from denots.backbones import BACKBONES, Inputs
from denots.errors import InvalidOption
from denots.readout import TASKS
from denots.registry import lookup


@dataclass(frozen=True)
class ModelSpec:
    """Enough to build a model without weights; plain values only, so it can be written as JSON."""

    backbone: str
    options: dict[str, Any]
    task: str
    channels: int
    static_size: int
    outputs: int


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    outputs: Tensor
    ok: Tensor
    evaluations: Tensor | None


class Model(nn.Module):
    def __init__(self, spec: ModelSpec) -> None:
        super().__init__()
        backbone = lookup(BACKBONES, spec.backbone, "backbone")
        known = asdict(backbone.Config())
        unknown = set(spec.options) - set(known)
        if unknown:
            raise InvalidOption(
                f"backbone {spec.backbone!r} has no option {sorted(unknown)[0]!r}; known: {', '.join(known)}."
            )
        self.spec = spec
        self.backbone = backbone(backbone.Config(**spec.options), spec.channels, spec.static_size)
        self.readout = lookup(TASKS, spec.task, "task")(self.backbone.state_size, spec.outputs)

    def forward(self, inputs: Inputs, at: Float64[Tensor, "B K"] | None = None) -> Output:
        """Outputs of every series; NaN, and without any gradient, for one that could not be encoded."""
        encoded = self.backbone(inputs, at)
        if encoded.ok.all():
            return Output(self.readout(encoded.states), encoded.ok, encoded.evaluations)
        # The head must not see NaN states: their zero gradient times NaN would reach its weights.
        answers = self.readout(encoded.states[encoded.ok])
        outputs = answers.new_full((len(encoded.ok), *answers.shape[1:]), torch.nan)
        return Output(outputs.index_put((encoded.ok,), answers), encoded.ok, encoded.evaluations)

    @property
    def parameter_count(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())


def build_model(spec: ModelSpec, seed: int) -> Model:
    """A model whose initial weights depend on the seed alone, not on what was drawn before."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Model(spec)


@torch.inference_mode()
def run_model(model: Model, inputs: Inputs, at: Tensor | None = None, batch_size: int = 256) -> Output:
    """Outputs for a whole set, in batches of bounded memory."""
    model.eval()
    parts = []
    for rows in torch.arange(len(inputs)).split(batch_size):
        parts.append(model(inputs.select(rows), None if at is None else at[rows]))
    evaluations = [part.evaluations for part in parts if part.evaluations is not None]
    return Output(
        torch.cat([part.outputs for part in parts]),
        torch.cat([part.ok for part in parts]),
        torch.cat(evaluations) if evaluations else None,
    )
