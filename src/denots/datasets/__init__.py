"""Data sets by name: `load("pendulum")`, drawn from a seed, or `load("uwgl")`, once it is imported.

One file per family: `pendulum.py`, `pendulum_angles.py`, `sine.py` and `bump.py` are synthetic,
`uea.py`, `archive.py`, `sepsis.py` and `physionet2012.py` are made from published data. To add a data set, write a `Recipe` or a
`DerivedRecipe` and give it a line in `DATASETS`.
"""

from collections.abc import Sequence
from pathlib import Path

from denots.datasets.archive import DatasetRegistry
from denots.datasets.bump import BUMP
from denots.datasets.dataset import Dataset, DerivedRecipe, Recipe, Splits, SplitSizes
from denots.datasets.describe import Description, describe, sketch
from denots.datasets.imports import bind
from denots.datasets.library import build_recipe, load_recipe, open_dataset
from denots.datasets.pendulum import PENDULUM, PENDULUM_SMALL
from denots.datasets.pendulum_angles import PENDULUM_ANGLES, PENDULUM_ANGLES_REGULAR
from denots.datasets.physionet2012 import PHYSIONET_2012
from denots.datasets.sepsis import SEPSIS, SEPSIS_SHIFT
from denots.datasets.sine import SINE_2, SINE_MIX, SINE_MIX_JUMP
from denots.datasets.uea import INSECT_SOUND, UWGL
from denots.protocol import DEFAULT_PROTOCOL, Protocol, check_protocol

__all__ = [
    "DATASETS",
    "Dataset",
    "DerivedRecipe",
    "Description",
    "Protocol",
    "Recipe",
    "SplitSizes",
    "Splits",
    "build",
    "describe",
    "load",
    "open_dataset",
    "sketch",
]

DATASETS = DatasetRegistry(
    "data set",
    {
        "pendulum": PENDULUM,
        "pendulum-small": PENDULUM_SMALL,
        "pendulum-angles": PENDULUM_ANGLES,
        "pendulum-angles-regular": PENDULUM_ANGLES_REGULAR,
        "sine-2": SINE_2,
        "bump": BUMP,
        "sine-mix": SINE_MIX,
        "sine-mix-jump": SINE_MIX_JUMP,
        "uwgl": UWGL,
        "insect-sound": INSECT_SOUND,
        "sepsis": SEPSIS,
        "sepsis-shift": SEPSIS_SHIFT,
        "physionet-2012": PHYSIONET_2012,
    },
    group="denots.datasets",
)


def load(
    name: str, *, seed: int = 0, size: int | Sequence[int] | None = None, protocol: Protocol = DEFAULT_PROTOCOL
) -> Dataset:
    """Open a data set by name; the first call builds it into `$DENOTS_HOME` (else the user's cache folder).

    The same name, seed, size and protocol give the same series, bit for bit, with the same numpy
    on the same kind of processor. The published sine and bump sets were drawn with seed 42. Real
    data have to be imported once; the error of the first call says how.

    Args:
        size: a smaller total, shared out like the published splits, or (train, val, test).
            A smaller split is the beginning of the larger one.
        protocol: "paper" prepares real data as published, "fair" and "best" as the text of the
            paper promises; synthetic data and Sepsis are the same under all.
    """
    return load_recipe(_recipe(name, protocol), seed=seed, size=size)


def build(
    name: str,
    *,
    seed: int = 0,
    size: int | Sequence[int] | None = None,
    protocol: Protocol = DEFAULT_PROTOCOL,
    folder: str | Path | None = None,
) -> Path:
    """Make a data set anew, into `folder` or the place where `load` looks, and return the folder."""
    target = None if folder is None else Path(folder)
    return build_recipe(_recipe(name, protocol), seed=seed, size=size, folder=target)


def _recipe(name: str, protocol: Protocol) -> Recipe:
    data: Protocol = "paper" if check_protocol(protocol) == "paper" else "fair"
    recipe = DATASETS.find(name)
    return bind(recipe, data) if isinstance(recipe, DerivedRecipe) else recipe
