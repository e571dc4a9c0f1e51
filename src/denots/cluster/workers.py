"""Where pieces of work are done: here, one after the other, or on a Ray cluster that somebody has started."""

import abc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from denots.errors import InvalidOption

Item = TypeVar("Item")
Found = TypeVar("Found")

HERE, RAY = "local", "ray"


class Workers(abc.ABC):
    """Whoever does pieces of work that do not depend on each other."""

    @abc.abstractmethod
    def each(
        self, work: Callable[[Item], Found], items: Sequence[Item], *, deadline: float | None = None
    ) -> Iterator[tuple[Item, Found]]:
        """Every piece with what was found, in any order; nothing is begun after the deadline (`time.monotonic()`).

        `work` is a function of a module, or an object of such a class, and its items are plain values, so that another
        process can find them.
        """

    def in_order(self, work: Callable[[Item], Found], items: Sequence[Item]) -> Iterator[Found]:
        """What was found for each piece, in their order; what is found early waits in memory."""
        early: dict[int, Found] = {}
        due = 0
        for (number, _), found in self.each(_Numbered(work), list(enumerate(items))):
            early[number] = found
            while due in early:
                yield early.pop(due)
                due += 1


@dataclass(frozen=True)
class _Numbered(Generic[Item, Found]):
    work: Callable[[Item], Found]

    def __call__(self, numbered: tuple[int, Item]) -> Found:
        return self.work(numbered[1])


@dataclass(frozen=True)
class Here(Workers):
    """One piece after the other, in this process."""

    def each(
        self, work: Callable[[Item], Found], items: Sequence[Item], *, deadline: float | None = None
    ) -> Iterator[tuple[Item, Found]]:
        for item in items:
            if deadline is not None and time.monotonic() > deadline:
                return
            yield item, work(item)


def workers_on(place: str, tell: Callable[[str], Any] = lambda words: None) -> Workers:
    """Workers by the name of a place: "local"; "ray", the cluster that runs here; "ray=ADDRESS", another one.

    `tell` hears what is asked of a cluster.
    """
    name, _, address = place.partition("=")
    if place == HERE:
        return Here()
    if name != RAY:
        raise InvalidOption(f"work is done on local, ray or ray=ADDRESS; got {place!r}.")
    from denots.cluster.on_ray import OnRay

    return OnRay.connect(address or None, tell)
