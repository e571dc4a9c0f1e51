"""From observations to a continuous signal."""

from denots.paths.causal_hermite import CausalHermite
from denots.paths.fit import Interpolation
from denots.paths.linear import Linear, Rectilinear
from denots.paths.natural_cubic import NaturalCubic
from denots.paths.path import Path
from denots.registry import Registry

PATHS: Registry[type[Interpolation]] = Registry(
    "path",
    {
        "natural-cubic": NaturalCubic,
        "causal-hermite": CausalHermite,
        "linear": Linear,
        "rectilinear": Rectilinear,
    },
)

__all__ = ["PATHS", "CausalHermite", "Interpolation", "Linear", "NaturalCubic", "Path", "Rectilinear"]
