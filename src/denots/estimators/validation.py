"""Hold some series back to choose by."""

import numpy as np

from denots.data.split import split_rows
from denots.errors import InvalidOption, InvalidSeries
from denots.shapes import IntArray
from denots.tasks import Part, Task


def validation_split(task: Task, part: Part, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """Rows to learn from and rows to validate with, at least as many of those as the task's metric needs."""
    if not isinstance(share, int | float) or not 0 < share < 1:
        raise InvalidOption(f"validation_fraction must lie between 0 and 1; got {share!r}.")
    n, fewest, strata = len(part), task.fewest, task.strata(part)
    if n <= fewest:
        raise InvalidSeries(f"{n} series cannot be split into training and validation; give at least {fewest + 1}.")
    smallest = n if strata is None else int(np.unique(strata, return_counts=True)[1].min())
    # At least one series of each class on either side, however small the set is.
    share = min(max(share, (fewest - 0.5) / smallest + 1e-9), 1 - 0.5 / smallest - 1e-9)
    train, val = split_rows(n, (1 - share, share), seed=seed, labels=strata)
    return train, val
