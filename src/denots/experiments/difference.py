"""By how much one mean exceeds another, how sure that is, and how many runs would decide it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from denots.experiments.exhibit import Cell

CONFIDENCE = 0.9  # so that each side is wrong in one of twenty cases
MOST_RUNS = 1_000


@dataclass(frozen=True)
class Difference:
    """The difference of two means with its interval, which is everything while a spread is not known."""

    value: float
    low: float
    high: float

    @property
    def decided(self) -> bool:
        return self.low > 0 or self.high < 0


def difference(more: Cell, less: Cell) -> Difference:
    """Of the means over runs, with Welch's interval."""
    value = more.mean - less.mean
    reach = _reach((cell.error, cell.freedom) for cell in (more, less))
    return Difference(value, value - reach, value + reach)


def runs_to_decide(more: Cell, less: Cell) -> int | None:
    """Runs of each side after which the difference would be decided, if means and spreads stay as they are.

    None where it is not known, or beyond a thousand.
    """
    spreads = [cell.spread for cell in (more, less) if cell.known_error is None]
    if any(math.isinf(cell.error) for cell in (more, less)) or not any(spreads):
        return None
    for runs in range(2, MOST_RUNS + 1):
        if _reach((spread / math.sqrt(runs), runs - 1) for spread in spreads) < abs(more.mean - less.mean):
            return runs
    return None


def _reach(errors: Iterable[tuple[float, float]]) -> float:
    """Half the length of the interval, by standard errors and their degrees of freedom."""
    from scipy.stats import t

    parts = [(error**2, freedom) for error, freedom in errors]
    total = sum(part for part, _ in parts)
    if total == 0 or math.isinf(total):
        return total
    shares = sum(part**2 / freedom for part, freedom in parts)
    return float(t.ppf((1 + CONFIDENCE) / 2, total**2 / shares if shares else math.inf)) * math.sqrt(total)
