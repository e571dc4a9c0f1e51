"""Predictions without torch are those of the model that torch trained, to rounding; paths are the same to the last bit."""

from typing import Any

import numpy as np
import pytest
import torch

from denots.data.series import SeriesSet
from denots.fields import FIELDS
from denots.inference.curve import CURVES
from denots.inference.solve import KERNELS
from denots.paths import PATHS
from denots.training.model import run_model

from models import calibrated, make_model


def gappy(n: int, static: int = 0) -> SeriesSet:
    rng = np.random.default_rng(n)
    times = [np.sort(rng.uniform(0, 5, rng.integers(1, 12))) for _ in range(n)]
    values = [rng.normal(size=(len(t), 3)) for t in times]
    for table in values:
        table[1:][rng.random(table[1:].shape) < 0.4] = np.nan
    values[0][:, 2] = np.nan
    return SeriesSet.from_arrays(times, values, static=rng.normal(size=(n, static)) if static else None)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"initial": "first", "readout": "last", "presence": True, "ages": True},
        {"normalise": "batch", "inflate": 3, "slopes": False, "initial": "first"},
        {"normalise": "batch", "holes": "zero", "path": "linear"},
        {"path": "rectilinear", "slopes": False, "time_differences": False, "presence": False, "ages": False},
    ],
)
def test_predictions_are_those_of_the_trained_model(field: str, options: dict[str, Any]) -> None:
    series = gappy(17, static=2)
    model = make_model("denots", {"field": field, "state_size": 9, "depth": 4.0, **options}, "multiclass", 3, 2, 4)
    model = calibrated(model, series, torch.zeros(17))
    if options.get("normalise") == "batch":
        model.backbone.embedding.running_mean.uniform_()
        model.backbone.embedding.running_var.uniform_(0.5, 2)
    model.eval()
    wanted = run_model(model, model.backbone.prepare(series))
    network = model.network()
    assert network is not None
    found = network.outputs(series)
    np.testing.assert_allclose(found.outputs, wanted.outputs.numpy(), rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(found.ok, wanted.ok.numpy())


def test_fields_have_the_kernels_that_they_say() -> None:
    assert {name: field(2, 3).kernel().name for name, field in FIELDS.items()} == KERNELS


@pytest.mark.parametrize("kind", CURVES)
def test_curves_are_read_as_paths_are(kind: str) -> None:
    series = gappy(11)
    path, curve = PATHS[kind].fit(series, torch.float32), CURVES[kind](series, dtype=np.dtype(np.float32))
    at = np.random.default_rng(0).uniform(-1, 6, (11, 9))
    at[:, 0] = series.ends
    wanted = torch.stack([path.value(torch.from_numpy(column)) for column in at.T], dim=1)
    np.testing.assert_array_equal(curve.values_at(at), wanted.numpy())
