"""The shape of the code: layers import leftwards only, and importing the package is cheap."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import denots
from denots.tasks import TASKS

SOURCE = Path(denots.__file__).parent
LAYERS = (
    (
        "errors",
        "shapes",
        "registry",
        "rowwise",
        "_native",
        "kernels",
        "folders",
        "metrics",
        "options",
        "protocol",
        "progress",
        "processors",
        "tableaus",
        "tensors",
    ),
    ("cluster",),
    ("pages",),
    ("data",),
    ("inference",),
    ("datasets",),
    ("paths",),
    ("fields",),
    ("ode",),
    ("heads",),
    ("features",),
    ("backbones",),
    ("tasks",),
    ("training",),
    ("systems",),
    ("theory",),
    ("stream",),
    ("runtime",),
    ("estimators",),
    ("adapters",),
    ("tuning",),
    ("explain",),
    ("diagnostics",),
    ("card",),
    ("runs",),
    ("competition",),
    ("experiments",),
    ("server",),
    ("cli",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


def layer(module: str) -> str:
    return module.split(".")[1]


def imported(file: Path) -> set[str]:
    """Every denots module that a file names in an import, wherever the import stands."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "denots":
            parts = [node.module] if "." in node.module else [f"denots.{alias.name}" for alias in node.names]
            found.update(part for part in parts if not part.endswith("__version__"))
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names if alias.name.startswith("denots."))
    return found


@pytest.mark.parametrize("file", sorted(SOURCE.rglob("*.py")), ids=lambda file: str(file.relative_to(SOURCE)))
def test_a_layer_imports_only_from_layers_before_it(file: Path) -> None:
    own = file.relative_to(SOURCE).with_suffix("").parts[0]
    if own == "__init__":
        return
    for module in imported(file):
        assert RANK[layer(module)] <= RANK[own], f"{own} must not import {module}"


def test_every_module_has_a_place_in_the_order() -> None:
    modules = {path.stem if path.suffix == ".py" else path.name for path in SOURCE.iterdir()}
    assert modules - {"__init__", "__pycache__", "py.typed", "_native.pyi"} - set(RANK) == set()


def test_importing_the_package_is_quick_and_light() -> None:
    code = (
        "import sys, time; start = time.perf_counter(); import denots; seconds = time.perf_counter() - start;"
        "heavy = {'pandas', 'matplotlib', 'sklearn', 'torch'} & set(sys.modules);"
        "assert not heavy, heavy; assert seconds < 2, seconds"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_core_does_without_training_libraries() -> None:
    code = (
        "import sys, denots; denots.SeriesSet, denots.solve, denots.fields.AntiFeedbackGRU, denots.paths.NaturalCubic;"
        "heavy = {'pandas', 'matplotlib', 'sklearn'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_loading_a_model_does_without_training_libraries() -> None:
    code = (
        "import sys, denots; denots.load, denots.DeNOTSRegressor, denots.DeNOTSForecaster;"
        "heavy = {'matplotlib', 'torch._dynamo'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_exists() -> None:
    for name in denots.__all__:
        assert getattr(denots, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        denots.nothing  # noqa: B018


def test_nobody_but_the_tasks_asks_for_the_name_of_one() -> None:
    asking = []
    for file in sorted(SOURCE.rglob("*.py")):
        if file.relative_to(SOURCE).parts[0] == "tasks":
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            compared = isinstance(node, ast.Compare | ast.MatchValue)
            names = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)} if compared else set()
            asking += [f"{file.relative_to(SOURCE)}:{node.lineno} {name}" for name in names & set(TASKS)]
    assert not asking
