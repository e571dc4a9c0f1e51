"""Input-to-state stability with explicit functions, for fields that are not zero at zero."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class InputToState:
    """`|h(t)| ≤ beta(|h0|, t) + gamma(sup |x|) + offset`, for a field that contracts at a rate.

    From h' = [g(x, h) - g(x, 0)] + [g(x, 0) - g(0, 0)] + g(0, 0): the first part pulls with the rate λ at least (its
    logarithmic norm is at most -λ), the second is at most L |x|, the third is a constant. So
    beta(s, t) = e^{-λt} s, gamma(s) = L s / λ and the offset is |g(0, 0)| / λ; it vanishes where g(0, 0) does, as the paper
    assumes and a GRU with biases does not allow. Whatever holds of the rate and of L on a box, holds of this as
    long as the states and the segment from them to zero stay in it.
    """

    rate: float  # λ > 0
    in_input: float  # L
    at_zero: float  # |g(0, 0)|

    def beta(self, start: float, time: float) -> float:
        return math.exp(-self.rate * time) * start

    def gamma(self, signal: float) -> float:
        return self.in_input * signal / self.rate

    @property
    def offset(self) -> float:
        return self.at_zero / self.rate

    def bound(self, start: float, signal: float, time: float) -> float:
        return self.beta(start, time) + self.gamma(signal) + self.offset
