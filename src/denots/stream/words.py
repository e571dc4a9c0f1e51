"""Words of a row as the columns of zeros and ones that a model reads, as tables are read."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from denots.data.ranges import in_short, unknown_category
from denots.errors import InvalidEvent
from denots.registry import listed
from denots.shapes import FloatArray

KEPT = 100  # characters of a word that is remarked on


class Words:
    """The columns of text among some columns.

    Args:
        columns: of the model, where each column of text stands as several.
        categories: of each column of text.
        na: further spellings of a missing value.
    """

    def __init__(
        self, columns: tuple[str, ...], categories: Mapping[str, tuple[str, ...]], na: tuple[str, ...]
    ) -> None:
        places = {name: k for k, name in enumerate(columns)}
        self._na = frozenset(na)
        self.places = {
            name: {category: places[f"{name}={category}"] for category in own}
            for name, own in categories.items()
            if own and name not in places and all(f"{name}={category}" in places for category in own)
        }

    def put(self, row: FloatArray, name: str, value: Any, what: str) -> str | None:
        """Write a word into a row, and tell it if there is one; a word that is no category is zero in all of them."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        known = self.places[name]
        if isinstance(value, bool) or not isinstance(value, str | Real):
            few = listed(map(repr, known))
            raise InvalidEvent(f"{what} {name!r} is {value!r:.60}; expected text, such as {few}.")
        text = str(value)
        if not text or text.strip() in self._na:
            return None
        for category, place in known.items():
            row[place] = float(category == text)
        return text

    def unknown(self, name: str, text: str | None) -> dict[str, str]:
        """The word by its column, if training did not have it."""
        return {} if text is None or text in self.places[name] else {name: text}


class Strangers:
    """The words of each series that training did not have, the earliest of each column."""

    def __init__(self, categories: Mapping[str, tuple[str, ...]]) -> None:
        self._categories = categories
        self._found: dict[str | int, dict[str, tuple[float, str]]] = {}

    def note(self, id: str | int, since: float, words: Mapping[str, str]) -> None:
        """Keep words by their columns, which count from a time on."""
        for name, word in words.items():
            own = self._found.setdefault(id, {})
            if name not in own or since < own[name][0]:
                own[name] = since, word[:KEPT]

    def remark(self, id: str | int, time: float) -> str:
        """What `predict` says of the words of a series up to a time; empty if nothing."""
        found = self._found.get(id)
        if found is None:
            return ""
        words = {name: word for name, (since, word) in found.items() if since <= time}
        told = [unknown_category(name, words[name], own) for name, own in self._categories.items() if name in words]
        return in_short(told)

    def forget(self, id: str | int) -> None:
        self._found.pop(id, None)

    def kept(self) -> list[tuple[str | int, float, str, str]]:
        """Everything that was noted: id, since when, column and word."""
        return [(id, since, name, word) for id, own in self._found.items() for name, (since, word) in own.items()]
