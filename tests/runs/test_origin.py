"""A record says which code made it, judged by git itself, and which solver ran."""

import subprocess
from pathlib import Path

import pytest
import torch

import denots
from denots.errors import SlowWarning
from denots.fields import FIELDS
from denots.fields.field import AffineInputField
from denots.runs.origin import code_version
from denots.runs.published import published_run
from denots.runs.run import run

TINY = {"max_epochs": 1, "batches_per_epoch": 1, "batch_size": 8}


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(
        ["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True
    ).stdout.strip()


def checkout(folder: Path) -> Path:
    package = folder / "src" / "denots"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (folder / "notes.md").write_text("")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return package


def test_the_code_is_the_commit_and_dirty_once_a_file_of_the_package_changes(tmp_path: Path) -> None:
    package = checkout(tmp_path)
    commit = git(tmp_path, "rev-parse", "HEAD")
    (tmp_path / "notes.md").write_text("changed")
    assert code_version(package) == commit
    code_version.cache_clear()
    (package / "new.py").write_text("")
    assert code_version(package) == f"{commit}-dirty"


def test_a_package_that_is_only_installed_inside_a_checkout_has_its_version(tmp_path: Path) -> None:
    checkout(tmp_path)
    installed = tmp_path / ".venv" / "denots"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("")
    assert code_version(installed) == f"denots {denots.__version__}"


def test_a_record_names_the_solver_and_why_the_reference_ran() -> None:
    fused = run(published_run("bump", "denots", size=40, train=TINY), profile="smoke").origin
    assert (fused.backend, fused.fallback, fused.profile) == ("native", None, "smoke")
    assert fused.target == denots.kernels.target()
    assert fused.code == code_version()
    plain = run(published_run("bump", "denots", size=40, train=TINY, options={"backend": "reference"})).origin
    assert (plain.backend, plain.fallback, plain.profile) == ("reference", None, None)
    assert run(published_run("bump", "gru", size=40, train=TINY)).origin.backend == "none"


class Damped(AffineInputField):
    """A field without a kernel."""

    def __init__(self, input_size: int, state_size: int) -> None:
        super().__init__()
        self.input_size, self.state_size = input_size, state_size
        self.add_linear("ih", state_size, input_size)

    def slope(self, u: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        return u - h


def test_a_field_without_a_kernel_leaves_its_reason_in_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FIELDS, "damped", Damped)
    spec = published_run("bump", "denots", size=40, train=TINY, options={"field": "damped", "state_size": 4})
    with pytest.warns(SlowWarning):
        origin = run(spec).origin
    assert origin.backend == "reference"
    assert origin.fallback is not None
    assert "Damped" in origin.fallback
