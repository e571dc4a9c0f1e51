"""Mamba-2, judged by the block of `transformers` with copied weights, and by the recurrence step by step."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import rms_norm, silu, softplus

from denots.backbones import Mamba2
from denots.backbones.positions import waves
from denots.backbones.rows import Timeline
from denots.backbones.state_space import Mixer
from denots.data import SeriesSet
from denots.errors import InvalidOption

from oracles import gappy_series


@pytest.fixture(scope="module")
def their_mixer():
    """A function that builds transformers' block with the weights of ours; importing it takes seconds."""
    import transformers
    from transformers.models.mamba2.modeling_mamba2 import Mamba2Mixer

    def build(mixer: Mixer, size: int):
        config = transformers.Mamba2Config(
            hidden_size=size, num_heads=mixer.heads, head_dim=8, state_size=16, conv_kernel=4, expand=2, n_groups=1,
            use_bias=False, use_conv_bias=True, layer_norm_epsilon=1e-5, chunk_size=16, num_hidden_layers=1,
        )  # fmt: skip
        theirs = Mamba2Mixer(config, layer_idx=0)
        theirs.load_state_dict(mixer.state_dict())
        return theirs

    return build


@pytest.mark.parametrize("length", [1, 5, 32, 33, 70])
def test_values_and_gradients_are_those_of_transformers(their_mixer, length: int) -> None:
    mixer = Mixer(32)
    with torch.no_grad():
        for parameter in (mixer.norm.weight, mixer.D, mixer.conv1d.bias):
            parameter.add_(0.3 * torch.randn_like(parameter))
    theirs = their_mixer(mixer, 32).eval()
    rows, weights = torch.randn(3, length, 32), torch.randn(3, length, 32)
    found, gradients = [], []
    for block in (mixer, theirs):
        x = rows.clone().requires_grad_()
        offsets = length * torch.arange(4)
        found.append(block(x.flatten(0, 1), offsets).unflatten(0, (3, length)) if block is mixer else block(x))
        (found[-1] * weights).sum().backward()
        gradients.append({"rows": x.grad, **{name: p.grad for name, p in block.named_parameters()}})
    torch.testing.assert_close(found[0], found[1], rtol=1e-5, atol=1e-5)
    for name, gradient in gradients[0].items():
        judge = gradients[1][name]
        assert (gradient - judge).abs().max() <= 1e-5 * max(1.0, float(judge.abs().max())), name


def stepped(mixer: Mixer, rows: Tensor) -> Tensor:
    """The outputs of one series, row by row, as the paper of Mamba-2 writes them."""
    inner, state, heads = mixer.inner, mixer.state, mixer.heads
    weight, taps = mixer.conv1d.weight[:, 0], mixer.conv1d.weight.shape[-1]
    gate, mixed, step = (rows @ mixer.in_proj.weight.T).split([inner, inner + 2 * state, heads], dim=-1)
    s, outputs = torch.zeros(heads, mixer.head, state), []
    for t in range(len(rows)):
        known = [mixed[t - k] * weight[:, -1 - k] for k in range(min(taps, t + 1))]
        x, b, c = silu(torch.stack(known).sum(0) + mixer.conv1d.bias).split([inner, state, state])
        x, dt = x.reshape(heads, mixer.head), softplus(step[t] + mixer.dt_bias)
        decay = (-mixer.A_log.exp() * dt).exp()
        s = decay[:, None, None] * s + (dt[:, None] * x)[:, :, None] * b
        y = ((s @ c + mixer.D[:, None] * x).flatten() * silu(gate[t])).reshape(1, -1)
        outputs.append(rms_norm(y, (inner,), mixer.norm.weight, mixer.norm.eps)[0] @ mixer.out_proj.weight.T)
    return torch.stack(outputs)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("size", [4, 12, 32])
def test_ragged_series_are_the_recurrence_in_values_and_gradients(size: int) -> None:
    mixer, lengths = Mixer(size), [3, 1, 0, 17]
    with torch.no_grad():
        for parameter in (mixer.norm.weight, mixer.D, mixer.conv1d.bias):
            parameter.add_(0.3 * torch.randn_like(parameter))
    rows = torch.randn(sum(lengths), size, requires_grad=True)
    offsets, weights = torch.tensor([0, *np.cumsum(lengths)]), torch.randn(sum(lengths), size)
    judged = torch.cat([stepped(mixer, part) for part in rows.split(lengths) if len(part)])
    found = mixer(rows, offsets)
    torch.testing.assert_close(found, judged, rtol=1e-10, atol=1e-10)
    leaves = [rows, *mixer.parameters()]
    gradients = [torch.autograd.grad((y * weights).sum(), leaves) for y in (found, judged)]
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)
    places = torch.tensor([20, 0, 3, 3])
    torch.testing.assert_close(mixer(rows, offsets, places), judged[places], rtol=1e-10, atol=1e-10)


def model_of(series: SeriesSet, **options) -> Mamba2:
    model = Mamba2(
        Mamba2.Config(**{"state_size": 8, **options}), 3, 0 if series.static is None else series.static.shape[1]
    )
    model.calibrate(series)
    return model.eval()


@pytest.mark.parametrize("queries", [False, True], ids=["end", "queries"])
@pytest.mark.parametrize("residual", [False, True])
def test_the_backbone_is_a_chain_of_their_blocks(their_mixer, residual: bool, queries: bool) -> None:
    series = replace(gappy_series(), static=np.random.default_rng(3).normal(size=(5, 2)), static_names=("a", "b"))
    model = model_of(series, residual=residual, layers=3)
    at = torch.from_numpy(np.random.default_rng(4).uniform(0.0, 7.0, (5, 4))) if queries else None
    rows = model.prepare(series)
    line = Timeline.of(rows, None if at is None else at / model.intake.time_scale)
    inputs = model.inputs_of(rows, line)[..., : rows.values.shape[1]]
    with torch.no_grad():
        x = model.read(inputs) + waves(line.times / model.positions.gap, 8).float()
        for i, mixer in enumerate(model.mixers):
            block = their_mixer(mixer, 8).eval()
            x = x + block(model.norms[i](x)) if residual else block(x)
        judged = torch.stack([x[i, places] for i, places in enumerate(line.answers)])
        judged = judged + model.from_static(rows.static)[:, None]
        torch.testing.assert_close(model(rows, at).states, judged, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("option", "value"), [("layers", 0), ("state_size", 6), ("positions", "x")])
def test_bad_options_are_named(option: str, value: object) -> None:
    with pytest.raises(InvalidOption, match=option):
        model_of(gappy_series(), **{option: value})
