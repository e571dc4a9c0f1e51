"""The optimiser: AdamW with the fused kernel of PyTorch, kept from disturbing the solver."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

BETAS, EPSILON = (0.9, 0.999), 1e-8
MOMENTS = ("step", "exp_avg", "exp_avg_sq")


class AdamW:
    """The steps of `torch.optim.AdamW(fused=True)`, in one thread, with gradients clipped to a norm.

    With several, PyTorch would wake the others for every small parameter, and they would then spin for
    milliseconds on the processors that the solver of the next batch needs. The kernel is called directly,
    because `torch.optim` loads PyTorch's compiler when it is first used, which takes longer than a small run.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        learning_rate: float,
        weight_decay: float = 0.0,
        clip: float | None = None,
    ) -> None:
        self.parameters, self.learning_rate = list(parameters), learning_rate
        self.weight_decay, self.clip = weight_decay, clip
        self.moments: dict[int, tuple[Tensor, Tensor, Tensor]] = {}

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move every parameter that has a gradient."""
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            if self.clip is not None:
                nn.utils.clip_grad_norm_(self.parameters, self.clip)
            for number, parameter in enumerate(self.parameters):
                if parameter.grad is not None:
                    self._move(number, parameter, parameter.grad)
        finally:
            torch.set_num_threads(threads)

    def _move(self, number: int, parameter: Tensor, gradient: Tensor) -> None:
        if number not in self.moments:
            zero = torch.zeros((), dtype=torch.float32)
            self.moments[number] = (zero, torch.zeros_like(parameter), torch.zeros_like(parameter))
        step, mean, square = self.moments[number]
        step += 1
        torch._fused_adamw_(
            [parameter],
            [gradient],
            [mean],
            [square],
            [],
            [step],
            lr=self.learning_rate,
            beta1=BETAS[0],
            beta2=BETAS[1],
            weight_decay=self.weight_decay,
            eps=EPSILON,
            amsgrad=False,
            maximize=False,
        )

    def state(self) -> dict[str, Tensor]:
        """What the next step depends on besides parameters and gradients."""
        return {
            f"{number}.{name}": value
            for number, moments in self.moments.items()
            for name, value in zip(MOMENTS, moments, strict=True)
        }

    def load(self, state: dict[str, Tensor]) -> None:
        numbers = {int(key.partition(".")[0]) for key in state}
        self.moments = {n: (state[f"{n}.step"], state[f"{n}.exp_avg"], state[f"{n}.exp_avg_sq"]) for n in numbers}
