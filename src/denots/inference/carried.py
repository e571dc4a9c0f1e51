"""A model that goes on from a kept state when a row comes in, instead of reading the series again."""

from dataclasses import dataclass

import numpy as np

from denots.inference.network import Encoded, Network
from denots.inference.running import Memory, Running
from denots.inference.told import Model, Told
from denots.shapes import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Carried:
    """The outputs of a model from what its backbone remembers of each series."""

    network: Network
    backbone: Running

    @classmethod
    def of(cls, model: Model | None) -> "Carried | None":
        """The same answers from a state that is carried from row to row, where the model has one."""
        if isinstance(model, Network) and isinstance(model.encoder, Running):
            return cls(model, model.encoder)
        return None

    def outputs(self, memory: Memory, at: FloatArray) -> Told:
        """Raw outputs [B, 1, outputs] at times [B] that are not before the latest row, with the bits of the whole model."""
        states = self.backbone.read(memory, at)[:, None]
        return self.network.told(Encoded(states, np.asarray(np.isfinite(states).all(axis=(1, 2)))))
