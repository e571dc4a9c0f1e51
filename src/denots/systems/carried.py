"""A trained model that goes on from a kept state when a row comes in, instead of reading the series again."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64

from denots.inference.running import Memory, Running
from denots.inference.told import Told
from denots.training.model import Model, Output


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """The outputs of a model from what its backbone remembers of each series."""

    model: Model
    backbone: Running

    @torch.inference_mode()
    def outputs(self, memory: Memory, at: Float64[np.ndarray, " B"]) -> Told:
        """Raw outputs [B, 1, outputs] at times that are not before the latest row, with the bits of `Fitted.outputs`."""
        states = torch.from_numpy(self.backbone.read(memory, at))[:, None]
        ok = states.isfinite().flatten(1).all(dim=1)
        outputs = self.model.head(states)
        return Output(outputs if ok.all() else outputs.where(ok[:, None, None], torch.nan), ok).told()
