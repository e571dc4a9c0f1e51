"""How sure a classifier may be: one factor on its logits, found on series that it has not learnt from.

A network that has learnt a small set by heart ranks new series well and is far too sure of it. The factor repairs that
(temperature scaling, Guo et al., 2017), so that epochs can be compared by the loss that is left when it is repaired.
"""

import numpy as np
from torch import Tensor

from denots.tasks import Task

FACTORS = np.geomspace(1 / 32, 2, 49)


def best_factor(task: Task, outputs: Tensor, target: Tensor) -> float:
    """The factor with the lowest loss; 1 for tasks without classes."""
    if task.learns != "classes":
        return 1.0
    return float(min(FACTORS, key=lambda factor: float(task.loss(outputs * float(factor), target))))
