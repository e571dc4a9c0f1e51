"""What every backbone of the registry keeps, whatever it is made of."""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from denots.backbones import BACKBONES, Backbone
from denots.backbones.denots import READ_THEN
from denots.data import SeriesSet
from denots.data.hide import hide_for_forecasting
from denots.training.config import TrainConfig
from denots.training.examples import Examples
from denots.training.fit import fit
from denots.training.model import run_model

from models import calibrated, make_model
from oracles import gappy_series

READ_AS_PUBLISHED = {**READ_THEN, "presence": False}
PUBLISHED = {**READ_AS_PUBLISHED, "normalise": "batch"}
LEARNERS = [name for name in BACKBONES if name not in {"constant", "last-value"}]
INDEX_ONLY = {"time_differences": False, "positions": "index", "rotary": "embedding"}
CASES = [
    *((name, {}) for name in BACKBONES),
    *((name, {"layers": 2, "residual": False, **INDEX_ONLY}) for name in LEARNERS if name != "denots"),
    *((name, {"time_differences": False}) for name in LEARNERS),
    *((name, {"presence": True, "holes": "zero", "inflate": 2}) for name in LEARNERS),
]


def options_of(name: str, wanted: dict) -> dict:
    """Those options that a backbone has, and a state that suits all of them."""
    known = {option.name for option in fields(BACKBONES[name].Config)}
    return {key: value for key, value in {"state_size": 16, **wanted}.items() if key in known}


def build(name: str, wanted: dict, series: SeriesSet, seed: int = 0) -> Backbone:
    torch.manual_seed(seed)
    cls = BACKBONES[name]
    model = cls(cls.Config(**options_of(name, wanted)), len(series.channels), len(series.static_names))
    model.calibrate(series)
    return model.eval()


def with_static(series: SeriesSet) -> SeriesSet:
    static = np.random.default_rng(5).normal(size=(len(series), 2))
    return replace(series, static=static, static_names=("age", "weight"))


def queries(series: SeriesSet, count: int = 4) -> Tensor:
    spread = np.sort(np.random.default_rng(6).uniform(0.1, 1.4, (len(series), count)), axis=1)
    return torch.from_numpy(series.ends[:, None] * spread)


def each(cases: list[tuple[str, dict]]):
    names = [f"{name}-{i}" for i, (name, _) in enumerate(cases)]
    return pytest.mark.parametrize(("name", "options"), cases, ids=names)


each_case, each_learner = each(CASES), each([case for case in CASES if case[0] in LEARNERS])


@pytest.mark.usefixtures("double")
@each_case
def test_a_series_does_not_depend_on_batch_mates_or_padding(name: str, options: dict) -> None:
    series = with_static(gappy_series())
    model, at = build(name, options, series), queries(series)
    inputs = model.prepare(series)
    for asked in (None, at):
        together = model(inputs, asked).states
        for row in range(len(series)):
            own = None if asked is None else asked[row : row + 1]
            for alone in (model.prepare(series.select([row])), inputs.select(torch.tensor([row]))):
                torch.testing.assert_close(model(alone, own).states[0], together[row], rtol=1e-6, atol=1e-6)


@pytest.mark.usefixtures("double")
@each_case
def test_filling_up_questions_with_the_latest_time_changes_no_answer(name: str, options: dict) -> None:
    series = gappy_series()
    model, at = build(name, options, series), queries(series)
    at[:, -1] = 1.5 * torch.from_numpy(series.ends)
    longer = torch.cat([at, at[:, -1:].expand(-1, 3)], dim=1)
    inputs = model.prepare(series)
    torch.testing.assert_close(model(inputs, longer).states[:, :4], model(inputs, at).states, rtol=1e-6, atol=1e-6)


@pytest.mark.usefixtures("double")
@each_case
def test_the_order_of_questions_is_the_order_of_answers(name: str, options: dict) -> None:
    series = gappy_series()
    model, at = build(name, options, series), queries(series)
    inputs = model.prepare(series)
    torch.testing.assert_close(model(inputs, at.flip(1)).states.flip(1), model(inputs, at).states, rtol=1e-6, atol=1e-6)


