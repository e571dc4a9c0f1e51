"""Take published data into the library folder, and make data sets from them."""

import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from denots.data.series import SeriesSet
from denots.datasets.bundle import Bundle
from denots.datasets.dataset import DerivedRecipe, Recipe, Source, SplitSizes, check_available
from denots.datasets.library import home
from denots.errors import InvalidFile, InvalidFolder, InvalidOption, NotImported
from denots.progress import track
from denots.protocol import Protocol

T = TypeVar("T")


def import_source(source: Source, paths: Sequence[Path]) -> Path:
    """Read the data from files, folders or zip archives and keep them; an earlier import is replaced."""
    absent = [str(path) for path in paths if not path.exists()]
    if absent:
        raise InvalidFile(f"{', '.join(absent)} does not exist; give the files or folders that hold {source.title}.")
    folder = import_folder(source)
    with unpacked(paths, source.endings) as places:
        parts = source.read(places)
        facts = {"name": source.name, "usable": source.usable(parts), "target": _target_kind(parts)}
        _bundle(source).write(folder, facts, lambda: parts)
    return folder


def _target_kind(parts: Mapping[str, SeriesSet]) -> str:
    kinds = {series.target.dtype.kind for series in parts.values() if series.target is not None}
    return "numbers" if "f" in kinds else "classes"


def import_folder(source: Source) -> Path:
    return home() / "imported" / f"{source.name}-v{source.version}"


def open_import(source: Source) -> dict[str, SeriesSet]:
    """The imported parts as they were published; NotImported says how to get them."""
    return _opened(source, _bundle(source).open)


def _opened(source: Source, read: Callable[[Path], T]) -> T:
    folder = import_folder(source)
    if not folder.exists():
        raise NotImported(
            f"{source.name!r} is real data and not imported yet. Get {source.title} from {source.page} and run "
            f"`denots data import {source.name} PATH` with the folder, files or zip archive, "
            f"or, with internet, `denots data download {source.name}`."
        )
    try:
        return read(folder)
    except InvalidFolder as error:
        raise InvalidFolder(f"{error} Run `denots data import {source.name} PATH` again.") from error


def bind(recipe: DerivedRecipe, protocol: Protocol) -> Recipe:
    """The recipe for the data that are imported now; its variant ties cached folders to them and to the protocol."""
    source, derive = recipe.source, recipe.derive[protocol]
    manifest = import_manifest(source)
    sizes = recipe.split_sizes(manifest["usable"])

    def generate(seed: int, wanted: SplitSizes) -> dict[str, SeriesSet]:
        for part, n, most in zip(SplitSizes._fields, wanted, sizes, strict=True):
            check_available(part, n, most)
        splits = derive(open_import(source), seed)
        return {part: splits[part].select(range(n)) for part, n in wanted._asdict().items()}

    variant: dict[str, str] = {"protocol": protocol} if len(set(recipe.derive.values())) > 1 else {}
    variant["source"] = "".join(manifest["content_sha256"][part][:6] for part in source.parts)
    return Recipe(recipe.name, recipe.task, recipe.metric, recipe.description, sizes, generate, recipe.version, variant)


def import_manifest(source: Source) -> dict[str, Any]:
    """What is known of an import without reading it."""
    return _opened(source, lambda folder: _read_manifest(source, folder))


def _read_manifest(source: Source, folder: Path) -> dict[str, Any]:
    manifest = _bundle(source).read_manifest(folder)
    usable = manifest.get("usable")
    if not isinstance(usable, dict) or not all(isinstance(usable.get(part), int) for part in source.parts):
        raise InvalidFolder(f"{folder} does not say how many series are usable; it was changed.")
    return manifest


def imported(recipe: Recipe | DerivedRecipe) -> DerivedRecipe:
    """The recipe, if it is one for published data."""
    if isinstance(recipe, Recipe):
        raise InvalidOption(f"{recipe.name!r} is drawn from a seed; there is nothing to import, download or check.")
    return recipe


def _bundle(source: Source) -> Bundle:
    return Bundle("denots-import", 1, "import.json", source.parts)


@contextmanager
def unpacked(paths: Sequence[Path], endings: frozenset[str]) -> Iterator[list[Path]]:
    """The same places with zip archives replaced by folders, which vanish at the end."""
    home().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unpacked-", dir=home()) as draft:
        places = []
        for number, path in enumerate(paths):
            packed = path.suffix.lower() == ".zip" or (path.suffix not in endings and zipfile.is_zipfile(path))
            places.append(_unpack(path, Path(draft) / str(number), endings) if packed and path.is_file() else path)
        yield places


def _unpack(archive: Path, folder: Path, endings: frozenset[str]) -> Path:
    """Extract the data files of an archive into one flat folder, whatever paths it names."""
    folder.mkdir()
    try:
        with zipfile.ZipFile(archive) as content:
            members = [entry for entry in content.infolist() if PurePosixPath(entry.filename).suffix in endings]
            for entry in track(members, f"unpacking {archive.name}"):
                target = folder / PurePosixPath(entry.filename).name
                if target.exists():
                    raise InvalidFile(f"{archive} holds two files {target.name}; unpack it and give the right folder.")
                with content.open(entry) as packed, target.open("wb") as plain:
                    shutil.copyfileobj(packed, plain)
    except (zipfile.BadZipFile, EOFError) as error:
        raise InvalidFile(f"{archive} is damaged ({error}); download or copy it again.") from error
    return folder
