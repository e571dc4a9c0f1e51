"""The wheel of denots-runtime runs in an environment that has NumPy and nothing else."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from benchmarks.runtime import environment, size

import denots
from denots import RowPredictor, SeriesClassifier, SeriesSet

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="auditwheel repairs wheels for Linux only"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    dist = tmp_path_factory.mktemp("dist")
    subprocess.run(["make", "--old-file=setup", "runtime-wheel", f"DIST={dist}"], cwd=ROOT, check=True)
    (built,) = dist.glob("*.whl")
    return built


def test_the_wheel_holds_what_predicts_and_nothing_that_learns(wheel: Path) -> None:
    assert "manylinux" in wheel.name
    with ZipFile(wheel) as content:
        files = content.namelist()
        (metadata,) = (content.read(file).decode() for file in files if file.endswith("METADATA"))
    rooms = {file.split("/")[1] for file in files if file.startswith("denots/") and file.count("/") > 1}
    assert rooms == {"data", "inference", "pages", "runtime", "stream"}
    assert f"Name: denots-runtime\nVersion: {denots.__version__}" in metadata
    assert [line for line in metadata.splitlines() if line.startswith("Requires-Dist")] == ["Requires-Dist: numpy>=2.0"]
    assert any(file.endswith("licenses/LICENSE") for file in files)


def waves(n: int) -> SeriesSet:
    rng = np.random.default_rng(n)
    times = [np.sort(rng.uniform(0, 9, rng.integers(3, 12))) for _ in range(n)]
    speeds = rng.integers(1, 4, n)
    values = [s + np.sin(s * t) for s, t in zip(speeds, times, strict=True)]
    return SeriesSet.from_arrays(times, values, target=speeds, row_target=[np.sin(t) > 0 for t in times])


def test_installed_alone_it_has_the_same_bits_and_is_small(wheel: Path, tmp_path: Path) -> None:
    train, asked = waves(60), waves(25)
    asked.save(tmp_path / "series")
    models = {
        "fast": SeriesClassifier("fast", random_state=0).fit(train),
        "denots": SeriesClassifier("denots", options={"max_epochs": 2, "batches_per_epoch": 2}, random_state=0).fit(
            train
        ),
        "rows": RowPredictor("running-trees", options={"rounds": 9}, random_state=0).fit(train),
        "kept": RowPredictor("running-denots", options={"max_epochs": 2, "batches_per_epoch": 2}, random_state=0).fit(
            train
        ),
    }
    for name, model in models.items():
        model.save(tmp_path / name)
    python, site = environment(tmp_path / "env", wheel)
    code = (
        "import importlib, pkgutil, sys, numpy as np, denots.runtime;"
        "from denots import SeriesSet;"
        "[importlib.import_module(it.name) for it in pkgutil.walk_packages(denots.__path__, 'denots.')];"
        "X, place = SeriesSet.open(sys.argv[1] + '/series'), sys.argv[1] + '/';"
        "told = {name: denots.runtime.load(place + name).predict_proba(X) for name in ('fast', 'denots', 'rows', 'kept')};"
        "np.savez(place + 'told', **{name: np.concatenate([*it]) if isinstance(it, list) else it for name, it in told.items()});"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([str(python), "-c", code, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = np.load(tmp_path / "told.npz")
    for name, model in models.items():
        wanted = model.predict_proba(asked)
        np.testing.assert_array_equal(told[name], np.concatenate(wanted) if isinstance(wanted, list) else wanted)
    assert size(site / "denots") < 40
    refused = subprocess.run([str(python), "-c", "import denots; denots.load"], capture_output=True, text=True)
    assert "denots-runtime predicts with saved models" in refused.stderr
