"""A linear map whose result for a row does not depend on the other rows, to the last bit.

Matrix libraries choose their summation order by the shape of the whole batch, so a series would
get other last bits in another batch. Here every product of a row is written out and summed by itself:
B times G times C numbers in memory, which is bearable for the small maps around a solver and for no others.
"""

from jaxtyping import Float
from torch import Tensor


def linear_rows(x: Float[Tensor, "*B C"], weight: Float[Tensor, "G C"], bias: Tensor) -> Float[Tensor, "*B G"]:
    return (x.unsqueeze(-2) * weight).sum(dim=-1) + bias
