"""What Neural CDE, Neural RDE and Latent ODE have in common, whatever they compute."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from denots.backbones import BACKBONES, Backbone
from denots.data import SeriesSet
from denots.datasets import Dataset, Splits
from denots.errors import InvalidOption
from denots.runs.run import read_problem, run
from denots.runs.spec import BackboneSpec, DatasetSpec, RunSpec
from denots.training.config import TrainConfig
from denots.training.examples import Examples
from denots.training.fit import fit

from models import make_model
from oracles import gappy_series

SYSTEMS = ("neural-cde", "neural-rde", "latent-ode")
VARIANTS = [
    ("neural-cde", {}),
    ("neural-cde", {"clock": "index", "presence": True}),
    ("neural-cde", {"beyond": "decode"}),
    ("neural-rde", {"windows": 3}),
    ("neural-rde", {"clock": "index", "windows": 3}),
    ("latent-ode", {}),
    ("latent-ode", {"encoder": "dopri5", "presence": True, "holes": "zero"}),
]
SHORT = TrainConfig(learning_rate=1e-2, batch_size=8, batches_per_epoch=2, max_epochs=2)
every_system = pytest.mark.parametrize("name", SYSTEMS)
every_variant = pytest.mark.parametrize(("name", "options"), VARIANTS, ids=lambda part: str(part))


def calm_series(lengths: tuple[int, ...], channels: int = 3) -> SeriesSet:
    """Series with holes but no two rows close together: splines through those swing until rounding shows."""
    wild, rng = gappy_series(lengths, channels, missing=0.3), np.random.default_rng(1)
    return SeriesSet.from_arrays(
        [rng.uniform(0.7, 1.3, n).cumsum() for n in lengths], [0.5 * one.values for one in wild], start=0.0
    )


def backbone(name: str, series: SeriesSet, **options) -> Backbone:
    static = 0 if series.static is None else series.static.shape[1]
    kind = BACKBONES[name]
    model = kind(kind.Config(**{"state_size": 4, "tolerance": 1e-4, **options}), len(series.channels), static)
    model.calibrate(series)
    return model.eval()


def queries(series: SeriesSet) -> torch.Tensor:
    """Before, between and beyond the observations."""
    first, end = series.times[series.offsets[:-1]], series.ends
    return torch.from_numpy(np.stack([0.5 * first, 0.5 * (first + end), end, 1.2 * end], axis=1))


@pytest.mark.usefixtures("double")
@every_variant
def test_a_series_is_encoded_alike_alone_and_in_any_batch(name: str, options) -> None:
    series = calm_series((1, 3, 7, 12))
    model, at = backbone(name, series, **options), queries(series)
    together = model(model.prepare(series), at)
    order = torch.tensor([2, 0, 3, 1])
    shuffled = model(model.prepare(series).select(order), at[order])
    # Matrix products round by the shape of the batch, and step sizes magnify that a little.
    torch.testing.assert_close(shuffled.states, together.states[order], rtol=1e-6, atol=1e-6)
    assert torch.equal(shuffled.evaluations, together.evaluations[order])
    for row in range(len(series)):
        alone = model(model.prepare(series.select([row])), at[row : row + 1]).states
        torch.testing.assert_close(alone[0], together.states[row], rtol=1e-6, atol=1e-6)


@pytest.mark.usefixtures("double")
@every_variant
def test_the_default_query_is_the_last_time_stamp(name: str, options) -> None:
    series = calm_series((1, 3, 7))
    model = backbone(name, series, **options)
    inputs = model.prepare(series)
    found = model(inputs, torch.from_numpy(series.ends[:, None])).states
    torch.testing.assert_close(found, model(inputs).states, rtol=1e-9, atol=1e-9)


@pytest.mark.usefixtures("double")
@every_variant
def test_gradients_are_finite_differences_and_reach_every_parameter(name: str, options) -> None:
    series = replace(calm_series((5, 4), channels=2), static=np.array([[0.0], [2.0]]), static_names=("age",))
    model = backbone(name, series, tolerance=1e-9, **options)
    inputs, at = model.prepare(series), queries(series)
    weights = torch.randn(2, 4, 4)

    def loss() -> torch.Tensor:
        return (model(inputs, at).states * weights).sum()

    loss().backward()
    assert all(p.grad is not None and p.grad.abs().max() > 0 for p in model.parameters())
    moves = [torch.randn_like(p) for p in model.parameters()]
    slope = sum(float((p.grad * move).sum()) for p, move in zip(model.parameters(), moves, strict=True))
    ends = []
    with torch.no_grad():
        for step in (1e-4, -2e-4):
            for p, move in zip(model.parameters(), moves, strict=True):
                p.add_(move, alpha=step)
            ends.append(float(loss()))
    # Across a kink of ReLU the gradient is less exact than the state: beside its length, not this share of it.
    length = sum(float(p.grad.square().sum()) for p in model.parameters()) ** 0.5
    assert slope == pytest.approx((ends[0] - ends[1]) / 2e-4, abs=1e-2 * length)


@every_system
def test_static_features_shift_the_states_of_their_series(name: str) -> None:
    base = gappy_series(lengths=(4, 4, 4))
    series = replace(base, static=np.array([[1.0], [3.0], [np.nan]]), static_names=("age",))
    model = backbone(name, series)
    changed = replace(series, static=np.array([[2.0], [3.0], [2.0]]))
    states, others = model(model.prepare(series)).states, model(model.prepare(changed)).states
    assert not torch.allclose(states[0], others[0])
    torch.testing.assert_close(states[1:], others[1:])  # what is unknown counts as the mean


@pytest.mark.parametrize("name", ["neural-cde", "neural-rde"])
def test_static_features_can_be_ignored_as_published(name: str) -> None:
    series = replace(gappy_series(lengths=(4, 4)), static=np.array([[1.0], [3.0]]), static_names=("age",))
    model = backbone(name, series, static=False)
    assert model.from_static is None
    changed = replace(series, static=series.static + 1)
    assert torch.equal(model(model.prepare(series)).states, model(model.prepare(changed)).states)


@every_system
@pytest.mark.parametrize("clock", ["time", "index"])
def test_one_observation_and_a_channel_never_observed_are_legal(name: str, clock: str) -> None:
    series = gappy_series(lengths=(1, 1, 5))
    blind = replace(series, values=np.where([True, True, False], series.values, np.nan))
    blind.values[series.offsets[:-1], 0] = 1.0
    options = {} if name == "latent-ode" else {"clock": clock}
    model = backbone(name, blind, **options)
    single = backbone(name, blind.select([0]), **options)
    for some in (blind, series):
        assert model(model.prepare(some), queries(some)).states.isfinite().all()
        assert single(single.prepare(some)).states.isfinite().all()


@every_variant
def test_states_depend_on_when_observations_were_made(name: str, options) -> None:
    series = calm_series((6, 9))
    model = backbone(name, series, **options)
    assert model.reads_time
    moved = series.times.copy()
    moved[2] = 0.5 * (moved[1] + moved[2])
    states, others = (model(model.prepare(one)).states for one in (series, replace(series, times=moved)))
    assert not torch.allclose(states[0], others[0], atol=1e-4)
    torch.testing.assert_close(states[1], others[1])


@every_variant
def test_a_model_survives_its_weights_being_saved(name: str, options) -> None:
    series = gappy_series(lengths=(6, 9))
    model, other = backbone(name, series, **options), backbone(name, series.select([1]), **options)
    other.load_state_dict(model.state_dict())
    at = queries(series)
    assert torch.equal(other(other.prepare(series), at).states, model(model.prepare(series), at).states)


@every_system
@pytest.mark.parametrize("dataset", [("sine-mix", 64), ("pendulum-angles", 24)])
def test_every_built_in_task_trains(name: str, dataset: tuple[str, int]) -> None:
    options = {"state_size": 4, **({} if name == "latent-ode" else {"beyond": "decode"})}
    record = run(RunSpec(DatasetSpec(dataset[0], size=dataset[1]), BackboneSpec(name, options), SHORT))
    assert record.status == "ok"
    assert len(record.curve) == 2
    assert all(np.isfinite(row["loss"]) for row in record.curve)


@every_system
def test_several_classes_are_told_apart(name: str) -> None:
    rng = np.random.default_rng(0)
    times = [np.sort(rng.uniform(0, 1, 6)) for _ in range(36)]
    values = [np.sin(6 * t + k % 3) for k, t in enumerate(times)]
    one = SeriesSet.from_arrays(times, values, target=np.array(["a", "b", "c"] * 12))
    problem = read_problem(Dataset("letters", "classification", Splits(one, one, one)))
    model = make_model(name, {"state_size": 8}, "multiclass", 1, 0, 3, seed=0)
    model.backbone.calibrate(one)
    examples = Examples(model.backbone.prepare(one), problem.train.target)
    config = TrainConfig(learning_rate=2e-2, batch_size=36, batches_per_epoch=6, max_epochs=4)
    losses = [row["loss"] for row in fit(model, examples, examples, config).rows]
    assert losses[-1] < min(0.9, losses[0])  # log(3) = 1.1 knows nothing


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("neural-cde", {"clock": "sun"}, "clock must be one of time, index"),
        ("neural-cde", {"beyond": "guess"}, "beyond"),
        ("neural-rde", {"windows": 0}, "windows"),
        ("neural-rde", {"tolerance": 0.0}, "tolerance"),
        ("latent-ode", {"encoder": "euler"}, "encoder"),
        ("latent-ode", {"state_size": 0}, "state_size"),
    ],
)
def test_bad_options_are_named(name: str, options, message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        BACKBONES[name](BACKBONES[name].Config(**options), 2)


@every_system
def test_foreign_inputs_are_refused(name: str) -> None:
    series = gappy_series(lengths=(4, 5))
    model, denots = backbone(name, series), BACKBONES["denots"](BACKBONES["denots"].Config(), 3)
    with pytest.raises(TypeError, match="its own prepare"):
        model(denots.prepare(series))


@pytest.mark.slow
@every_system
def test_long_series_train(name: str) -> None:
    record = run(RunSpec(DatasetSpec("bump", size=40), BackboneSpec(name, {"state_size": 4}), SHORT))
    assert record.status == "ok"
    assert len(record.curve) == 2
