"""Pieces of work as tasks of a Ray cluster.

A task has as many processors, and its kernels as many threads, as a run here would use: so it finds the same numbers to
the last bit. A piece whose process or machine is lost is done again elsewhere. Files are named by their paths: machines
share a file system.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from denots.cluster.workers import Found, Item, Workers
from denots.errors import InvalidOption, MissingExtra, WorkerLost
from denots.processors import limited_to

RETRIES = 5  # times that a piece is begun again where its process or machine is lost
QUEUED = 2  # pieces for each that can run


@dataclass(frozen=True)
class OnRay(Workers):
    """Tasks of a cluster to which this process is connected.

    cpus: processors of each task, and threads of its kernels.
    """

    ray: Any
    cpus: int

    @classmethod
    def connect(cls, address: str | None, tell: Callable[[str], Any]) -> "OnRay":
        """Join a cluster that is running; none is ever started."""
        try:
            import ray
        except ImportError as error:
            raise MissingExtra(
                "work on a Ray cluster needs Ray; install it with: pip install 'denots[ray]'."
            ) from error
        if not ray.is_initialized():
            try:
                ray.init(address=address or "auto", log_to_driver=False, logging_level=logging.ERROR)
            except (ConnectionError, ValueError, RuntimeError) as error:
                where = "here" if address is None else f"at {address}"
                raise InvalidOption(
                    f"no Ray cluster answers {where} ({error}); start one with: ray start --head, or leave --on out."
                ) from error
        cpus = torch.get_num_threads()
        tell(f"on Ray: {_processors(ray):g} processors; each piece of work asks for {cpus} and runs as many threads")
        return cls(ray, cpus)

    def each(
        self, work: Callable[[Item], Found], items: Sequence[Item], *, deadline: float | None = None
    ) -> Iterator[tuple[Item, Found]]:
        ray = self.ray
        if _processors(ray) < self.cpus:
            raise InvalidOption(
                f"a piece of work asks for {self.cpus} processors and the cluster has {_processors(ray):g}; set OMP_NUM_THREADS."
            )
        task = ray.remote(num_cpus=self.cpus, max_retries=RETRIES, runtime_env=_environment(self.cpus))(_done)
        shared, running = ray.put(work), dict[Any, Item]()
        waiting = iter(items)
        while True:
            room = max(1, QUEUED * int(_processors(ray) // self.cpus)) - len(running)
            late = deadline is not None and time.monotonic() > deadline
            for item in () if late else _some(waiting, room):
                running[task.remote(shared, item, self.cpus)] = item
            if not running:
                return
            ready, _ = ray.wait(list(running), num_returns=1)
            item = running.pop(ready[0])
            try:
                found = ray.get(ready[0])
            except ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, ray.exceptions.RayError):
                    raise InvalidOption(
                        f"a machine of the cluster cannot do the work; it needs the same denots. It says: {error.cause}"
                    ) from error
                raise error.cause from error
            except ray.exceptions.RayError as error:
                raise WorkerLost(
                    f"the machine that did {item!r} was lost {RETRIES + 1} times ({type(error).__name__}); what is finished is safe, "
                    "and the same command goes on."
                ) from error
            yield item, found


def _done(work: Callable[[Item], Found], item: Item, threads: int) -> Found:
    with limited_to(threads):
        return work(item)


def _some(items: Iterator[Item], count: int) -> Iterator[Item]:
    for _, item in zip(range(count), items, strict=False):
        yield item


def _processors(ray: Any) -> float:
    return float(ray.cluster_resources().get("CPU", 0.0))


def _environment(cpus: int) -> dict[str, Any]:
    """Variables of the processes that do the work: threads before any library counts them, and where data sets live."""
    kept = {name: os.environ[name] for name in ("DENOTS_HOME", "DENOTS_TARGET") if name in os.environ}
    return {"env_vars": {"OMP_NUM_THREADS": str(cpus), **kept}}
