"""What is asked about the series of a table: the parameters behind the `?` of a request."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from denots.errors import InvalidOption
from denots.registry import lookup

PARAMETERS = {
    "at": "times to tell of, such as 24,36,48, counted as in the fitted table; for dates, since the first row",
    "coverage": "adds the set or the interval that holds the truth for such a share of series, such as 0.9",
    "groups": "with a coverage: a static column, or the target of classes; the coverage then holds in each group",
}
MOST_TIMES = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """Requests that ask alike are answered together."""

    times: tuple[float, ...] | None = None
    coverage: float | None = None
    groups: str | None = None

    @classmethod
    def read(cls, query: Mapping[str, str], *, takes_times: bool, asks_times: bool) -> "Asked":
        """What a query asks of a model that takes times, or even asks for them."""
        for name in query:
            lookup(PARAMETERS, name, "parameter")
        times = read_times(query["at"]) if "at" in query else None
        if asks_times and times is None:
            raise InvalidOption("a forecast needs times: add them to the address, such as ?at=24,36,48.")
        if times is not None and not takes_times:
            raise InvalidOption(
                "'at' is for forecasts and models of rows; this model answers once per series, so leave it out."
            )
        coverage = read_number(query["coverage"], "coverage") if "coverage" in query else None
        if "groups" in query and coverage is None:
            raise InvalidOption("'groups' says for whom a coverage holds; give a coverage, too, such as 0.9.")
        return cls(times, coverage, query.get("groups"))

    def options(self) -> dict[str, Any]:
        """As `predict_table` takes them."""
        times = {} if self.times is None else {"times": self.times}
        return {"coverage": self.coverage, "groups": self.groups, **times}


def read_times(text: str) -> tuple[float, ...]:
    times = tuple(read_number(part, "at") for part in text.split(",") if part.strip())
    if not 0 < len(times) <= MOST_TIMES:
        raise InvalidOption(f"'at' names {len(times)} times; give 1 to {MOST_TIMES}, such as 24,36,48.")
    return times


def read_number(text: str, name: str) -> float:
    """The finite number that a parameter has."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidOption(f"{name!r} is {text!r:.60}, which is not a number.")
    return number
