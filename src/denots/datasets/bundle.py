"""A folder of several SeriesSets with one manifest that names the content hash of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from denots.data.series import SeriesSet
from denots.data.store import open_series_set, save_series_set, stored_hash
from denots.errors import InvalidFolder
from denots.folders import holds_only, package_version, read_manifest, write_manifest, written_whole


@dataclass(frozen=True, slots=True)
class Bundle:
    """A kind of folder: what its manifest is called and says, and which parts it holds."""

    format: str
    version: int
    manifest: str
    parts: tuple[str, ...]

    def write(
        self,
        folder: Path,
        facts: Mapping[str, Any],
        make: Callable[[], Mapping[str, SeriesSet]],
        existing: Literal["replace", "keep"] = "replace",
    ) -> None:
        """Make the parts and write them; the folder appears whole or not at all."""
        with written_whole(folder, replaceable=self._is_one, existing=existing) as draft:
            parts = make()
            for part in self.parts:
                save_series_set(parts[part], draft / part)
            head = {"format": self.format, "format_version": self.version, "denots_version": package_version()}
            hashes = {part: stored_hash(draft / part) for part in self.parts}
            write_manifest(draft / self.manifest, {**head, **facts, "content_sha256": hashes})

    def read_manifest(self, folder: Path) -> dict[str, Any]:
        """The manifest, once it names a hash for each part."""
        manifest = read_manifest(folder / self.manifest, self.format, self.version)
        hashes = manifest.get("content_sha256")
        if not isinstance(hashes, dict) or set(hashes) != set(self.parts):
            raise InvalidFolder(
                f"{folder / self.manifest} does not name {', '.join(self.parts)} with hashes; it was changed."
            )
        return manifest

    def open(self, folder: Path) -> dict[str, SeriesSet]:
        """Read all parts; raise InvalidFolder when any of them changed or came from elsewhere."""
        hashes = self.read_manifest(folder)["content_sha256"]
        for part in self.parts:
            if stored_hash(folder / part) != hashes[part]:
                raise InvalidFolder(f"{folder / part} is not the split that {folder / self.manifest} names.")
        return {part: open_series_set(folder / part) for part in self.parts}

    def _is_one(self, folder: Path) -> bool:
        if not holds_only(folder, {self.manifest, *self.parts}):
            return False
        try:
            read_manifest(folder / self.manifest, self.format, self.version)
        except InvalidFolder:
            return False
        return True
