"""What is shipped: one version everywhere, and a wheel that runs where nothing can be compiled."""

import subprocess
import sys
import tomllib
import venv
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import denots

ROOT = Path(__file__).parents[1]
# Modules of these names are not found, as if they were not installed.
WITHOUT = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in {names} else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Without, sys.meta_path)
"""


def test_the_version_is_the_same_wherever_it_is_told() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert denots.__version__ == project["version"] == citation["version"]


def needed() -> set[str]:
    """The distributions that `pip install denots` brings."""
    found: set[str] = set()
    queue = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    while queue:
        requirement = Requirement(queue.pop())
        name = canonicalize_name(requirement.name)
        if name not in found and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            found.add(name)
            queue += requires(name) or []
    return found


def test_the_main_job_is_done_without_any_extra_and_figures_say_which_they_need(tmp_path: Path) -> None:
    there = needed()
    extra = sorted(
        module
        for module, owners in packages_distributions().items()
        if module.isidentifier() and not {canonicalize_name(name) for name in owners} & (there | {"denots"})
    )
    assert {"matplotlib", "polars", "openpyxl", "aeon", "sktime"} <= set(extra)
    rng = np.random.default_rng(0)
    ids, times = np.repeat(np.arange(40), 12), np.tile(np.arange(12.0), 40)
    table = {
        "id": ids,
        "time": times,
        "x": np.sin(times * (1 + ids % 2)) + 0.1 * rng.standard_normal(480),
        "kind": ids % 2,
    }
    pd.DataFrame(table).to_csv(tmp_path / "table.csv", index=False)
    code = WITHOUT.format(names=extra) + "from denots.cli import main; main()"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True)

    columns = ("--id", "id", "--time", "time", "--target", "kind")
    for words in (
        ("fit", "table.csv", *columns, "--system", "fast", "--out", "model"),
        ("predict", "model", "table.csv", "-o", "predictions.csv"),
        ("evaluate", "model", "table.csv"),
    ):
        done = run(*words)
        assert done.returncode == 0, done.stderr
    assert (pd.read_csv(tmp_path / "predictions.csv")["prediction"] == np.arange(40) % 2).mean() > 0.9
    refused = run("report")
    assert refused.returncode == 1
    assert "pip install 'denots[paper]'" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    dist = tmp_path_factory.mktemp("dist")
    subprocess.run(["make", "--old-file=setup", "wheel", f"DIST={dist}"], cwd=ROOT, check=True)
    (built,) = dist.glob("*.whl")
    return built


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="auditwheel repairs wheels for Linux only")
def test_the_wheel_fits_many_linuxes_and_holds_the_package_alone(wheel: Path) -> None:
    assert "manylinux" in wheel.name
    files = ZipFile(wheel).namelist()
    assert {file.split("/")[0] for file in files} == {"denots", f"denots-{denots.__version__}.dist-info"}
    assert any(file.startswith("denots/_native.") and file.endswith(".so") for file in files)
    assert {"denots/py.typed", f"denots-{denots.__version__}.dist-info/licenses/LICENSE"} <= set(files)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="auditwheel repairs wheels for Linux only")
def test_the_wheel_runs_the_first_example_where_there_is_no_compiler(wheel: Path, tmp_path: Path) -> None:
    """Dependencies are lent by this environment; the package itself comes from the wheel."""
    venv.create(tmp_path / "fresh")
    (site,) = (tmp_path / "fresh" / "lib").glob("python*/site-packages")
    python = str(tmp_path / "fresh" / "bin" / "python")
    offline = ["--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", *offline, str(wheel)], check=True)
    (site / "lent.pth").write_text(str(Path(torch.__file__).parents[1]))
    code = (
        "import runpy, shutil, denots, denots._native as native;"
        "assert not any(map(shutil.which, ('cc', 'c++', 'gcc', 'g++', 'clang', 'cmake', 'ninja')));"
        f"assert denots.__file__.startswith({str(site)!r}) and native.__file__.startswith({str(site)!r});"
        f"runpy.run_path({str(ROOT / 'examples' / 'first.py')!r}, run_name='__main__')"
    )
    path = {"PATH": str(tmp_path / "fresh" / "bin")}
    done = subprocess.run([python, "-c", code], cwd=tmp_path, env=path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "R2 on new series:" in done.stdout
    assert (tmp_path / "wave-model" / "model.json").exists()
