"""Read a numpy archive that packs a published data set."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from denots.errors import InvalidFile


def read_packed(file: Path, names: set[str]) -> dict[str, npt.NDArray[Any]]:
    """The named arrays of an `.npz` file; nothing in it is executed."""
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            missing = names - set(archive.files)
            if missing:
                raise InvalidFile(
                    f"{file} lacks {', '.join(sorted(missing))}; it is another kind of file than expected."
                )
            return {name: archive[name] for name in names}
    except (OSError, EOFError, zipfile.BadZipFile) as error:
        raise InvalidFile(f"{file} is damaged ({error}); copy it again.") from error
    except ValueError as error:
        if isinstance(error, InvalidFile):
            raise
        raise InvalidFile(f"{file} holds something else than plain arrays ({error}); do not trust it.") from error
