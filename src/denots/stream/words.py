"""Words of a row as the columns of zeros and ones that a model reads, as tables are read."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from denots.errors import InvalidEvent
from denots.registry import listed
from denots.shapes import FloatArray


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

    def put(self, row: FloatArray, name: str, value: Any, what: str) -> bool:
        """Write a word into a row, and tell whether there is one; a word that is no category is zero in all of them."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return False
        known = self.places[name]
        if isinstance(value, bool) or not isinstance(value, str | Real):
            few = listed(map(repr, known))
            raise InvalidEvent(f"{what} {name!r} is {value!r:.60}; expected text, such as {few}.")
        text = str(value)
        if not text or text.strip() in self._na:
            return False
        for category, place in known.items():
            row[place] = float(category == text)
        return True
