"""RNN and GRU, judged by torch.nn cells stepped by hand over rows embedded one at a time."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from denots.backbones import BACKBONES, Backbone
from denots.data import SeriesSet
from denots.data.transforms import fill_with_neighbours
from denots.errors import InvalidOption

from oracles import gappy_series

pytestmark = pytest.mark.usefixtures("double")
CELLS = {"rnn": nn.RNNCell, "gru": nn.GRUCell}


def backbone(name: str, series: SeriesSet, **options) -> Backbone:
    static = 0 if series.static is None else series.static.shape[1]
    model = BACKBONES[name](BACKBONES[name].Config(**{"state_size": 4, **options}), len(series.channels), static)
    model.calibrate(series)
    return model


def merged(one, at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times and values of a series with empty rows at the queries, and the places of the queries."""
    times = np.concatenate([one.times, at])
    values = np.concatenate([one.values, np.full((len(at), one.values.shape[1]), np.nan)])
    order = np.argsort(times, kind="stable")
    return times[order], values[order], np.argsort(order)[len(one.times) :]


def widened(times: np.ndarray, values: np.ndarray, unit: float, presence: bool) -> np.ndarray:
    seen = [~np.isnan(values)] if presence else []
    return np.concatenate([values, *seen, np.diff(times, prepend=times[0])[:, None] / unit], axis=1)


def embedded(model: Backbone, table: np.ndarray, holes: str) -> Tensor:
    """Rows of one series embedded one value at a time, holes filled by loops."""
    weight, bias = model.embedding.weight, model.embedding.bias
    rows = torch.zeros(len(table), table.shape[1], weight.shape[1])
    for c in range(table.shape[1]):
        column = table[:, c].copy()
        if holes == "bridge":
            for direction in (column, column[::-1]):
                for i in range(1, len(column)):
                    if np.isnan(direction[i]):
                        direction[i] = direction[i - 1]
        for i, x in enumerate(column):
            if not np.isnan(x):
                rows[i, c] = weight[c] * x + bias[c]
    return rows.flatten(1)


def stepped(name: str, model: Backbone, series: SeriesSet, at: np.ndarray | None, holes: str) -> Tensor:
    """States by a cell that is called once for each row of each series."""
    cell = CELLS[name](model.core.input_size, 4)
    for own, other in zip(cell.parameters(), model.core.parameters(), strict=True):
        own.data = other.data
    cell = cell.requires_grad_(False)
    presence, unit = model.intake.presence, np.median(series.ends - series.start)
    plain = np.concatenate([widened(one.times, one.values, unit, presence) for one in series])
    centre, scale = np.nanmean(plain, axis=0), np.nanstd(plain, axis=0)
    answers = []
    for i, one in enumerate(series):
        times, values, places = merged(one, np.empty(0) if at is None else at[i])
        table = (widened(times, values, unit, presence) - centre) / scale
        h = torch.zeros(1, 4)
        if series.static is not None:
            static = (series.static[i] - series.static.mean(axis=0)) / series.static.std(axis=0)
            h = model.from_static(torch.from_numpy(static)[None])
        states = []
        for x in embedded(model, table, holes):
            h = cell(x[None], h)
            states.append(h[0])
        answers.append(torch.stack(states)[places if at is not None else [-1]])
    return torch.stack(answers)


@pytest.mark.parametrize("queries", [False, True], ids=["end", "queries"])
@pytest.mark.parametrize("options", [{}, {"presence": True}, {"holes": "zero", "presence": True}], ids=str)
@pytest.mark.parametrize("name", CELLS)
def test_states_are_those_of_a_torch_cell_stepped_by_hand(name: str, options: dict, queries: bool) -> None:
    series = replace(gappy_series(), static=np.random.default_rng(3).normal(size=(5, 2)), static_names=("a", "b"))
    at = np.random.default_rng(4).uniform(0.0, 7.0, (5, 6)) if queries else None
    model = backbone(name, series, inflate=3, **options).eval()
    with torch.no_grad():
        found = model(model.prepare(series), None if at is None else torch.from_numpy(at)).states
        judged = stepped(name, model, series, at, options.get("holes", "bridge"))
    torch.testing.assert_close(found, judged, rtol=1e-10, atol=1e-10)


def test_batch_statistics_are_those_of_torch_batch_norm() -> None:
    series = gappy_series(missing=0.0)
    model = backbone("gru", series, normalise="batch", time_differences=False).train()
    x = torch.from_numpy((series.values - series.values.mean(axis=0)) / series.values.std(axis=0))
    normed = nn.functional.batch_norm(x, None, None, training=True)
    plain = nn.GRU(3, 4, batch_first=True)
    plain.load_state_dict(model.core.state_dict())
    states = model(model.prepare(series)).states[:, 0]
    for i, (a, b) in enumerate(zip(series.offsets, series.offsets[1:], strict=False)):
        torch.testing.assert_close(plain(normed[a:b])[0][-1], states[i], rtol=1e-10, atol=1e-10)


def test_holes_take_the_last_value_and_the_first_one_before_it() -> None:
    nan = np.nan
    series = SeriesSet.from_arrays(
        [[0.0, 1, 2, 3], [0.0, 1]], [[[nan, 1], [5, nan], [nan, nan], [7, 2]], [[nan, nan], [nan, 3]]]
    )
    filled = fill_with_neighbours(series).values
    np.testing.assert_array_equal(filled, [[5, 1], [5, 1], [5, 1], [7, 2], [nan, 3], [nan, 3]])


@pytest.mark.parametrize(("option", "value"), [("state_size", 0), ("inflate", 0), ("holes", "x"), ("normalise", "x")])
def test_bad_options_are_named(option: str, value: object) -> None:
    with pytest.raises(InvalidOption, match=option):
        backbone("gru", gappy_series(), **{option: value})
