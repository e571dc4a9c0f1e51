"""Transformers, judged by torch.nn.TransformerEncoderLayer on the padded sequence, and by loops in numpy."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from denots.backbones import RoFormer, TempFormer
from denots.backbones.positions import rotate
from denots.backbones.rows import Timeline
from denots.backbones.transformer import Transformer
from denots.data import SeriesSet
from denots.errors import InvalidOption

from oracles import gappy_series

pytestmark = pytest.mark.usefixtures("double")
SIZE, HEADS = 16, 8
KINDS = {
    "tempformer-time": (TempFormer, {"positions": "time"}),
    "tempformer-index": (TempFormer, {"positions": "index"}),
    "roformer-embedding": (RoFormer, {"rotary": "embedding"}),
    "roformer-attention": (RoFormer, {"rotary": "attention"}),
}
FLAT = [kind for kind in KINDS if kind != "roformer-attention"]


def backbone(kind: str, series: SeriesSet, **options) -> Transformer:
    cls, chosen = KINDS[kind]
    static = 0 if series.static is None else series.static.shape[1]
    model = cls(cls.Config(**{"state_size": SIZE, "feed_forward": 24, **chosen, **options}), 3, static)
    model.calibrate(series)
    for module in model.modules():  # judged in training mode, where torch takes no fused path
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if isinstance(module, nn.MultiheadAttention):
            module.dropout = 0.0
    return model


def located(kind: str, token: Tensor, position: float) -> Tensor:
    """One token with its position, written out feature by feature."""
    out = token.clone()
    if kind.startswith("tempformer"):
        for j in range(SIZE):
            angle = position * 10_000.0 ** (-(j - j % 2) / SIZE)
            out[j] = token[j] + (np.cos(angle) if j % 2 else np.sin(angle))
        return out
    width = SIZE // HEADS
    pairs = torch.view_as_complex(token.reshape(HEADS, width // 2, 2))
    turns = torch.tensor([10_000.0 ** (-2 * i / width) for i in range(width // 2)]) * position
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(turns), turns)).flatten()


def judged(kind: str, model: Transformer, series: SeriesSet, at: Tensor | None) -> Tensor:
    """Asked tokens and rows in one sequence through torch's own layers; asked tokens are masked as keys."""
    rows = model.prepare(series)
    gaps = np.concatenate([np.diff(one.times) for one in series])
    answers = []
    for i, one in enumerate(series):
        packed = slice(rows.offsets[i], rows.offsets[i + 1])
        raw = model.read(rows.values[packed])
        question = model.question + model.static_state(rows)[i]
        asked_times = [] if at is None else at[i].tolist()
        times = np.concatenate([one.times, asked_times])
        place = np.argsort(np.argsort(times, kind="stable")) + (kind.startswith("roformer"))
        positions = times / gaps.mean() if kind.endswith("time") else place
        tokens = [
            located(kind, token, positions[j]) for j, token in enumerate([*raw, *([question] * len(asked_times))])
        ]
        asked = tokens[len(raw) :] or [question]
        x = torch.stack([*asked, *tokens[: len(raw)], torch.full((SIZE,), 1e3)])[None]  # the last is padding
        hidden = torch.tensor([True] * len(asked) + [False] * len(raw) + [True])[None]
        for layer in model.layers:
            x = layer(x, src_key_padding_mask=hidden)
        answers.append(x[0, : len(asked)])
    return torch.stack(answers)


@pytest.mark.parametrize("queries", [False, True], ids=["whole", "queries"])
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("kind", FLAT)
def test_values_and_gradients_are_those_of_torch_layers(kind: str, layers: int, queries: bool) -> None:
    series = replace(
        gappy_series((1, 2, 7, 12)), static=np.random.default_rng(3).normal(size=(4, 2)), static_names=("a", "b")
    )
    model = backbone(kind, series, layers=layers, presence=True)
    at = torch.from_numpy(np.random.default_rng(4).uniform(0.0, 7.0, (4, 5))) if queries else None
    found, gradients = [], []
    for encode in (lambda: model(model.prepare(series), at).states, lambda: judged(kind, model, series, at)):
        model.zero_grad()
        found.append(encode())
        (found[-1] * torch.linspace(-1, 1, found[-1].numel()).reshape(found[-1].shape)).sum().backward()
        gradients.append({name: p.grad.clone() for name, p in model.named_parameters()})
    torch.testing.assert_close(found[0], found[1], rtol=1e-9, atol=1e-9)
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradient, gradients[1][name], rtol=1e-8, atol=1e-8, msg=name)


def test_attention_that_does_not_rotate_is_that_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    series = gappy_series((1, 2, 7, 12))
    model = backbone("roformer-attention", series, layers=2)
    turned = model(model.prepare(series)).states
    monkeypatch.setattr(RoFormer, "turn", lambda self, positions: None)
    straight = model(model.prepare(series)).states
    rows = model.prepare(series)
    for i in range(len(series)):
        tokens = model.read(rows.values[rows.offsets[i] : rows.offsets[i + 1]])
        x = torch.cat([model.question[None], tokens])[None]
        for layer in model.layers:
            x = layer(x, src_key_padding_mask=torch.arange(x.shape[1])[None] == 0)
        torch.testing.assert_close(straight[i, 0], x[0, 0], rtol=1e-9, atol=1e-9)
    assert not torch.allclose(turned[1:], straight[1:], atol=1e-4)


