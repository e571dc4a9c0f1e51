"""What the wheel of denots-runtime holds imports nothing that it leaves out; the wheel itself is built by slow tests."""

import ast
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import denots

SOURCE = Path(denots.__file__).parent
PROJECT = Path(__file__).parents[2] / "packaging" / "runtime" / "pyproject.toml"


def test_modules_of_the_wheel_import_each_other_alone_unless_when_called() -> None:
    left_out = tomllib.loads(PROJECT.read_text())["tool"]["scikit-build"]["wheel"]["exclude"]
    files = {"denots/" + file.relative_to(SOURCE).as_posix() for file in SOURCE.rglob("*.py")}
    held = {file for file in files if not any(fnmatch(file, pattern) for pattern in left_out)}
    gone = {name_of(file) for file in files - held}
    assert {"denots.runtime.load", "denots.data.series"} < {name_of(file) for file in held}
    assert {(file, name) for file in held for name in imported(SOURCE.parent / file) if name in gone} == set()


def name_of(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imported(file: Path) -> set[str]:
    """Modules that are imported when this one is; those that only a type checker or a call needs are not."""
    found = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found
