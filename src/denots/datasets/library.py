"""Build a data set into a folder once, and open it from there ever after."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import platformdirs

from denots.datasets.bundle import Bundle
from denots.datasets.dataset import Dataset, Recipe, Splits, SplitSizes
from denots.errors import InvalidFolder, InvalidOption

BUNDLE = Bundle("denots-dataset", 1, "dataset.json", SplitSizes._fields)
_RENAMED = {"binary": "classification", "multiclass": "classification"}  # in folders of earlier versions


def home() -> Path:
    """Where data sets are kept: `$DENOTS_HOME`, or the user's cache folder."""
    chosen = os.environ.get("DENOTS_HOME")
    return Path(chosen) if chosen else platformdirs.user_cache_path("denots", appauthor=False)


def folder_of(recipe: Recipe, *, seed: int, size: int | Sequence[int] | None) -> Path:
    """The folder for exactly these data: name, generator version, variant, seed and split sizes."""
    variant = "".join(f"-{value}" for value in recipe.variant.values())
    sizes = "-".join(map(str, recipe.sized(size)))
    return home() / "datasets" / f"{recipe.name}-v{recipe.version}{variant}-seed{seed}-{sizes}"


def load_recipe(recipe: Recipe, *, seed: int, size: int | Sequence[int] | None) -> Dataset:
    """Open the data set, building it first when it is not there yet."""
    folder = folder_of(recipe, seed=seed, size=size)
    if not folder.exists():
        _write(recipe, folder, seed=seed, sizes=recipe.sized(size), existing="keep")
    try:
        return open_dataset(folder)
    except InvalidFolder as error:
        raise InvalidFolder(f"{error} Delete {folder} to have the data set drawn again.") from error


def build_recipe(recipe: Recipe, *, seed: int, size: int | Sequence[int] | None, folder: Path | None) -> Path:
    """Draw the data set anew and return its folder; an earlier build there is replaced."""
    target = folder_of(recipe, seed=seed, size=size) if folder is None else folder
    _write(recipe, target, seed=seed, sizes=recipe.sized(size), existing="replace")
    return target


def open_dataset(folder: Path) -> Dataset:
    """Read a data set folder; raise InvalidFolder when any part of it changed."""
    manifest = BUNDLE.read_manifest(folder)
    name, task = manifest.get("name"), manifest.get("task")
    if not isinstance(name, str) or not isinstance(task, str):
        raise InvalidFolder(f"{folder / BUNDLE.manifest} names no data set or task; it was changed.")
    return Dataset(name, _RENAMED.get(task, task), Splits(**BUNDLE.open(folder)))


def _write(recipe: Recipe, folder: Path, *, seed: int, sizes: SplitSizes, existing: Literal["replace", "keep"]) -> None:
    if seed < 0:
        raise InvalidOption(f"seed {seed} is negative; give a whole number from 0.")
    facts = {
        "name": recipe.name,
        "task": recipe.task,
        "generator_version": recipe.version,
        **recipe.variant,
        "seed": seed,
        "sizes": sizes._asdict(),
    }
    BUNDLE.write(folder, facts, lambda: recipe.generate(seed, sizes), existing)
