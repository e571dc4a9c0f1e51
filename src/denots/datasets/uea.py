"""UWaveGestureLibrary and InsectSound of the UEA and UCR archives, with time steps removed at random.

The archive's test part is the test split; its training part is shuffled and cut 80 / 20 into
training and validation. From every series floor(0.3 L) time steps are drawn and all channels
are missing there: without replacement, or (protocol "paper") with replacement, as the published
code did, so that only 25.8 to 25.9 % are missing. Removed steps stay as rows without values.
Times run from 0 to 1. The published code also standardised each channel before; backbones do
so themselves, which undoes any earlier affine change, so it is left out here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from denots.data.arff_file import read_arff
from denots.data.series import SeriesSet
from denots.data.ts_file import read_ts
from denots.datasets.dataset import (
    DerivedRecipe,
    Parts,
    Source,
    SplitSizes,
    series_ids,
    share_limits,
    stream,
)
from denots.datasets.packed import read_packed
from denots.errors import InvalidFile
from denots.progress import byte_bar

PARTS = ("train", "test")
TRAIN_SHARE = 0.8
REMOVED_SHARE = 0.3
READERS = {".ts": read_ts, ".arff": read_arff}


def read_archive(archive: str, places: Sequence[Path]) -> dict[str, SeriesSet]:
    """The official training and test part, from `.ts`, `.arff` or packed `.npz` files, in this order."""
    for suffix, read in READERS.items():
        files = [_find(f"{archive}_{part}{suffix}", f"_{part}{suffix}", places) for part in PARTS]
        if all(files):
            return {part: _named(part, _watched(read, file)) for part, file in zip(PARTS, files, strict=True) if file}
    packed = _find(f"{archive}.npz", ".npz", places)
    if packed is not None:
        return {part: _named(part, series) for part, series in read_packed_archive(packed).items()}
    raise InvalidFile(
        f"no {archive}_TRAIN and {archive}_TEST with the ending .ts or .arff, and no {archive}.npz, "
        f"in {', '.join(map(str, places))}; give the unpacked folder, both files, or the zip archive."
    )


def _watched(read: Callable[[Path, Callable[[int], object]], SeriesSet], file: Path) -> SeriesSet:
    with byte_bar(file.name, file.stat().st_size, 0) as advance:
        return read(file, advance)


def read_packed_archive(file: Path) -> dict[str, SeriesSet]:
    """A numpy archive with X_train, X_test [n, L, C], y_train, y_test [n] that count in `classes`."""
    content = read_packed(file, {"X_train", "y_train", "X_test", "y_test", "classes"})
    classes, parts = content["classes"].astype(str), {}
    for part in PARTS:
        values, label = content[f"X_{part}"], content[f"y_{part}"]
        if values.ndim != 3 or label.shape != values.shape[:1]:
            raise InvalidFile(
                f"{file}: X_{part} and y_{part} have shapes {values.shape} and {label.shape}; expected (n, L, C) and (n,)."
            )
        if label.dtype.kind not in "iu" or label.min() < 0 or label.max() >= len(classes):
            raise InvalidFile(f"{file}: y_{part} must hold whole numbers from 0 to {len(classes) - 1}.")
        parts[part] = SeriesSet.from_numpy(values.transpose(0, 2, 1), target=classes[label])
    return parts


def _find(name: str, ending: str, places: Sequence[Path]) -> Path | None:
    """A file given by itself needs the ending only; in a folder it must have the archive's name."""
    for place in places:
        if place.is_file() and place.name.lower().endswith(ending):
            return place
    for place in places:
        found = sorted(file for file in place.rglob("*") if file.name.lower() == name.lower()) if place.is_dir() else []
        if len(found) > 1:
            raise InvalidFile(f"{name} stands twice, {found[0]} and {found[1]}; give the folder of one of them.")
        if found:
            return found[0]
    return None


def _named(part: str, series: SeriesSet) -> SeriesSet:
    return replace(series, values=series.values.astype(np.float32), ids=series_ids(part, range(len(series))))


def split_sizes(usable: Mapping[str, int]) -> SplitSizes:
    (train,) = share_limits(usable["train"], TRAIN_SHARE)
    return SplitSizes(train, usable["train"] - train, usable["test"])


def derive(name: str, replacement: bool, parts: Parts, seed: int) -> dict[str, SeriesSet]:
    """Remove time steps from every series of the archive, then shuffle and cut."""
    longest = max(int(parts[part].lengths.max()) for part in PARTS)
    gappy = {
        part: _with_gaps(_on_unit_time(parts[part], longest), stream(seed, name, part, "gaps"), replacement)
        for part in PARTS
    }
    order = {part: stream(seed, name, part, "order").permutation(len(parts[part])) for part in PARTS}
    (cut,) = share_limits(len(parts["train"]), TRAIN_SHARE)
    return {
        "train": gappy["train"].select(order["train"][:cut]),
        "val": gappy["train"].select(order["train"][cut:]),
        "test": gappy["test"].select(order["test"]),
    }


def _on_unit_time(series: SeriesSet, longest: int) -> SeriesSet:
    """Step k of a series at k / (longest - 1); the archive's own time stamps, where it has any, are not used."""
    step = np.arange(len(series.times)) - np.repeat(series.offsets[:-1], series.lengths)
    return replace(series, times=np.linspace(0, 1, longest)[step], start=np.zeros(len(series)))


def _with_gaps(series: SeriesSet, rng: np.random.Generator, replacement: bool) -> SeriesSet:
    """Series are visited in the archive's order, so that gaps do not depend on split or size."""
    values = series.values.copy()
    for begin, length in zip(series.offsets.tolist(), series.lengths.tolist(), strict=False):
        values[begin + rng.choice(length, int(REMOVED_SHARE * length), replace=replacement)] = np.nan
    return replace(series, values=values)


def archive_source(name: str, archive: str, read: Callable[[Sequence[Path]], dict[str, SeriesSet]]) -> Source:
    """A set of the archive, to be kept under a name of ours."""
    return Source(
        name=name,
        title=f"{archive} of the UEA/UCR archive",
        page=f"https://www.timeseriesclassification.com/description.php?Dataset={archive}",
        url=f"https://www.timeseriesclassification.com/aeon-toolkit/{archive}.zip",
        parts=PARTS,
        read=read,
        usable=lambda parts: {part: len(series) for part, series in parts.items()},
    )


UWGL = DerivedRecipe(
    name="uwgl",
    task="classification",
    metric="accuracy",
    description="Which of 8 gestures, from 3 accelerations with gaps",
    sizes=SplitSizes(96, 24, 320),
    source=archive_source("uwgl", "UWaveGestureLibrary", partial(read_archive, "UWaveGestureLibrary")),
    derive={"fair": partial(derive, "uwgl", False), "paper": partial(derive, "uwgl", True)},
    split_sizes=split_sizes,
)

INSECT_SOUND = DerivedRecipe(
    name="insect-sound",
    task="classification",
    metric="accuracy",
    description="Which of 10 insects, from the sound of its wings with gaps",
    sizes=SplitSizes(20000, 5000, 25000),
    source=archive_source("insect-sound", "InsectSound", partial(read_archive, "InsectSound")),
    derive={"fair": partial(derive, "insect-sound", False), "paper": partial(derive, "insect-sound", True)},
    split_sizes=split_sizes,
)
