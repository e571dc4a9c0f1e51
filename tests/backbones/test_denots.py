"""The backbone: folding is exact, batches do not matter, time is scaled as stated."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from denots.backbones import DeNOTS
from denots.data import SeriesSet
from denots.data.transforms import append_ages
from denots.errors import InvalidOption, UnknownName
from denots.inference.denots_config import DeNOTSConfig
from denots.ode import solve

from oracles import gappy_series, natural_spline

pytestmark = pytest.mark.usefixtures("double")


def backbone(series: SeriesSet, **options) -> DeNOTS:
    static = 0 if series.static is None else series.static.shape[1]
    plain = {"state_size": 4, "depth": 2.0, "slopes": False, "presence": False, "ages": False, "readout": "last"}
    model = DeNOTS(DeNOTSConfig(**{**plain, **options}), len(series.channels), static)
    model.calibrate(series)
    return model


class DenseSpline:
    """A natural spline of one series by dense linear algebra, differentiable in the data."""

    def __init__(self, times: Tensor, table: Tensor) -> None:
        self.values, self.t0, self.t1 = table, torch.zeros(1), times[-1:]
        self.columns = [self._fit(times[~x.isnan()], x[~x.isnan()]) for x in table.T]

    def __len__(self) -> int:
        return 1

    @staticmethod
    def _fit(t: Tensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        n = len(t)
        if n < 2:
            return t, x, torch.zeros(n)
        w, rise = 1 / t.diff(), x.diff()
        matrix, load = torch.zeros(n, n), torch.zeros(n)
        for j in range(n - 1):
            matrix[j : j + 2, j : j + 2] += w[j] * torch.tensor([[2.0, 1.0], [1.0, 2.0]])
            load = load + torch.nn.functional.one_hot(torch.tensor([j, j + 1]), n).sum(0) * 3 * rise[j] * w[j] ** 2
        return t, x, torch.linalg.solve(matrix, load)

    def value(self, t: Tensor, rows: Tensor) -> Tensor:
        return torch.stack([self._at(float(t[0]), *column) for column in self.columns])[None]

    @staticmethod
    def _at(t: float, knots: Tensor, x: Tensor, k: Tensor) -> Tensor:
        if len(knots) < 2:
            return x[0] if len(knots) else torch.zeros(())
        if t <= knots[0] or t >= knots[-1]:
            return x[0] if t <= knots[0] else x[-1]
        j = int(torch.searchsorted(knots, t, right=True)) - 1
        h = knots[j + 1] - knots[j]
        u = (t - knots[j]) / h
        ends = (1 + 2 * u) * (1 - u) ** 2 * x[j] + u**2 * (3 - 2 * u) * x[j + 1]
        return ends + h * u * (1 - u) * ((1 - u) * k[j] - u * k[j + 1])


def embed_first(model: DeNOTS, series: SeriesSet) -> Tensor:
    """States computed the long way: embed every observation, then interpolate, then solve."""
    factor = model.config.depth / np.median(series.ends - series.start)
    since = [np.diff(one.times, prepend=one.times[0]) * factor / model.config.depth for one in series]
    seen = [~np.isnan(series.values)] if model.config.presence else []
    table = np.concatenate([series.values, *seen, np.concatenate(since)[:, None]], axis=1)
    x = torch.from_numpy((table - np.nanmean(table, axis=0)) / np.nanstd(table, axis=0))
    if model.config.normalise == "batch":
        x = torch.stack([_batch_norm(x[:, c], model, c) for c in range(x.shape[1])], dim=1)
    if model.config.inflate > 1:
        inflated = x.nan_to_num()[:, :, None] * model.embedding.weight + model.embedding.bias
        x = inflated.where(~x.isnan()[:, :, None], torch.nan).flatten(1)
    if model.config.holes == "zero":
        x = x.nan_to_num()
    states = []
    for row, one in enumerate(series):
        rows = slice(series.offsets[row], series.offsets[row + 1])
        path = DenseSpline(torch.from_numpy(one.times * factor), x[rows])
        solving = {**model.config.solving(model.coarse), "backend": "reference"}
        found = solve(model.field, path, torch.zeros(1, 4), **solving)
        states.append(found.states[0])
    return torch.stack(states)


def _batch_norm(x: Tensor, model: DeNOTS, c: int) -> Tensor:
    seen = ~x.isnan()
    gain, shift = model.embedding.gain[c : c + 1], model.embedding.shift[c : c + 1]
    normed = nn.functional.batch_norm(x[seen, None], None, None, gain, shift, training=True)[:, 0]
    return torch.full_like(x, torch.nan).masked_scatter(seen, normed)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"normalise": "batch"},
        {"normalise": "batch", "inflate": 3},
        {"inflate": 2, "field": "tanh"},
        {"presence": True},
        {"normalise": "batch", "inflate": 3, "holes": "zero"},
    ],
)
def test_the_folded_embedding_equals_embedding_first_in_values_and_gradients(options) -> None:
    series = gappy_series(lengths=(3, 6, 5), channels=2, missing=0.5, seed=8)
    model = backbone(series, **options)
    with torch.no_grad():
        for parameter in model.embedding.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    model.train()
    weights = torch.randn(3, 1, 4)
    gradients = []
    states = []
    for encode in (lambda: model(model.prepare(series)).states, lambda: embed_first(model, series)):
        model.zero_grad()
        with model.in_training():
            states.append(encode())
        (states[-1] * weights).sum().backward()
        gradients.append({name: p.grad.clone() for name, p in model.named_parameters()})
    torch.testing.assert_close(states[0], states[1], rtol=1e-6, atol=1e-8)
    for name, gradient in gradients[0].items():
        assert gradient.abs().max() > 0, name
        torch.testing.assert_close(
            gradient, gradients[1][name], rtol=1e-6, atol=1e-8, msg=lambda m, n=name: f"{n}: {m}"
        )


def test_batch_normalisation_keeps_running_statistics_like_torchs() -> None:
    series = gappy_series(lengths=(20, 30), channels=2, missing=0.3)
    model = backbone(series, normalise="batch", time_differences=False)
    inputs = model.prepare(series)
    model.train()
    model(inputs)
    x = (series.values - np.nanmean(series.values, axis=0)) / np.nanstd(series.values, axis=0)
    for c in range(2):
        layer = nn.BatchNorm1d(1)
        layer(torch.from_numpy(x[~np.isnan(x[:, c]), c])[:, None])
        torch.testing.assert_close(model.embedding.running_mean[c], layer.running_mean[0])
        torch.testing.assert_close(model.embedding.running_var[c], layer.running_var[0])
    before = model.embedding.running_mean.clone()
    model.eval()
    model(inputs)
    assert torch.equal(model.embedding.running_mean, before)


@pytest.mark.parametrize("initial", ["zero", "first"])
def test_a_series_is_encoded_alike_alone_and_in_any_batch(initial: str) -> None:
    series = gappy_series()
    model = backbone(series, initial=initial).eval()
    together = model(model.prepare(series)).states
    for row in range(len(series)):
        alone = model(model.prepare(series.select([row]))).states
        torch.testing.assert_close(alone[0], together[row], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("path", ["natural-cubic", "causal-hermite", "linear", "rectilinear"])
def test_the_state_can_start_from_a_map_of_the_first_values(path: str) -> None:
    series = gappy_series(lengths=(5, 9, 4), missing=0.0)
    model = backbone(series, initial="first", path=path, time_differences=False).eval()
    first = series.values[series.offsets[:-1]]
    known = model.from_first(torch.from_numpy((first - series.values.mean(axis=0)) / series.values.std(axis=0)))
    inputs = model.prepare(series)
    at_once = model(inputs, torch.from_numpy(series.times[series.offsets[:-1]])[:, None])
    torch.testing.assert_close(at_once.states[:, 0], known, rtol=1e-12, atol=1e-12)


def test_time_is_scaled_by_depth_over_the_median_span() -> None:
    series = gappy_series(lengths=(5, 9, 4))
    model = backbone(series, depth=7.0)
    assert model.intake.time_scale.item() == np.median(series.ends)
    torch.testing.assert_close(
        model.prepare(series).path.t1, torch.from_numpy(series.ends * 7.0 / np.median(series.ends))
    )
    assert (model.prepare(series).path.t0 == 0).all()


def test_the_unit_of_time_and_of_the_channels_does_not_matter() -> None:
    series = gappy_series(lengths=(5, 9, 4))
    other = SeriesSet.from_arrays(
        [one.times * 3600 + 1e9 for one in series], [one.values * 1e3 - 7e4 for one in series], start=1e9
    )
    torch.manual_seed(1)
    model = backbone(series)
    torch.manual_seed(1)
    rescaled = backbone(other)
    torch.testing.assert_close(
        rescaled(rescaled.prepare(other)).states, model(model.prepare(series)).states, rtol=1e-4, atol=1e-4
    )


def test_query_times_are_on_the_clock_of_the_series() -> None:
    series = gappy_series(lengths=(5, 9))
    model = backbone(series).eval()
    inputs = model.prepare(series)
    end = torch.from_numpy(series.ends)[:, None]
    torch.testing.assert_close(model(inputs, end).states, model(inputs).states, rtol=1e-12, atol=1e-12)
    both = model(inputs, torch.cat([end, 0.5 * end], dim=1)).states
    torch.testing.assert_close(both[:, 0], model(inputs).states[:, 0])


def test_static_features_set_the_initial_state_and_unknown_ones_take_the_mean() -> None:
    base = gappy_series(lengths=(4, 4, 4))
    series = replace(base, static=np.array([[1.0], [3.0], [np.nan]]), static_names=("age",))
    model = backbone(series).eval()
    inputs = model.prepare(series)
    assert inputs.static.tolist() == [[-1.0], [1.0], [0.0]]
    changed = replace(series, static=np.array([[2.0], [3.0], [2.0]]))
    states, others = model(inputs).states, model(model.prepare(changed)).states
    assert not torch.allclose(states[0], others[0])
    assert torch.equal(states[1:], others[1:])


def test_slopes_are_read_beside_the_values_whatever_the_embedding() -> None:
    series = gappy_series(lengths=(6, 9), channels=2, missing=0.3)
    plain = backbone(series, slopes=True).eval()
    found = plain.prepare(series).path
    own = backbone(series, slopes=False).prepare(series).path
    times = torch.linspace(0.3, 1.2, 2)
    torch.testing.assert_close(found.value(times)[:, :3], own.value(times))
    torch.testing.assert_close(found.value(times)[:, 3:] * plain.slope_scale, own.derivative(times)[:, :2])
    inflated = backbone(series, slopes=True, inflate=2).eval()
    with torch.no_grad():  # two features that add up to the channel, so that nothing has changed
        inflated.embedding.weight.fill_(0.5)
        inflated.embedding.bias.zero_()
        inflated.field.load_state_dict(
            {
                name: torch.cat([value[:, :3].repeat_interleave(2, dim=1), value[:, 3:]], dim=1)
                if name == "weight_ih"
                else value
                for name, value in plain.field.state_dict().items()
            }
        )
    states = [model(model.prepare(series)).states for model in (plain, inflated)]
    torch.testing.assert_close(*states)


def test_a_pooled_readout_is_the_last_the_mean_and_the_largest_of_sixteen_states() -> None:
    series = gappy_series(lengths=(6, 9), channels=2)
    model = backbone(series, readout="pooled").eval()
    inputs = model.prepare(series)
    shares = torch.arange(1, 17) / 16
    at = torch.from_numpy(series.start)[:, None] + torch.from_numpy(series.spans)[:, None] * shares
    states = model(inputs, at).states
    expected = torch.cat([states[:, -1], states.mean(dim=1), states.max(dim=1).values], dim=1)
    torch.testing.assert_close(model(inputs).states[:, 0], expected)
    assert model.summary_size == expected.shape[1]


def test_presence_and_ages_are_settled_by_holes_in_the_training_split() -> None:
    for share, expected in ((0.0, (False, False)), (0.2, (True, False)), (0.8, (True, True))):
        series = gappy_series(lengths=(60, 90), channels=2, missing=share)
        settled = DeNOTS.settled(DeNOTSConfig(), series)
        assert (settled.presence, settled.ages) == expected
        assert DeNOTS.settled(DeNOTSConfig(presence=False), series).presence is False


def test_ages_count_from_the_last_observation_before() -> None:
    nan = np.nan
    series = SeriesSet.from_arrays(
        [[1.0, 2.0, 4.0, 7.0]], [np.array([[nan, 5.0], [3.0, nan], [nan, nan], [1.0, 2.0]])], start=0.0
    )
    ages = append_ages(series, 2).values[:, 2:]
    np.testing.assert_array_equal(ages, [[1, 1], [2, 1], [2, 3], [5, 6]])


def test_a_channel_never_observed_in_training_is_legal() -> None:
    series = gappy_series(lengths=(4, 4))
    blind = replace(series, values=np.where([True, True, False], series.values, np.nan))
    blind.values[series.offsets[:-1], 0] = 1.0
    model = backbone(blind)
    assert model(model.prepare(blind)).states.isfinite().all()
    assert model(model.prepare(series)).states.isfinite().all()


def test_the_prepared_path_is_scipys_spline_of_the_standardised_series() -> None:
    series = gappy_series(lengths=(12,), channels=1, missing=0.3)
    model = backbone(series, depth=1.0, time_differences=False)
    x = (series.values[:, 0] - np.nanmean(series.values)) / np.nanstd(series.values)
    times = np.linspace(0, 1, 50)
    found = model.prepare(series).path.value(torch.from_numpy(times), torch.zeros(50, dtype=torch.int64))
    np.testing.assert_allclose(found[:, 0], natural_spline(series.times / series.ends[0], x)(times), atol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 0.0}, "depth"),
        ({"tolerance": -1e-3}, "tolerance"),
        ({"state_size": 0}, "state_size"),
        ({"normalise": "layer"}, "normalise"),
        ({"initial": "last"}, "initial"),
    ],
)
def test_bad_options_are_named(options, message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        DeNOTS(DeNOTSConfig(**options), 2)


def test_unknown_fields_and_paths_offer_the_nearest() -> None:
    with pytest.raises(UnknownName, match="'anti'"):
        DeNOTS(DeNOTSConfig(field="ante"), 2)
    with pytest.raises(UnknownName, match="natural-cubic"):
        DeNOTS(DeNOTSConfig(path="natural"), 3)
