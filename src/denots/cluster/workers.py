"""Where pieces of work are done: here, one after the other, or on a Ray cluster that somebody has started."""

import abc
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from denots.cluster.team import Team
from denots.errors import InvalidOption

Item = TypeVar("Item")
Found = TypeVar("Found")

HERE, RAY = "local", "ray"


class Workers(abc.ABC):
    """Whoever does pieces of work that do not depend on each other."""

    @abc.abstractmethod
    def each(
        self,
        work: Callable[[Item], Found],
        items: Iterable[Item],
        *,
        deadline: float | None = None,
        queued: bool = True,
    ) -> Iterator[tuple[Item, Found]]:
        """Every piece with what was found, in any order; nothing is begun after the deadline (`time.monotonic()`).

        `work` is a function of a module, or an object of such a class, and its items are plain values, so that another
        process can find them. Items are asked for when they are needed: some ahead, unless they are not to be `queued`.
        """

    @abc.abstractmethod
    def together(self, work: Callable[[Team], Found]) -> Found:
        """What the first of a team finds, whose members do the same work at the same time and tell each other of it.

        It is begun anew where a member is lost, so it has to know by itself how far it was.
        """

    def in_order(self, work: Callable[[Item], Found], items: Iterable[Item]) -> Iterator[Found]:
        """What was found for each piece, in their order; what is found early waits in memory."""
        early: dict[int, Found] = {}
        due = 0
        for (number, _), found in self.each(Numbered(work), enumerate(items)):
            early[number] = found
            while due in early:
                yield early.pop(due)
                due += 1


@dataclass(frozen=True)
class Numbered(Generic[Item, Found]):
    """The same work for pieces that know their number."""

    work: Callable[[Item], Found]

    def __call__(self, numbered: tuple[int, Item]) -> Found:
        return self.work(numbered[1])


@dataclass(frozen=True)
class Here(Workers):
    """One piece after the other, in this process."""

    def each(
        self,
        work: Callable[[Item], Found],
        items: Iterable[Item],
        *,
        deadline: float | None = None,
        queued: bool = True,
    ) -> Iterator[tuple[Item, Found]]:
        for item in items:
            if deadline is not None and time.monotonic() > deadline:
                return
            yield item, work(item)

    def together(self, work: Callable[[Team], Found]) -> Found:
        return work(Team())


def workers_on(place: str, tell: Callable[[str], Any] = lambda words: None, *, members: int | None = None) -> Workers:
    """Workers by the name of a place: "local"; "ray", the cluster that runs here; "ray=ADDRESS", another one.

    Args:
        tell: hears what is asked of a cluster.
        members: of a team that trains one model; None is as many as the cluster has room for.
    """
    name, _, address = place.partition("=")
    if place == HERE:
        if members is not None:
            raise InvalidOption("here one process trains a model, with all threads; a number of workers is for ray.")
        return Here()
    if name != RAY:
        raise InvalidOption(f"work is done on local, ray or ray=ADDRESS; got {place!r}.")
    from denots.cluster.on_ray import OnRay

    return OnRay.connect(address or None, tell, members)
