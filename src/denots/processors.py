"""How many processors a command keeps busy: threads of kernels and processes never multiply beyond what was asked."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from denots.errors import InvalidOption


def threads() -> int:
    """How many threads kernels use: as many as torch does, where it is in use; else OMP_NUM_THREADS, or one a processor."""
    torch = sys.modules.get("torch")
    if torch is not None:
        return int(torch.get_num_threads())
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted):
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_jobs(jobs: int | None, name: str = "jobs") -> None:
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        raise InvalidOption(f"{name} is the largest number of processors to keep busy, from 1; got {jobs!r}.")


@contextmanager
def limited_to(jobs: int | None) -> Iterator[None]:
    """Within the block, kernels and linear algebra of this process use at most so many threads; None changes nothing."""
    if jobs is None:
        yield
        return
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(jobs)
    try:
        with threadpool_limits(jobs):
            yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def one_thread() -> Iterator[None]:
    """Within the block, kernels that this thread calls use it alone: waking others costs more than work of a millisecond."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def start_worker(threads: int, parent: int, stop: Any = None) -> None:
    """First thing in a process of a pool: keep to its threads, and end when the parent says so or is no more."""
    import torch

    torch.set_num_threads(threads)
    said = threading.Event() if stop is None else stop

    def watch() -> None:
        while os.getppid() == parent:
            if said.wait(1):
                break
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
