"""Build a data set into a folder once, and open it from there ever after."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

import platformdirs

from denots.data.store import (
    holds_only,
    open_series_set,
    package_version,
    read_manifest,
    save_series_set,
    stored_hash,
    write_manifest,
    written_whole,
)
from denots.datasets.dataset import Dataset, Recipe, Splits, SplitSizes, Task
from denots.errors import InvalidFolder, InvalidOption

FORMAT = "denots-dataset"
FORMAT_VERSION = 1
MANIFEST = "dataset.json"


def home() -> Path:
    """Where data sets are kept: `$DENOTS_HOME`, or the user's cache folder."""
    chosen = os.environ.get("DENOTS_HOME")
    return Path(chosen) if chosen else platformdirs.user_cache_path("denots", appauthor=False)


def folder_of(recipe: Recipe, *, seed: int, size: int | Sequence[int] | None) -> Path:
    """The folder for exactly these data: name, generator version, seed and split sizes."""
    sizes = "-".join(map(str, recipe.sized(size)))
    return home() / "datasets" / f"{recipe.name}-v{recipe.version}-seed{seed}-{sizes}"


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
    manifest = read_manifest(folder / MANIFEST, FORMAT, FORMAT_VERSION)
    name, hashes = manifest.get("name"), manifest.get("content_sha256")
    if not isinstance(name, str) or manifest.get("task") not in get_args(Task) or not isinstance(hashes, dict):
        raise InvalidFolder(f"{folder / MANIFEST} names no data set, task or hashes; it was changed.")
    for part in SplitSizes._fields:
        if stored_hash(folder / part) != hashes.get(part):
            raise InvalidFolder(f"{folder / part} is not the split that {folder / MANIFEST} names.")
    return Dataset(
        name, manifest["task"], Splits(**{part: open_series_set(folder / part) for part in SplitSizes._fields})
    )


def _write(recipe: Recipe, folder: Path, *, seed: int, sizes: SplitSizes, existing: Literal["replace", "keep"]) -> None:
    if seed < 0:
        raise InvalidOption(f"seed {seed} is negative; give a whole number from 0.")
    with written_whole(folder, replaceable=_is_dataset_folder, existing=existing) as draft:
        parts = recipe.generate(seed, sizes)
        for part, series in parts.items():
            save_series_set(series, draft / part)
        write_manifest(
            draft / MANIFEST,
            {
                "format": FORMAT,
                "format_version": FORMAT_VERSION,
                "denots_version": package_version(),
                "name": recipe.name,
                "task": recipe.task,
                "generator_version": recipe.version,
                "seed": seed,
                "sizes": sizes._asdict(),
                "content_sha256": {part: stored_hash(draft / part) for part in parts},
            },
        )


def _is_dataset_folder(folder: Path) -> bool:
    if not holds_only(folder, {MANIFEST, *SplitSizes._fields}):
        return False
    try:
        read_manifest(folder / MANIFEST, FORMAT, FORMAT_VERSION)
    except InvalidFolder:
        return False
    return True