@pytest.mark.usefixtures("double")
@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "neural-rde"])  # areas change sign
def test_channels_may_be_permuted_with_the_weights(name: str) -> None:
    series = gappy_series(lengths=(1, 2, 3, 7), channels=13, missing=0.6)
    model = build(name, READ_AS_PUBLISHED, series)
    order = np.random.default_rng(7).permutation(13)
    other = replace(series, values=series.values[:, order])
    same = build(name, READ_AS_PUBLISHED, other, seed=1)
    same.load_state_dict({**same.state_dict(), **{n: permuted(p, order) for n, p in model.named_parameters()}})
    own = getattr(model, "states", model.state_size)  # beside them some show the row, which is permuted itself
    states = model(model.prepare(series)).states[..., :own]
    # Sums in another order round otherwise, and steps of an ODE end a little elsewhere.
    torch.testing.assert_close(same(same.prepare(other)).states[..., :own], states, rtol=0, atol=1e-4)
    same.load_state_dict({**same.state_dict(), **dict(model.named_parameters())})
    assert not torch.allclose(same(same.prepare(other)).states[..., :own], states, atol=1e-3)


def permuted(parameter: Tensor, order: np.ndarray) -> Tensor:
    """Follow the channels on every axis that counts them, with or without a time channel as the last."""
    n = len(order)
    for axis, size in enumerate(parameter.shape):
        if size == 3 * n + 1:  # values, presence, ages, time
            threefold = np.concatenate([order, n + order, 2 * n + order, [3 * n]])
            parameter = parameter.index_select(axis, torch.from_numpy(threefold))
            continue
        for width in (len(order), len(order) + 1):
            if size % width == 0:
                whole = torch.arange(size).reshape(-1, width)
                picked = torch.from_numpy(np.append(order, np.arange(len(order), width)))
                parameter = parameter.index_select(axis, whole[:, picked].flatten())
    return parameter.detach()


@pytest.mark.usefixtures("double")
@each_case
def test_states_change_with_the_time_stamps_if_and_only_if_the_backbone_says_so(name: str, options: dict) -> None:
    series = gappy_series(lengths=(3, 7, 20), missing=0.0)
    model = build(name, options, series)
    bent = replace(series, times=series.times**1.3)
    change = (model(model.prepare(bent)).states - model(model.prepare(series)).states).abs().amax(dim=(1, 2))
    assert (change > 1e-5).all() if model.reads_time else (change == 0).all()


def test_both_kinds_of_reading_time_are_tested() -> None:
    said = {build(name, options, gappy_series()).reads_time for name, options in CASES}
    assert said == {True, False}


@pytest.mark.usefixtures("double")
@each_learner
def test_gradients_reach_every_parameter(name: str, options: dict) -> None:
    series = with_static(gappy_series())
    model = build(name, {**options, "normalise": "batch"}, series).train()
    inputs = model.prepare(series)
    for states in (model(inputs).states, model(inputs, queries(series)).states):
        model.zero_grad()
        (states * torch.randn_like(states)).sum().backward()
        for parameter_name, parameter in model.named_parameters():
            assert parameter.grad is not None, parameter_name
            assert parameter.grad.isfinite().all(), parameter_name
            assert parameter.grad.abs().max() > 0, parameter_name


@each_case
def test_saved_weights_give_the_same_bits(name: str, options: dict, tmp_path: Path) -> None:
    series = with_static(gappy_series())
    model = build(name, {**options, "normalise": "batch"}, series).train()
    model(model.prepare(series))  # moves running statistics
    model.eval()
    save_file(model.state_dict(), tmp_path / "weights.safetensors")
    torch.manual_seed(99)
    cls = BACKBONES[name]
    restored = cls(cls.Config(**options_of(name, {**options, "normalise": "batch"})), 3, 2)
    restored.load_state_dict(load_file(tmp_path / "weights.safetensors"))
    restored.eval()
    for at in (None, queries(series)):
        assert torch.equal(restored(restored.prepare(series), at).states, model(model.prepare(series), at).states)


