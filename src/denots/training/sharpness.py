"""How sure a classifier may be: one factor on its logits, found on series that it has not learnt from.

A network that has learnt a small set by heart ranks new series well and is far too sure of it. The factor repairs that
(temperature scaling, Guo et al., 2017), so that epochs can be compared by the loss that is left when it is repaired.
"""

from collections.abc import Callable

import numpy as np

from denots.tasks import Task

FACTORS = np.geomspace(1 / 32, 2, 49)


def best_factor(task: Task, loss: Callable[[float], float]) -> float:
    """The factor with the lowest loss; 1 for tasks without classes."""
    return float(min(FACTORS.tolist(), key=loss)) if task.learns == "classes" else 1.0
