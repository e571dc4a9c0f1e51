"""Build a data set into a folder once, and open it from there ever after."""

import os
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from denots.data.store import (
    content_hash,
    holds_only,
    open_series_set,
    package_version,
    read_manifest,
    save_series_set,
    write_manifest,
    written_whole,
)
from denots.datasets.dataset import Dataset, Recipe, Splits, SplitSizes
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
        _write(recipe, folder, seed=seed, sizes=recipe.sized(size), keep_existing=True)
    return open_dataset(folder)


def build_recipe(recipe: Recipe, *, seed: int, size: int | Sequence[int] | None, folder: Path | None) -> Path:
    """Draw the data set anew and return its folder; an earlier build there is replaced."""
    target = folder_of(recipe, seed=seed, size=size) if folder is None else folder
    _write(recipe, target, seed=seed, sizes=recipe.sized(size), keep_existing=False)
    return target


def open_dataset(folder: Path) -> Dataset:
    """Read a data set folder; raise InvalidFolder when any part of it changed."""
    manifest = read_manifest(folder / MANIFEST, FORMAT, FORMAT_VERSION)
    hashes = manifest.get("content_sha256", {})
    parts = {}
    for part in SplitSizes._fields:
        parts[part] = open_series_set(folder / part)
        if content_hash(parts[part]) != hashes.get(part):
            raise InvalidFolder(f"{folder / part} is not the split that {MANIFEST} names; delete {folder} and build again.")
    return Dataset(name=manifest["name"], task=manifest["task"], splits=Splits(**parts))


def _write(recipe: Recipe, folder: Path, *, seed: int, sizes: SplitSizes, keep_existing: bool) -> None:
    if seed < 0:
        raise InvalidOption(f"seed {seed} is negative; give a whole number from 0.")
    existing = "keep" if keep_existing else "replace"
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
                "content_sha256": {part: content_hash(series) for part, series in parts.items()},
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
