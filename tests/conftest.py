"""Fixtures for all tests: fixed seeds, and a home of its own for data sets."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch


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
