"""How many processors a command keeps busy: threads of kernels and processes never multiply beyond what was asked."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from denots.errors import InvalidOption


def check_jobs(jobs: int | None, name: str = "jobs") -> None:
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        raise InvalidOption(f"{name} is the largest number of processors to keep busy, from 1; got {jobs!r}.")


@contextmanager
def limited_to(jobs: int | None) -> Iterator[None]:
    """Within the block, kernels and linear algebra of this process use at most so many threads; None changes nothing."""
    if jobs is None:
        yield
        return
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    torch.set_num_threads(jobs)
    try:
        with threadpool_limits(jobs):
            yield
    finally:
        torch.set_num_threads(before)


def start_worker(threads: int, parent: int, stop: Any = None) -> None:
    """First thing in a process of a pool: keep to its threads, and end when the parent says so or is no more."""
    torch.set_num_threads(threads)
    said = threading.Event() if stop is None else stop

    def watch() -> None:
        while os.getppid() == parent:
            if said.wait(1):
                break
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
