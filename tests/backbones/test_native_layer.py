"""Layers with a kernel, judged by plain PyTorch on the CPU targets that run here; dropout by what it leaves out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.nn.functional import gelu, scaled_dot_product_attention

from denots import kernels
from denots.backbones import native_layer

pytestmark = pytest.mark.usefixtures("double")
PLAIN = {"dropped": 0, "seed": 0}


def leaves(*shapes: tuple[int, ...]) -> list[Tensor]:
    return [torch.randn(shape, requires_grad=True) for shape in shapes]


def check_alike(found: Tensor, judged: Tensor, weights: list[Tensor]) -> None:
    torch.testing.assert_close(found, judged, rtol=1e-9, atol=1e-9)
    told = torch.randn_like(found)
    for ours, theirs in zip(*(torch.autograd.grad(y, weights, told) for y in (found, judged)), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


def feed_forward(weights: list[Tensor], **options: int) -> Tensor:
    names = ("x", "inner", "inner_bias", "outer")
    return native_layer.run(
        "feed_forward", weights[0].shape[1], {**PLAIN, **options}, **dict(zip(names, weights, strict=True))
    )


@pytest.mark.parametrize(("rows", "size", "width"), [(0, 4, 3), (1, 16, 24), (37, 24, 5), (150, 32, 200)])
def test_a_feed_forward_layer_is_two_maps_around_a_gelu(rows: int, size: int, width: int) -> None:
    weights = leaves((rows, size), (width, size), (width,), (size, width))
    x, inner, bias, outer = weights
    check_alike(feed_forward(weights), gelu(x @ inner.T + bias) @ outer.T, weights)


def test_in_single_precision_a_gelu_is_off_by_no_more_than_a_rounding_of_one() -> None:
    x = torch.linspace(-12, 12, 4001, dtype=torch.float32)[:, None].requires_grad_()
    one, none = torch.ones(1, 1), torch.zeros(1)
    weights = [x, *(part.float() for part in (one, none, one))]
    found, judged = feed_forward(weights), gelu(x.double())
    torch.testing.assert_close(found.double(), judged, rtol=1e-7, atol=5e-7)
    (ours,), (theirs,) = (torch.autograd.grad(y.sum(), x) for y in (found, judged))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)


def attention(weights: list[Tensor], offsets: Tensor, asked: Tensor, **options: int) -> Tensor:
    fixed = {"offsets": offsets, "asked": asked, "heads": 4, **PLAIN, **options}
    names = ("queries", "keys", "values")
    return native_layer.run("attention", weights[0].shape[1], fixed, **dict(zip(names, weights, strict=True)))


def heads_of(rows: Tensor) -> Tensor:
    return rows.unflatten(-1, (4, -1)).transpose(0, 1)


@pytest.mark.parametrize("size", [4, 12, 32])
def test_each_series_attends_to_its_own_rows(size: int) -> None:
    offsets, asked = torch.tensor([0, 1, 18, 58, 60]), torch.tensor([0, 3, 3, 20, 21])
    weights = leaves((21, size), (60, size), (60, size))
    judged = []
    for i in range(4):
        mine, rows = slice(asked[i], asked[i + 1]), slice(offsets[i], offsets[i + 1])
        queries, keys, values = heads_of(weights[0][mine]), heads_of(weights[1][rows]), heads_of(weights[2][rows])
        judged.append(scaled_dot_product_attention(queries, keys, values).transpose(0, 1).flatten(1))
    check_alike(attention(weights, offsets, asked), torch.cat(judged), weights)


def test_scores_of_any_size_give_shares() -> None:
    weights = [torch.full((1, 4), 1e3), torch.tensor([[1e3], [-1e3], [1e3]]).expand(3, 4), torch.eye(3, 4)]
    found = attention(weights, torch.tensor([0, 3]), torch.tensor([0, 1]))
    torch.testing.assert_close(found, torch.tensor([[0.5, 0, 0.5, 0]]))


def kept_units(rows: int, width: int, share: float, seed: int) -> Tensor:
    """The factors of hidden units, seen through maps that show one unit after the other."""
    weights = [torch.zeros(rows, width), torch.zeros(width, width), torch.full((width,), 9.0), torch.eye(width)]
    return feed_forward(weights, dropped=round(65536 * share), seed=seed) / 9.0


def test_dropout_leaves_out_its_share_and_scales_the_rest() -> None:
    factors = kept_units(1000, 64, 0.1, seed=3)
    assert set(factors.unique().round(decimals=6).tolist()) == {0.0, round(65536 / (65536 - 6554), 6)}
    assert float((factors == 0).double().mean()) == pytest.approx(0.1, abs=5 * (0.09 / 64_000) ** 0.5)
    centred = (factors == 0).double() - 0.1
    for others in (centred.roll(1, 0), centred.roll(1, 1), (kept_units(1000, 64, 0.1, seed=4) == 0).double() - 0.1):
        assert abs(float((centred * others).mean())) < 5 * 0.09 / 64_000**0.5
    assert torch.equal(factors, kept_units(1000, 64, 0.1, seed=3))


def test_the_way_back_drops_what_the_way_forward_dropped() -> None:
    weights = leaves((40, 8), (24, 8), (24,), (8, 24))
    assert torch.autograd.gradcheck(lambda *each: feed_forward(list(each), dropped=20_000, seed=5), weights)
    offsets, asked = torch.tensor([0, 2, 19]), torch.tensor([0, 1, 4])
    weights = leaves((4, 8), (19, 8), (19, 8))
    assert torch.autograd.gradcheck(
        lambda *each: attention(list(each), offsets, asked, dropped=20_000, seed=5), weights
    )


def test_threads_change_no_bit() -> None:
    weights, before = leaves((700, 8), (24, 8), (24,), (8, 24)), torch.get_num_threads()
    found = []
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            y = feed_forward(weights, dropped=6000, seed=1)
            found.append([y, *torch.autograd.grad(y.square().sum(), weights)])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("target", kernels.targets())
def test_every_target_is_judged(target: str) -> None:
    here = Path(__file__)
    files = [here, *(here.parent / f"test_{name}.py" for name in ("mamba2", "recurrent", "transformers"))]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-m", "not slow", *map(str, files)]
    done = subprocess.run(command, env={**os.environ, "DENOTS_TARGET": target}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
