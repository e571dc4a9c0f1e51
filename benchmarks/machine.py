"""What was measured on: processor, versions, commit, and its multiply-add peak."""

import os
import platform
import re
import subprocess
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.measure import wait_for_quiet
from denots import kernels

HERE = Path(__file__).parent
LIBRARIES = ("denots", "torch", "numpy", "torchode", "torchdiffeq", "torchcde", "diffrax", "jax")
TARGET_FLAGS = {"baseline": ["-mavx2", "-mfma"], "avx2": ["-mavx2", "-mfma"], "avx512": ["-mavx512f", "-mfma"]}


def describe() -> dict[str, Any]:
    """The machine as JSON."""
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "kernel_target": kernels.target(),
        "versions": _versions(),
        "commit": commit(),
    }


def cpu_name() -> str:
    """The processor as it calls itself, with family and model where the name alone says little."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor() or platform.machine()
    fields = dict(re.findall(r"^([\w ]+?)\s*: (.*)$", info.read_text().split("\n\n")[0], re.MULTILINE))
    return f"{fields.get('model name', platform.machine())} (family {fields.get('cpu family')}, model {fields.get('model')})"


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def fma_peak(patience: float) -> dict[str, float]:
    """Gigaflops of independent float32 multiply-adds, by number of threads; compiled here and now."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "fma_peak"
        source = HERE / "fma_peak.cc"
        flags = TARGET_FLAGS[kernels.target()]
        subprocess.run(["g++", "-O3", "-std=c++17", "-pthread", *flags, "-o", program, source], check=True)
        found = {}
        for threads in (1, 2):
            patience = wait_for_quiet(patience)
            done = subprocess.run([program, str(threads)], check=True, capture_output=True, text=True)
            found[str(threads)] = float(done.stdout) / 1e9
        return found


def load_average() -> float:
    """Programs that wanted to run during the last minute."""
    return os.getloadavg()[0]


def _versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """The commit of the working tree; marked where tracked files outside `benchmarks` and `docs` differ from it."""
    try:
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=HERE, check=True, capture_output=True, text=True)
        changes = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no", "--", ":/src", ":/cpp"],
            cwd=HERE,
            check=True,
            capture_output=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head.stdout.strip() + (" with changes" if changes.stdout.strip() else "")
