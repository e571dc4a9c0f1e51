"""A backbone and a head, and nothing else: what is trained, saved and shipped."""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float64
from torch import Tensor, nn

from denots.backbones import Backbone, Inputs
from denots.cluster.team import Team
from denots.errors import InvalidOption
from denots.inference.network import Network
from denots.inference.told import Told
from denots.tasks import Task
from denots.tasks.task import Head

MOST_BYTES = 4 * 2**30  # of weights; training takes four times as much


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """Raw outputs of a task for each series, NaN where it could not be encoded; field calls where it was solved."""

    outputs: Tensor
    ok: Tensor
    evaluations: Tensor | None = None

    @classmethod
    def of(cls, told: Told) -> "Output":
        """What arrays say, as tensors."""
        counted = None if told.evaluations is None else torch.from_numpy(told.evaluations)
        return cls(torch.from_numpy(told.outputs), torch.from_numpy(told.ok), counted)

    def told(self) -> Told:
        """The same as arrays."""
        return Told(
            self.outputs.numpy(), self.ok.numpy(), None if self.evaluations is None else self.evaluations.numpy()
        )

    def joined(self, team: Team, total: int) -> "Output":
        """Of all series of a team, whose pieces its processes have."""
        if team.size == 1:
            return self
        ok = team.gather_rows(self.ok.byte(), total).bool()
        evaluations = None if self.evaluations is None else team.gather_rows(self.evaluations, total)
        return Output(team.gather_rows(self.outputs, total), ok, evaluations)


class Model(nn.Module):
    """From prepared series to the outputs of a task."""

    def __init__(self, backbone: Backbone, task: Task) -> None:
        super().__init__()
        self.backbone, self.task = backbone, task
        self.head = task.head(backbone.state_size if task.asks_times else backbone.summary_size)

    def forward(self, inputs: Inputs, at: Float64[Tensor, "B K"] | None = None) -> Output:
        """Outputs of every series; NaN, and without any gradient, for one that could not be encoded."""
        encoded = self.backbone(inputs, at)
        states = encoded.states if self.task.asks_times else encoded.states[:, -1]
        if encoded.ok.all():
            return Output(self.head(states), encoded.ok, encoded.evaluations)
        # The head must not see NaN states: their zero gradient times NaN would reach its weights.
        answers = self.head(states[encoded.ok])
        outputs = answers.new_full((len(encoded.ok), *answers.shape[1:]), torch.nan)
        return Output(outputs.index_put((encoded.ok,), answers), encoded.ok, encoded.evaluations)

    def network(self) -> Network | None:
        """The same model for predictions without torch; None where it has none."""
        encoder = self.backbone.encoder()
        if encoder is None or not isinstance(self.head, Head):
            return None
        weight, bias = (parameter.detach().numpy() for parameter in (self.head.weight, self.head.bias))
        return Network(encoder, weight, bias, self.task.asks_times)

    @torch.no_grad()
    def sharpen(self, factor: float) -> None:
        """Multiply all outputs, where the head is linear."""
        if isinstance(self.head, Head) and factor != 1.0:
            for parameter in self.head.parameters():
                parameter.mul_(factor)

    @property
    def parameter_count(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())


def build_model(
    backbone: type[Backbone], config: Any, task: Task, *, channels: int, static_size: int = 0, seed: int
) -> Model:
    """A model whose initial weights depend on the seed alone, not on what was drawn before.

    One whose weights would take more than MOST_BYTES is refused before anything is allocated.
    """
    _check_size(backbone, config, task, channels, static_size)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Model(backbone(config, channels, static_size), task)


def _check_size(backbone: type[Backbone], config: Any, task: Task, channels: int, static_size: int) -> None:
    try:
        with torch.device("meta"):
            weights = Model(backbone(config, channels, static_size), task).state_dict().values()
        size = float(sum(weight.numel() * weight.element_size() for weight in weights))
    except RuntimeError as error:
        if "overflow" not in str(error):
            raise
        size = float("inf")
    if size > MOST_BYTES:
        raise InvalidOption(
            f"the weights of this model would take {size / 2**30:.1f} GiB, and at most {MOST_BYTES / 2**30:.0f} are allowed; "
            f"choose smaller options. They are {config}, for {channels} channels."
        )


@torch.inference_mode()
def run_model(
    model: Model, inputs: Inputs, at: Tensor | None = None, batch_size: int = 256, team: Team | None = None
) -> Output:
    """Outputs for a whole set, in batches of bounded memory; a team shares the work."""
    model.eval()
    together = team or Team()
    parts = []
    for rows in together.piece(torch.arange(len(inputs))).split(batch_size):
        parts.append(model(inputs.select(rows), None if at is None else at[rows]))
    evaluations = [part.evaluations for part in parts if part.evaluations is not None]
    own = Output(
        torch.cat([part.outputs for part in parts]),
        torch.cat([part.ok for part in parts]),
        torch.cat(evaluations) if evaluations else None,
    )
    return own.joined(together, len(inputs))
