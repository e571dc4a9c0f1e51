"""The checker of these tests finds a wrong shape in the package, and lets the package refuse what is its to refuse."""

import jaxtyping
import pytest
import torch

from denots.backbones.backbone import Encoded
from denots.errors import InvalidOption
from denots.rowwise import linear_rows
from denots.training.config import TrainConfig


def test_an_argument_of_a_wrong_shape_is_found() -> None:
    linear_rows(torch.ones(2, 3), torch.ones(4, 3), torch.ones(4))
    with pytest.raises(jaxtyping.TypeCheckError, match="weight"):
        linear_rows(torch.ones(2, 3), torch.ones(4, 2), torch.ones(4))


def test_a_field_of_a_dataclass_with_another_batch_is_found() -> None:
    Encoded(torch.ones(2, 1, 3), torch.ones(2, dtype=torch.bool))
    with pytest.raises(jaxtyping.TypeCheckError, match="ok"):
        Encoded(torch.ones(2, 1, 3), torch.ones(5, dtype=torch.bool))


def test_values_that_are_no_arrays_are_left_to_the_package() -> None:
    with pytest.raises(InvalidOption):
        TrainConfig(batch_size="128")
