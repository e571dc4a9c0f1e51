"""What a command reads is not written over."""

from pathlib import Path

from denots.errors import InvalidOption


def spare(option: str, file: Path | None, *read: Path | None, model: Path | None = None) -> None:
    """Refuse an output that is a table which is read, or lies in the folder of a model."""
    if file is None:
        return
    place = file.resolve()
    if any(place == table.resolve() for table in read if table is not None):
        raise InvalidOption(f"{option} {file} is the table that is read; give another name, or its data would be lost.")
    if model is not None and model.resolve() in place.parents:
        raise InvalidOption(f"{option} {file} lies in the folder of the model, which is its own; choose another place.")
