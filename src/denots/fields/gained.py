"""A field times a number: what stretching time by that number amounts to."""

from jaxtyping import Float
from torch import Tensor

from denots.fields.field import AffineInputField


class Gained(AffineInputField):
    """`dh/dt = gain * field(x, h)`.

    On the clock s = t / gain this is the plain field, so a gain and a depth are the same thing;
    as a tensor, the gain can be learnt. Wrap a field where it is used: the weights stay its own.
    """

    def __init__(self, field: AffineInputField, gain: Tensor | float) -> None:
        super().__init__()
        self.input_size, self.state_size = field.input_size, field.state_size
        self.weight_ih, self.bias_ih = field.weight_ih, field.bias_ih
        self._slope, self.gain = field.slope, gain

    def slope(self, u: Float[Tensor, "B G"], h: Float[Tensor, "B H"]) -> Float[Tensor, "B H"]:
        return self.gain * self._slope(u, h)
