"""Look parts up by name, offer the nearest names when one is not there, and let other packages add theirs."""

from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

from denots.errors import InvalidOption, UnknownName

T = TypeVar("T")


SHOWN = 20  # names that a message lists


def lookup(registry: Mapping[str, T], name: str, kind: str) -> T:
    """Return `registry[name]`; `kind` ("field", "data set") is the word used in the error."""
    if name in registry:
        return registry[name]
    near = nearest(name, registry)
    hint = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
    raise UnknownName(f"unknown {kind} {name!r}. {hint}Known: {listed(sorted(registry))}.")


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Up to three known names that a misspelt one may stand for: two thirds alike, whatever their case."""
    from difflib import get_close_matches

    folded: dict[str, list[str]] = {}
    for candidate in known:
        folded.setdefault(candidate.lower(), []).append(candidate)
    near = get_close_matches(name.lower(), folded, n=3, cutoff=0.66)
    return [candidate for match in near for candidate in folded[match]][:3]


def listed(names: Iterable[str]) -> str:
    """Names separated by commas; of thousands, the first twenty and how many there are."""
    every = list(names)
    rest = f" ... ({len(every)} in all)" if len(every) > SHOWN else ""
    return ", ".join(every[:SHOWN]) + rest


class Registry(dict[str, T], Generic[T]):
    """An open dictionary of parts of one kind: `FIELDS["mine"] = MyField` adds one.

    An installed package adds parts without being imported first, by entry points of the group
    `denots.fields`, `denots.systems` and so on; they are loaded when a name is asked for that is not
    there, or when all are listed.
    """

    def __init__(self, kind: str, entries: Mapping[str, T], group: str | None = None) -> None:
        super().__init__(entries)
        self.kind, self.group = kind, group or f"denots.{kind}s"
        self._complete = False

    def find(self, name: str) -> T:
        """The part of this name; UnknownName offers the nearest ones."""
        if name not in self:
            self.complete()
        return lookup(self, name, self.kind)

    def resolve(self, part: str | T) -> T:
        """The part of this name, or the part itself where one is passed in."""
        return self.find(part) if isinstance(part, str) else part

    def name_of(self, part: str | T) -> str:
        """The name under which a part can be found again, which is what a saved model remembers of it."""
        if isinstance(part, str):
            return part
        for name, known in self.items():
            if known is part:
                return name
        spelled = getattr(part, "__name__", type(part).__name__)
        raise InvalidOption(
            f"{self.kind} {spelled} has no name, so a saved model could not find it again. Register it before saving "
            f"and before loading: {self.kind.upper().replace(' ', '')}S[{spelled.lower()!r}] = {spelled}, or as entry point {self.group}."
        )

    def complete(self) -> "Registry[T]":
        """The registry with the parts of installed packages; those of this package keep their names."""
        if not self._complete:
            from importlib.metadata import entry_points

            self._complete = True
            for entry in entry_points(group=self.group):
                if entry.name not in self:
                    self[entry.name] = entry.load()
        return self
