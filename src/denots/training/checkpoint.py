"""The file from which an interrupted run goes on: checked whole before anything in it is used."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from safetensors.torch import load, save
from torch import Tensor

from denots.errors import InvalidFolder
from denots.folders import write_file_whole

MAGIC = b"denots checkpoint 1 "


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The learning curve, and the weights after its last epoch, after its best one, and of the optimiser.

    One file holds all of it and is replaced in one move: there is no moment at which they could disagree.
    A line with a checksum comes first, then the curve as a line of JSON, then the weights as safetensors.
    """

    rows: list[dict[str, float]]
    weights: dict[str, Tensor]
    best: dict[str, Tensor]
    optimiser: dict[str, Tensor]

    def write(self, file: Path) -> None:
        parts = {"weights": self.weights, "best": self.best, "optimiser": self.optimiser}
        tensors = {
            f"{part}/{name}": t.clone().contiguous() for part, table in parts.items() for name, t in table.items()
        }
        body = json.dumps(self.rows).encode() + b"\n" + save(tensors)
        write_file_whole(file, _heading(body) + b"\n" + body)

    @classmethod
    def read(cls, file: Path) -> "Checkpoint":
        heading, _, body = file.read_bytes().partition(b"\n")
        if not heading.startswith(MAGIC):
            raise unusable(file, "is not a checkpoint that this version of denots wrote")
        if heading != _heading(body):
            raise unusable(file, "is damaged: its checksum does not match")
        curve, _, weights = body.partition(b"\n")
        parts: dict[str, dict[str, Tensor]] = {"weights": {}, "best": {}, "optimiser": {}}
        for name, tensor in load(weights).items():
            part, _, own = name.partition("/")
            parts[part][own] = tensor
        return cls(json.loads(curve), **parts)


def unusable(file: Path, reason: str) -> InvalidFolder:
    return InvalidFolder(
        f"{file} {reason}, so the run cannot go on from it. Start it anew: denots fit --restart, or delete {file.parent}."
    )


def _heading(body: bytes) -> bytes:
    return MAGIC + hashlib.sha256(body).hexdigest().encode()
