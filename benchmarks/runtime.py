"""What the runtime takes: `python -m benchmarks.runtime WHEEL MODEL` installs the wheel beside NumPy alone and measures a cold start.

`make runtime-wheel` makes the wheel; MODEL is a folder that was saved by any served model. Times are the best of several processes.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np

CODE = """
import sys, time
begin = time.perf_counter()
import numpy
between = time.perf_counter()
import denots.runtime
imported = time.perf_counter()
denots.runtime.load(sys.argv[1])
loaded = time.perf_counter()
assert not {"torch", "sklearn", "pandas", "scipy", "lightgbm", "safetensors"} & set(sys.modules)
print(between - begin, imported - between, loaded - imported, loaded - begin, time.process_time())
"""
PARTS = ("import numpy", "import denots.runtime", "load the model", "cold start", "processor time with that of Python")


def environment(folder: Path, wheel: Path) -> tuple[Path, Path]:
    """The Python and the packages of an environment with the wheel, and with NumPy lent by this one."""
    venv.create(folder)
    python = folder / "bin" / "python"
    offline = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), "install", *offline, str(wheel)], check=True)
    (site,) = (folder / "lib").glob("python*/site-packages")
    here = Path(np.__file__).parents[1]
    for name in ("numpy", "numpy.libs"):
        if (here / name).exists():
            (site / name).symlink_to(here / name)
    return python, site


def size(folder: Path) -> float:
    """Megabytes of all files, caches left out."""
    files = [file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    return sum(file.stat().st_size for file in files) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--times", type=int, default=20)
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp())
    try:
        python, site = environment(place / "env", given.wheel)
        command = [str(python), "-c", CODE, str(given.model.resolve())]
        runs = []
        for _ in range(given.times + 1):  # the first one compiles
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            runs.append([float(word) for word in done.stdout.split()])
        best = np.min(np.array(runs[1:]), axis=0)
        found = {name: round(1000 * float(seconds)) for name, seconds in zip(PARTS, best, strict=True)}
        sizes = {
            "wheel": given.wheel.stat().st_size / 1e6,
            "installed": size(site / "denots"),
            "NumPy": size(site / "numpy"),
        }
        print(json.dumps({"milliseconds": found, "megabytes": {name: round(it, 2) for name, it in sizes.items()}}))  # noqa: T201
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
