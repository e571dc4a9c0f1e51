"""What made a record: which code, with which solver, for what."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import denots
from denots import kernels
from denots.errors import InvalidOption

Profile = Literal["smoke", "quick", "paper"]
UNKNOWN = "unknown"
# What the package is built from, beside its own folder.
BUILT_FROM = ("cpp", "CMakeLists.txt", "pyproject.toml")


@dataclass(frozen=True)
class Origin:
    """What a result may depend on besides its spec and the libraries; "unknown" in records of earlier versions.

    code: commit of the checkout, with `-dirty` if files of the package differ from it; else the version.
    target: instruction set of the fused kernels.
    backend: what solved the test series: native, reference, both with a comma, or none.
    fallback: why the reference loop ran where the fused solver was wanted.
    profile: that of the experiments for which it was made; None if for none.
    """

    code: str = UNKNOWN
    target: str = UNKNOWN
    backend: str = UNKNOWN
    fallback: str | None = None
    profile: Profile | None = None

    def __post_init__(self) -> None:
        if self.profile is not None and self.profile not in get_args(Profile):
            raise InvalidOption(f"profile is one of {', '.join(get_args(Profile))}; got {self.profile!r}.")


def origin_here(solvers: Mapping[str, str | None], profile: Profile | None) -> Origin:
    """The origin of what is computed now; `solvers` are those used, with the reasons for a fallback."""
    reasons = [reason for reason in solvers.values() if reason]
    return Origin(
        code=code_version(),
        target=kernels.target(),
        backend=", ".join(sorted(solvers)) or "none",
        fallback="; ".join(reasons) or None,
        profile=profile,
    )


@cache
def code_version(package: Path = Path(denots.__file__).parent) -> str:
    """The commit of the package's checkout, `-dirty` if its files were changed; its version where there is none."""
    released = f"denots {denots.__version__}"
    if shutil.which("git") is None or not _git(package, "ls-files", "__init__.py"):
        return released  # an installed package may lie in the folder of a project that has commits of its own
    commit = _git(package, "rev-parse", "HEAD")
    root = Path(_git(package, "rev-parse", "--show-toplevel"))
    built_from = [str(root / part) for part in BUILT_FROM if (root / part).exists()]
    changed = _git(package, "status", "--porcelain", "--", str(package), *built_from)
    return f"{commit}{'-dirty' if changed else ''}"


def _git(folder: Path, *arguments: str) -> str:
    """The answer of git; nothing where it has none."""
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