@each_case
def test_one_observation_and_a_channel_never_seen_are_legal(name: str, options: dict) -> None:
    series = gappy_series(lengths=(1, 4, 6))
    model = build(name, options, series)
    blind = replace(series, values=np.where([True, True, False], series.values, np.nan))
    blind.values[blind.offsets[:-1], 0] = 1.0
    for known in (series, blind):
        for at in (None, queries(series)):
            encoded = model(model.prepare(known), at)
            assert encoded.ok.all()
            assert encoded.states.isfinite().all()
            assert encoded.states.shape == ((3, 1, model.summary_size) if at is None else (3, 4, model.state_size))
    taught = build(name, options, blind)
    assert taught(taught.prepare(blind)).states.isfinite().all()
    lonely = SeriesSet.from_arrays([[2.0]], [[[1.0, np.nan, 3.0]]])
    single = build(name, options, lonely)
    assert single(single.prepare(lonely)).states.isfinite().all()


@pytest.mark.parametrize("task", ["regression", "binary", "multiclass", "forecast"])
@pytest.mark.parametrize("name", BACKBONES)
def test_every_task_trains_two_epochs(name: str, task: str) -> None:
    series = with_static(gappy_series(lengths=tuple(range(4, 16)), missing=0.2))
    at, outputs = None, {"binary": 1, "multiclass": 3}.get(task, 3)
    if task == "forecast":
        hidden = hide_for_forecasting(series)
        series, at, target = hidden.visible, torch.from_numpy(hidden.at), torch.from_numpy(hidden.target)
    elif task == "regression":
        target = torch.randn(len(series), 3, dtype=torch.float64)
    else:
        target = torch.arange(len(series)) % (2 if task == "binary" else 3)
    options = options_of(name, PUBLISHED)
    model = make_model(name, options, task, 3, 2, outputs, seed=0)
    before = {key: value.clone() for key, value in model.named_parameters()}
    calibrated(model, series, target, at)
    examples = Examples(model.backbone.prepare(series), target, at)
    config = TrainConfig(learning_rate=1e-2, batch_size=5, batches_per_epoch=3, max_epochs=2)
    history = fit(model, examples, examples, config)
    assert len(history.rows) == 2
    assert all(np.isfinite(row["loss"]) and row["failures"] == 0 for row in history.rows)
    assert run_model(model, examples.inputs, at).ok.all()
    moved = [not torch.equal(value, before[key]) for key, value in model.named_parameters()]
    assert all(moved) if name in LEARNERS else any(moved)


COUNTS = {
    "denots": (3552, 3648, 3456, 339_264),
    "gru": (3552, 3648, 3456, 339_264),
    "rnn": (32 * 3 + 1088, 32 * 4 + 1088, 32 * 2 + 1088, 32 * 3500 + 1088),
    "mamba2": (8120, 8152, 8088, 367_776),
    "roformer": (137_664, 137_696, 137_632, 662_080),
    "tempformer": (137_664, 137_696, 137_632, 662_080),
}


@pytest.mark.parametrize("name", COUNTS)
def test_parameters_are_as_many_as_published(name: str) -> None:
    layers = {"mamba2": 32}.get(name, 4)
    published = {**READ_AS_PUBLISHED, "state_size": 32, "feed_forward": 2048, "residual": False}
    sets = [(2, 0, {}), (3, 0, {}), (1, 0, {}), (34, 5, {"inflate": 100, "layers": layers})]
    for (channels, static, extra), count in zip(sets, COUNTS[name], strict=True):
        options = options_of(name, {**published, "layers": 1, **extra})
        model = make_model(name, options, "binary", channels, static, 1)
        assert model.backbone.core_parameters == count


@pytest.mark.parametrize(("channels", "extra"), [(34, {"inflate": 100, "layers": 4}), (60, {})])
@pytest.mark.parametrize("name", ["tempformer", "roformer"])
def test_transformers_can_be_as_large_as_denots(name: str, channels: int, extra: dict) -> None:
    sizes = []
    for one in (name, "denots"):
        options = options_of(one, {**READ_AS_PUBLISHED, "state_size": 32, **extra})
        sizes.append(make_model(one, options, "binary", channels, 0, 1).backbone.core_parameters)
    assert sizes[0] == pytest.approx(sizes[1], rel=0.03)
