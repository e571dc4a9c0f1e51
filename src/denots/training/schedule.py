"""How large a step is at each moment of a training."""

import math
from typing import Literal

Schedule = Literal["constant", "one-cycle", "cycles"]
WARM_UP = 0.1
SHARES = (1, 2, 4)  # of the cycles in the whole


def cycles(schedule: Schedule, epochs: int) -> list[int]:
    """How many epochs each cycle lasts; a run too short for several has one."""
    if schedule != "cycles" or epochs < sum(SHARES):
        return [epochs]
    first, second = (epochs * share // sum(SHARES) for share in SHARES[:-1])
    return [first, second, epochs - first - second]


def step_size(schedule: Schedule, epochs: int, moment: float) -> float:
    """The share of the peak learning rate when so many epochs, and a part of one, have passed.

    In a cycle it rises evenly for a tenth of the time and then falls to zero like half a cosine.
    """
    if schedule == "constant":
        return 1.0
    for length in cycles(schedule, epochs):
        if moment < length:
            done = moment / length
            return done / WARM_UP if done < WARM_UP else (1 + math.cos(math.pi * (done - WARM_UP) / (1 - WARM_UP))) / 2
        moment -= length
    return 0.0
