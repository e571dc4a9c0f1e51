"""Pieces of work as tasks of a Ray cluster.

A task has as many processors, and its kernels as many threads, as a run here would use: so it finds the same numbers to
the last bit. A piece whose process or machine is lost, or whose machine cannot write, is done again elsewhere. Files are
named by their paths: machines share a file system.
"""

import errno
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

from denots.cluster.team import Connected, Team
from denots.cluster.workers import Found, Item, Numbered, Workers
from denots.errors import InvalidOption, MissingExtra, WorkerLost
from denots.processors import limited_to

RETRIES = 5  # times that a piece is begun again where its process or machine is lost
QUEUED = 2  # pieces for each that can run
BEGIN = 300.0  # seconds for a team to find room
UNWRITABLE = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}
)  # of one machine, not of the work


@dataclass(frozen=True)
class OnRay(Workers):
    """Tasks of a cluster to which this process is connected.

    cpus: processors of each task, and threads of its kernels.
    members: of a team; None is as many as the cluster has room for.
    """

    ray: Any
    cpus: int
    members: int | None = None
    tell: Callable[[str], Any] = lambda words: None

    @classmethod
    def connect(cls, address: str | None, tell: Callable[[str], Any], members: int | None = None) -> "OnRay":
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
        return cls(ray, cpus, members, tell)

    def each(
        self,
        work: Callable[[Item], Found],
        items: Iterable[Item],
        *,
        deadline: float | None = None,
        queued: bool = True,
    ) -> Iterator[tuple[Item, Found]]:
        for item, promised in self._finished(work, items, deadline, queued):
            yield item, self._got(promised, repr(item))

    def in_order(self, work: Callable[[Item], Found], items: Iterable[Item]) -> Iterator[Found]:
        """What is found early waits where it was made, or on the disk of that machine."""
        early: dict[int, tuple[Any, str]] = {}
        due = 0
        for (number, item), promised in self._finished(Numbered(work), enumerate(items)):
            early[number] = promised, repr(item)
            while due in early:
                yield self._got(*early.pop(due))
                due += 1

    def _finished(
        self, work: Callable[[Item], Found], items: Iterable[Item], deadline: float | None = None, queued: bool = True
    ) -> Iterator[tuple[Item, Any]]:
        """Every piece that is done, and where to get what was found."""
        ray = self.ray
        self._check_room(1)
        environment = _environment(self.cpus)
        task = ray.remote(num_cpus=self.cpus, max_retries=RETRIES, num_returns=2, runtime_env=environment)(_done)
        shared, running = ray.put(work), dict[Any, _Piece]()
        waiting = iter(items)
        while True:
            room = max(1, (QUEUED if queued else 1) * int(_processors(ray) // self.cpus)) - len(running)
            late = deadline is not None and time.monotonic() > deadline
            for item in () if late else _some(waiting, room):
                state, promised = task.remote(shared, item, self.cpus)
                running[state] = _Piece(item, promised)
            if not running:
                return
            ready, _ = ray.wait(list(running), num_returns=1)
            piece = running.pop(ready[0])
            unwritten = self._got(ready[0], repr(piece.item))
            if unwritten is None:
                yield piece.item, piece.promised
            else:
                piece.tried[unwritten.machine] = unwritten.reason
                elsewhere = task.options(scheduling_strategy=self._another(piece))
                state, piece.promised = elsewhere.remote(shared, piece.item, self.cpus)
                running[state] = piece

    def together(self, work: Callable[[Team], Found]) -> Found:
        size = self.members or max(1, int(_processors(self.ray) // self.cpus))
        self._check_room(size)
        self.tell(f"training with {size} workers, a piece of each batch for each; the result depends on their number")
        for again in reversed(range(RETRIES + 1)):
            try:
                return self._team(work, size)
            except WorkerLost:
                if not again:
                    raise
                self.tell("a worker was lost; all of them go on from the last checkpoint")
        raise AssertionError

    def _team(self, work: Callable[[Team], Found], size: int) -> Found:
        """One attempt of a team, which ends with the first member that fails."""
        ray = self.ray
        member = ray.remote(num_cpus=self.cpus, max_restarts=0, runtime_env=_environment(self.cpus))(_Member)
        team = [member.remote() for _ in range(size)]
        try:
            self._got([each.__ray_ready__.remote() for each in team], f"a team of {size}", within=BEGIN)
            meeting = self._got(team[0].invite.remote(), "the first worker")
            shared = ray.put(work)
            running = {each.work.remote(shared, rank, size, meeting, self.cpus): rank for rank, each in enumerate(team)}
            found: dict[int, Any] = {}
            while running:
                ready, _ = ray.wait(list(running), num_returns=1)
                rank = running.pop(ready[0])
                found[rank] = self._got(ready[0], f"worker {rank}")
            result: Found = found[0]
            return result
        finally:
            for each in team:
                ray.kill(each)

    def _check_room(self, pieces: int) -> None:
        wanted, there = pieces * self.cpus, _processors(self.ray)
        if there < wanted:
            raise InvalidOption(
                f"{pieces} at a time, with {self.cpus} processors each, ask for {wanted}, and the cluster has {there:g}; set "
                "OMP_NUM_THREADS, or give fewer workers."
            )

    def _got(self, promised: Any, who: str, within: float | None = None) -> Any:
        """What a process found; what went wrong there is raised here as it is."""
        ray = self.ray
        try:
            return ray.get(promised, timeout=within)
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, ray.exceptions.RayError):
                raise InvalidOption(
                    f"a machine of the cluster cannot do the work; it needs the same denots. It says: {error.cause}"
                ) from error
            raise error.cause from error
        except ray.exceptions.GetTimeoutError as error:
            raise InvalidOption(
                f"{who} was not begun within {within:g} seconds: the cluster has no room for all of it; give fewer workers. What "
                "is finished is safe, and the same command goes on."
            ) from error
        except ray.exceptions.RayError as error:
            raise WorkerLost(
                f"the machine that did {who} was lost, again and again ({type(error).__name__}); what is finished is safe, and "
                "the same command goes on."
            ) from error

    def _another(self, piece: "_Piece") -> Any:
        """A machine on which a piece has not been tried yet."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        for node in self.ray.nodes():
            able = node["Alive"] and node["Resources"].get("CPU", 0) >= self.cpus
            if able and node["NodeID"] not in piece.tried:
                return NodeAffinitySchedulingStrategy(node["NodeID"], soft=True)
        raise WorkerLost(
            f"no machine could write what was found for {piece.item!r}: {', '.join(set(piece.tried.values()))}. Make room on the "
            "disk; the same command goes on."
        )


@dataclass
class _Piece:
    """An item, where to get what is found, and the machines that could not write for it, with what they said."""

    item: Any
    promised: Any
    tried: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Unwritten:
    """What a machine says whose disk is full or fails."""

    machine: str
    reason: str


class _Member:
    """A process of a team."""

    def invite(self) -> tuple[str, int]:
        """Begin to wait for the others; tells where."""
        import ray
        from torch.distributed import TCPStore  # type: ignore[attr-defined]

        address: str = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
        self.store = TCPStore(address, 0, None, is_master=True, wait_for_workers=False)
        return address, self.store.port

    def work(self, work: Callable[[Team], Found], rank: int, size: int, meeting: tuple[str, int], cpus: int) -> Any:
        """Do it; only the first tells what it found."""
        from torch.distributed import TCPStore  # type: ignore[attr-defined]

        store = self.store if not rank else TCPStore(*meeting, None, is_master=False)
        with limited_to(cpus):
            found = work(Connected.join(rank, size, store))
        return found if not rank else None


def _done(work: Callable[[Item], Found], item: Item, threads: int) -> tuple[_Unwritten | None, Found | None]:
    with limited_to(threads):
        try:
            return None, work(item)
        except OSError as error:
            if error.errno not in UNWRITABLE:
                raise
            import ray

            return _Unwritten(ray.get_runtime_context().get_node_id(), str(error)), None


def _some(items: Iterator[Item], count: int) -> Iterator[Item]:
    for _, item in zip(range(count), items, strict=False):
        yield item


def _processors(ray: Any) -> float:
    return float(ray.cluster_resources().get("CPU", 0.0))


def _environment(cpus: int) -> dict[str, Any]:
    """Variables of the processes that do the work: threads before any library counts them, and where data sets live."""
    kept = {name: os.environ[name] for name in ("DENOTS_HOME", "DENOTS_TARGET") if name in os.environ}
    return {"env_vars": {"OMP_NUM_THREADS": str(cpus), **kept}}
