"""Any set of the UEA and UCR archives as a data set of its own: `uea-NAME`, once it is imported.

Times are those of the file: its time stamps, or else 0, 1, 2 ... Lengths may differ and values may be
missing; steps at the end at which nothing was observed are padding and left out. The archive's test part
is the test split; its training part is shuffled and cut 80 / 20 into training and validation.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from denots.data.series import SeriesSet
from denots.datasets.dataset import DerivedRecipe, Metric, Parts, Recipe, SplitSizes, stream
from denots.datasets.imports import import_folder, import_manifest, import_source, unpacked
from denots.datasets.library import home
from denots.datasets.uea import PARTS, archive_source, read_archive, split_sizes
from denots.errors import InvalidFile
from denots.registry import Registry

PREFIX = "uea-"
# Task and metric, by what targets are.
ASKED: dict[str, tuple[str, Metric]] = {"classes": ("classification", "accuracy"), "numbers": ("regression", "r2")}
_FILE = re.compile(r"(.+)_(TRAIN|TEST)\.(ts|arff)", re.IGNORECASE)
_DIMENSION = re.compile(r"(.+)Dimension\d+")  # a channel of a set, in a file of its own


class Published(NamedTuple):
    """What the archive's table says of a set; the range of steps, where lengths differ, was counted in its files."""

    train: int
    test: int
    channels: int
    steps: str
    classes: int


PUBLISHED = {
    "BasicMotions": Published(40, 40, 6, "100", 4),
    "ERing": Published(30, 270, 4, "65", 6),
    "Libras": Published(180, 180, 2, "45", 15),
    "NATOPS": Published(180, 180, 24, "51", 6),
    "RacketSports": Published(151, 152, 6, "30", 4),
    "JapaneseVowels": Published(270, 370, 12, "7 to 29", 9),
    "LSST": Published(2459, 2466, 6, "36", 14),
    "PLAID": Published(537, 537, 1, "100 to 1344", 11),
    "GesturePebbleZ1": Published(132, 172, 1, "100 to 455", 6),
    "MelbournePedestrian": Published(1194, 2439, 1, "9 to 24", 10),
}


class DatasetRegistry(Registry[Recipe | DerivedRecipe]):
    """Data sets by name, those of the archive among them, which are too many to be listed one by one."""

    def find(self, name: str) -> Recipe | DerivedRecipe:
        if name not in self and name.startswith(PREFIX):
            return archive_recipe(name.removeprefix(PREFIX))
        return super().find(name)


def archive_recipe(archive: str) -> DerivedRecipe:
    """The data set `uea-ARCHIVE`; what is asked, and how many series there are, is known once it is imported."""
    name = f"{PREFIX}{archive}"
    source = archive_source(name, archive, partial(read_padded, archive))
    target, usable = "classes", dict.fromkeys(PARTS, 0)
    if import_folder(source).exists():
        manifest = import_manifest(source)
        target, usable = manifest["target"], manifest["usable"]
    task, metric = ASKED[target]
    split = partial(derive, name)
    return DerivedRecipe(
        name=name,
        task=task,
        metric=metric,
        description="A set of the UEA/UCR archive",
        sizes=split_sizes(usable) if any(usable.values()) else SplitSizes(0, 0, 0),
        source=source,
        derive={"fair": split, "paper": split},
        split_sizes=split_sizes,
    )


def derive(name: str, parts: Parts, seed: int) -> dict[str, SeriesSet]:
    """The official parts, the training part shuffled and cut."""
    order = stream(seed, name, "train", "order").permutation(len(parts["train"]))
    cut = split_sizes({part: len(series) for part, series in parts.items()}).train
    shuffled = stream(seed, name, "test", "order").permutation(len(parts["test"]))
    return {
        "train": parts["train"].select(order[:cut]),
        "val": parts["train"].select(order[cut:]),
        "test": parts["test"].select(shuffled),
    }


def read_padded(archive: str, places: Sequence[Path]) -> dict[str, SeriesSet]:
    """The official parts without the steps that only fill series up to a common length."""
    return {part: without_padding(series) for part, series in read_archive(archive, places).items()}


def without_padding(series: SeriesSet) -> SeriesSet:
    """The same series, each ending at its last observation."""
    row = np.arange(len(series.times))
    last = np.maximum.reduceat(np.where(np.isnan(series.values).all(axis=1), -1, row), series.offsets[:-1])
    kept = row <= np.repeat(last, series.lengths)
    lengths = last + 1 - series.offsets[:-1]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return replace(series, times=series.times[kept], values=series.values[kept], offsets=offsets)


def import_archives(paths: Sequence[Path]) -> dict[str, Path]:
    """Take in every set of the archive that these files, folders and zip archives hold; names with their folders."""
    absent = [str(path) for path in paths if not path.exists()]
    if absent:
        raise InvalidFile(f"{', '.join(absent)} does not exist; give zip archives, folders or files of the archive.")
    with unpacked(paths, frozenset({".ts", ".arff"})) as places:
        found = find_archives(places)
        if not found:
            raise InvalidFile(
                f"no pair NAME_TRAIN and NAME_TEST with the ending .ts or .arff in {', '.join(map(str, paths))}; "
                "give a zip archive, folder or files of the UEA/UCR archive."
            )
        return {PREFIX + name: import_source(archive_recipe(name).source, files) for name, files in found.items()}


def find_archives(places: Sequence[Path]) -> dict[str, list[Path]]:
    """The sets of which both parts are there, each with its files."""
    found: dict[str, dict[str, Path]] = {}
    for file in sorted(file for place in places for file in ([place] if place.is_file() else place.rglob("*"))):
        match = _FILE.fullmatch(file.name)
        if match is not None:
            files = found.setdefault(match[1], {})
            kind = f"{match[2]}.{match[3]}".lower()
            if kind in files:
                raise InvalidFile(
                    f"{file.name} stands twice, {files[kind]} and {file}; give the folder of one of them."
                )
            files[kind] = file
    whole = {
        name: list(files.values())
        for name, files in found.items()
        if any({f"train{ending}", f"test{ending}"} <= set(files) for ending in (".ts", ".arff"))
    }
    single = {name for name in whole if (match := _DIMENSION.fullmatch(name)) is not None and match[1] in whole}
    return {name: files for name, files in whole.items() if name not in single}


def imported_archives() -> list[str]:
    """Names of the sets of the archive that are imported."""
    folders = sorted((home() / "imported").glob(f"{PREFIX}*-v*"))
    return [folder.name.rpartition("-v")[0] for folder in folders]
