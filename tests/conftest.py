"""For all tests: shapes that signatures promise are enforced; fixed seeds; a home of its own for data sets."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from jaxtyping import install_import_hook

CHECKED = ("rowwise", "metrics", "data", "paths", "fields", "ode", "backbones", "tasks", "training", "systems")
# Before any test module imports the package; the layers after these have no arrays in their signatures.
install_import_hook([f"denots.{layer}" for layer in CHECKED], "shape_checks.checked")


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENOTS_HOME", str(tmp_path / "home"))


@pytest.fixture
def double() -> Iterator[None]:
    """Double precision as torch's default, for comparisons to many digits."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
