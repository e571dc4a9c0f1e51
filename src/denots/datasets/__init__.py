"""The paper's synthetic data sets, drawn from a seed: `load("pendulum")`.

One file per family: `pendulum.py`, `pendulum_angles.py`, `sine.py`, `bump.py`. To add a
data set, write a `Recipe` and give it a line in `DATASETS`.
"""

from collections.abc import Sequence
from pathlib import Path

from denots.datasets.bump import BUMP
from denots.datasets.dataset import Dataset, Recipe, Splits, SplitSizes
from denots.datasets.describe import Description, describe, sketch
from denots.datasets.library import build_recipe, load_recipe, open_dataset
from denots.datasets.pendulum import PENDULUM, PENDULUM_SMALL
from denots.datasets.pendulum_angles import PENDULUM_ANGLES, PENDULUM_ANGLES_REGULAR
from denots.datasets.sine import SINE_2, SINE_MIX
from denots.registry import lookup

__all__ = [
    "DATASETS",
    "Dataset",
    "Description",
    "Recipe",
    "SplitSizes",
    "Splits",
    "build",
    "describe",
    "load",
    "open_dataset",
    "sketch",
]

DATASETS = {
    "pendulum": PENDULUM,
    "pendulum-small": PENDULUM_SMALL,
    "pendulum-angles": PENDULUM_ANGLES,
    "pendulum-angles-regular": PENDULUM_ANGLES_REGULAR,
    "sine-2": SINE_2,
    "bump": BUMP,
    "sine-mix": SINE_MIX,
}


def load(name: str, *, seed: int = 0, size: int | Sequence[int] | None = None) -> Dataset:
    """Open a data set by name; the first call builds it into `$DENOTS_HOME` (else the user's cache folder).

    The same name, seed and size give the same series, bit for bit, with the same numpy on
    the same kind of processor. The published sine and bump sets were drawn with seed 42.

    Args:
        size: a smaller total, shared out like the published splits, or (train, val, test).
            A smaller split is the beginning of the larger one.
    """
    return load_recipe(lookup(DATASETS, name, "data set"), seed=seed, size=size)


def build(
    name: str, *, seed: int = 0, size: int | Sequence[int] | None = None, folder: str | Path | None = None
) -> Path:
    """Draw a data set anew, into `folder` or the place where `load` looks, and return the folder."""
    recipe = lookup(DATASETS, name, "data set")
    return build_recipe(recipe, seed=seed, size=size, folder=None if folder is None else Path(folder))