def test_rotated_attention_is_a_sum_over_complex_products() -> None:
    series = gappy_series((6,))
    model = backbone("roformer-attention", series)
    rows = model.prepare(series)
    layer, width = model.layers[0], SIZE // HEADS
    tokens = model.read(rows.values)
    w, b = layer.self_attn.in_proj_weight, layer.self_attn.in_proj_bias
    q = w[:SIZE] @ model.question + b[:SIZE]
    k, v = (tokens @ w[s].T + b[s] for s in (slice(SIZE, 2 * SIZE), slice(2 * SIZE, None)))
    positions = torch.from_numpy(series.times / np.diff(series.times).mean())
    heads = []
    for h in range(HEADS):
        part = slice(h * width, (h + 1) * width)
        ask = torch.view_as_complex(q[part].reshape(-1, 2))
        scores = []
        for j, position in enumerate(positions):
            key = torch.view_as_complex(k[j, part].reshape(-1, 2).contiguous())
            speed = torch.tensor([10_000.0 ** (-2 * i / width) for i in range(len(key))])
            scores.append((ask.conj() * key * torch.polar(torch.ones_like(speed), speed * position)).real.sum())
        heads.append(torch.softmax(torch.stack(scores) / width**0.5, dim=0) @ v[:, part])
    x = layer.norm1(model.question + layer.self_attn.out_proj(torch.cat(heads)))
    x = layer.norm2(x + layer.linear2(nn.functional.gelu(layer.linear1(x))))
    torch.testing.assert_close(model(rows).states[0, 0], x, rtol=1e-9, atol=1e-9)


def test_rotated_attention_sees_time_differences_only() -> None:
    series = gappy_series((3, 8))
    model = backbone("roformer-attention", series, time_differences=False, layers=2)
    at = torch.tensor([[1.0, 6.0], [2.0, 3.0]], dtype=torch.float64)
    later = replace(series, times=series.times + 5.0)
    torch.testing.assert_close(
        model(model.prepare(later), at + 5.0).states, model(model.prepare(series), at).states, rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("kind", [k for k in KINDS if not k.endswith(("index", "embedding"))])
def test_an_answer_does_not_depend_on_what_else_is_asked(kind: str) -> None:
    series = gappy_series((3, 8))
    model = backbone(kind, series, layers=2)
    rows, at = model.prepare(series), torch.tensor([[1.0, 6.0, 6.0], [2.0, 3.0, 9.0]], dtype=torch.float64)
    together = model(rows, at).states
    for j in range(3):
        torch.testing.assert_close(model(rows, at[:, j : j + 1]).states[:, 0], together[:, j], rtol=1e-9, atol=1e-9)


def test_time_and_index_agree_on_a_regular_grid() -> None:
    series = SeriesSet.from_numpy(np.random.default_rng(0).normal(size=(4, 3, 9)), np.arange(9) * 0.25)
    states = []
    for kind in ("tempformer-time", "tempformer-index"):
        torch.manual_seed(1)
        model = backbone(kind, series)
        states.append(model(model.prepare(series)).states)
    torch.testing.assert_close(*states, rtol=1e-9, atol=1e-9)


def test_queries_stand_between_the_rows_in_time_order() -> None:
    series = SeriesSet.from_arrays([[0.0, 2.0, 4.0], [1.0]], [[[1.0]] * 3, [[1.0]]], start=0.0)
    model = TempFormer(TempFormer.Config(state_size=16), 1)
    at = torch.tensor([[3.0, 4.0], [0.5, 9.0]], dtype=torch.float64)
    line = Timeline.of(model.prepare(series), at)
    assert line.answers.tolist() == [[2, 4], [0, 2]]
    assert line.row.tolist() == [[0, 1, 1, 2, 2], [3, 3, 3, 3, 3]]
    assert line.times[0].tolist() == [0.0, 2.0, 3.0, 4.0, 4.0]
    assert line.real.tolist() == [[True] * 5, [True] * 3 + [False] * 2]


def test_rotation_keeps_lengths() -> None:
    x = torch.randn(3, 6)
    turned = rotate(x, torch.randn(3, 3, dtype=torch.float64))
    torch.testing.assert_close(turned.square().sum(-1), x.square().sum(-1))


@pytest.mark.parametrize(
    ("option", "value"), [("layers", 0), ("feed_forward", 0), ("state_size", 12), ("positions", "x"), ("rotary", "x")]
)
def test_bad_options_are_named(option: str, value: object) -> None:
    kind = "roformer-attention" if option == "rotary" else "tempformer-time"
    with pytest.raises(InvalidOption, match=option):
        backbone(kind, gappy_series(), **{option: value})
