"""`denots info`: what is installed and what it can use."""

import os
import platform
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

import denots
from denots.cli.messages import show_facts

LIBRARIES = ("torch", "numpy", "scikit-learn", "pandas", "pyarrow")


def info() -> None:
    """Show versions, native extension, threads and the folder of data sets.

    denots info
    """
    import torch

    from denots.datasets.library import home

    given = "DENOTS_HOME" if os.environ.get("DENOTS_HOME") else "default; set DENOTS_HOME to change it"
    show_facts(
        {
            "denots": denots.__version__,
            "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
            "libraries": ", ".join(f"{name} {_version(name)}" for name in LIBRARIES),
            "native": _native(),
            "threads": f"{torch.get_num_threads()} of {os.cpu_count()} processors (OMP_NUM_THREADS changes it)",
            "data sets": f"{home()} ({given})",
        }
    )


def _native() -> str:
    """The CPU target in use, the others that could be, and what has a fused kernel."""
    try:
        kernels = import_module("denots.kernels")
    except ImportError as error:
        return f"not loaded: {error}"
    fields = ", ".join(kernels.fields())
    able = ", ".join(kernels.targets())
    return f"{kernels.target()} (this processor can run {able}; DENOTS_TARGET forces one); fused solver for {fields}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"
