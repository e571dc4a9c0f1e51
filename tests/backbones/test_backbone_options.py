"""Options of a wrong type or size are refused by name, with their value and what is expected."""

import numpy as np
import pytest
import torch

from denots.backbones import BACKBONES
from denots.backbones.options import check_options
from denots.errors import InvalidOption
from denots.training.config import TrainConfig

from models import make_model

WRONG = [
    ("state_size", 1.5, "a whole number from 1 to 100,000,000"),
    ("state_size", None, "a whole number"),
    ("state_size", True, "a whole number"),
    ("state_size", 0, "a whole number"),
    ("state_size", "32", "a whole number"),
    ("state_size", 10**9, "a whole number from 1 to 100,000,000"),
    ("depth", None, "a positive number"),
    ("depth", float("nan"), "a positive number"),
    ("depth", True, "a positive number"),
    ("depth", "10", "a positive number"),
    ("presence", 1, "True or False or one of auto"),
    ("presence", None, "True or False or one of auto"),
    ("holes", "dig", "one of bridge, zero"),
    ("holes", None, "one of bridge, zero"),
    ("field", None, "a name or a class"),
    ("path", 3, "a name or a class"),
]


@pytest.mark.parametrize(("name", "value", "expected"), WRONG)
def test_a_wrong_option_of_a_backbone_is_named_with_its_value(name: str, value: object, expected: str) -> None:
    with pytest.raises(InvalidOption, match=f"^{name} must be {expected}") as caught:
        check_options(BACKBONES["denots"].Config(**{name: value}))
    assert str(caught.value).endswith(f"; got {value!r}.")


@pytest.mark.parametrize("name", ["mamba2", "tempformer", "roformer"])
def test_layers_are_counted_before_they_are_built(name: str) -> None:
    with pytest.raises(InvalidOption, match="layers must be a whole number from 1 to 100; got 100000000"):
        make_model(name, {"layers": 10**8}, "regression", 1, 0, 1)


WRONG_TRAINING = [
    ("max_epochs", 1.5),
    ("max_epochs", None),
    ("max_epochs", 0),
    ("batch_size", "128"),
    ("batch_size", True),
    ("batches_per_epoch", 0),
    ("batches_per_epoch", 2.0),
    ("patience", -1),
    ("learning_rate", float("nan")),
    ("learning_rate", float("inf")),
    ("learning_rate", 0.0),
    ("min_delta", -0.1),
    ("balanced_sampling", "yes"),
    ("seed", -1),
    ("seed", 0.5),
]


@pytest.mark.parametrize(("name", "value"), WRONG_TRAINING)
def test_a_wrong_option_of_training_is_named_with_its_value(name: str, value: object) -> None:
    with pytest.raises(InvalidOption, match=f"^{name} must be .*; got "):
        TrainConfig(**{name: value})


def test_numbers_of_numpy_and_zeros_where_they_mean_something_are_taken() -> None:
    check_options(BACKBONES["denots"].Config(state_size=np.int64(4), depth=np.float32(2)))
    TrainConfig(batch_size=np.int32(4), learning_rate=1, seed=2**40, min_delta=0, batches_per_epoch=None)


@pytest.mark.parametrize(
    "backbone", ["denots", "gru", "tempformer", "mamba2", "neural-cde", "neural-rde", "latent-ode"]
)
@pytest.mark.parametrize("size", [10**8, 64_000])
def test_a_model_too_large_for_any_memory_is_refused_with_its_size(backbone: str, size: int) -> None:
    with pytest.raises(InvalidOption, match=r"would take ([\d.]+|inf) GiB, and at most 4 are allowed"):
        make_model(backbone, {"state_size": size}, "regression", 3)


def test_the_size_that_is_told_is_that_of_the_weights() -> None:
    model = make_model("gru", {"state_size": 16}, "regression", 3)
    with pytest.raises(InvalidOption) as caught:
        make_model("gru", {"state_size": 64_000}, "regression", 3)
    told = float(str(caught.value).split("would take ")[1].split(" GiB")[0])
    assert told == pytest.approx(3 * 64_000**2 * 4 / 2**30, rel=0.01)  # W_hh of three gates
    assert sum(p.numel() for p in model.parameters()) < 5000


def test_looking_at_the_size_changes_no_weight() -> None:
    before = torch.random.get_rng_state()
    first, second = (make_model("denots", {"state_size": 8}, "regression", 2).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert torch.equal(torch.random.get_rng_state(), before)
