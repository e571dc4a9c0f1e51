"""How many systems are significantly better: the paper's ranks."""

import math
from collections.abc import Mapping

from denots.experiments.exhibit import Cell
from denots.experiments.published import Pair

RUNS, LEVEL = 3, 0.1


def ranks(scores: Mapping[str, Pair | None]) -> dict[str, int]:
    """1 + the number of systems whose mean is higher, by a one-sided t-test with pooled variance.

    `scores` are means and sample standard deviations over three runs; a system that failed
    (None) comes last.
    """
    return {
        name: len(scores) if own is None else 1 + sum(_better(other, own) for other in scores.values())
        for name, own in scores.items()
    }


def ranks_of_cells(cells: Mapping[str, Cell]) -> dict[str, int]:
    """The ranks of those that ran more than once; none if there are not two of them."""
    known = {name: (cell.mean, cell.spread) for name, cell in cells.items() if len(cell.values) > 1}
    return ranks(known) if len(known) > 1 else {}


def _better(other: Pair | None, own: Pair) -> bool:
    if other is None or other[0] <= own[0]:
        return False
    error = math.sqrt((other[1] ** 2 + own[1] ** 2) / RUNS)
    if error == 0:
        return True
    from scipy.stats import t

    return bool(t.sf((other[0] - own[0]) / error, 2 * RUNS - 2) < LEVEL)
