"""For all tests: shapes that signatures promise are enforced; fixed seeds; a home of its own for data sets."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from jaxtyping import install_import_hook

install_import_hook("denots", "shape_checks.checked")  # before any test module imports the package


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENOTS_HOME", str(tmp_path / "home"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What tests told by `record_property("told", ...)`, such as counts of checks of other libraries."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.getreports(outcome)]
    told = [words for report in reports for name, words in report.user_properties if name == "told"]
    if told:
        terminalreporter.section("suites of other libraries")
        for words in sorted(told):
            terminalreporter.write_line(words)


@pytest.fixture
def double() -> Iterator[None]:
    """Double precision as torch's default, for comparisons to many digits."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, in which pages are looked at."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium here; install one or name it in CHROMIUM")
    with sync_api.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()
