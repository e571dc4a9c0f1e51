"""A path together with its own slopes, as further channels."""

from dataclasses import fields

from jaxtyping import Float64
from torch import Tensor

from denots.inference import curve
from denots.inference.curve import Curve
from denots.paths.path import Path, path_of


def append_slopes(path: Path, scale: Float64[Tensor, " S"]) -> Path:
    """The path with the slopes of its first `len(scale)` channels, each divided by its scale, as channels.

    `inference.curve.append_slopes` says how. There is no gradient.
    """
    arrays = {part.name: getattr(path, part.name).numpy() for part in fields(path)}
    return path_of(curve.append_slopes(Curve(**arrays), scale.numpy()))
