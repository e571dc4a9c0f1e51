"""How accurately backbones solve, in training and for predictions."""

import numpy as np
import pytest
import torch

from denots.backbones import BACKBONES, Backbone
from denots.backbones.denots import READ_THEN, DeNOTS
from denots.data import SeriesSet
from denots.errors import InvalidOption
from denots.inference.denots_config import DeNOTSConfig
from denots.inference.solver import SolverConfig, with_solver_of_then
from denots.runs.spec import RunSpec

ODES = [
    ("denots", {}),
    ("neural-cde", {"beyond": "decode"}),
    ("neural-cde", {}),
    ("neural-rde", {}),
    ("latent-ode", {}),
]


def vitals(n: int = 20) -> SeriesSet:
    """Thirty hours or so of two noisy channels, each patient with hours of their own."""
    rng = np.random.default_rng(3)
    times = [np.sort(rng.uniform(0, 30, rng.integers(15, 40))) for _ in range(n)]
    values = [rng.normal(size=(len(t), 2)).cumsum(axis=0) for t in times]
    return SeriesSet.from_arrays(times, values, start=0.0)


def build(name: str, series: SeriesSet, **options) -> Backbone:
    torch.manual_seed(0)
    backbone = BACKBONES[name](BACKBONES[name].Config(**{"state_size": 8, **options}), len(series.channels))
    backbone.calibrate(series)
    return backbone.eval()


@pytest.mark.parametrize(("name", "options"), ODES, ids=str)
@pytest.mark.parametrize("solver", [{}, {"method": "dopri5", "tolerance": 1e-3, "predict_tolerance": None}], ids=str)
def test_a_forecast_does_not_depend_on_the_other_times_asked(name: str, options: dict, solver: dict) -> None:
    series = vitals()
    model = build(name, series, **options, **solver)
    inputs = model.prepare(series)

    def states(*hours: float) -> torch.Tensor:
        at = torch.tensor(hours, dtype=torch.float64).expand(len(series), -1)
        with torch.inference_mode():
            return model(inputs, at).states

    together = states(24.0, 36.0, 48.0)
    for k, hour in enumerate((24.0, 36.0, 48.0)):
        assert torch.equal(states(hour)[:, 0], together[:, k])
    assert torch.equal(states(48.0, 24.0), together[:, [2, 0]])


def test_predictions_are_solved_to_a_tolerance_of_their_own_and_training_is_not() -> None:
    series = vitals()
    model = build("denots", series)
    inputs = model.prepare(series)
    precise = model(inputs).evaluations
    with model.in_training():
        coarse = model(inputs).evaluations
    assert coarse.sum() < precise.sum() / 3
    assert torch.equal(model(inputs).evaluations, precise)


def test_training_ends_when_it_fails() -> None:
    model = DeNOTS(DeNOTSConfig(), 2)
    with pytest.raises(ZeroDivisionError), model.in_training():
        raise ZeroDivisionError
    assert not model.coarse


@pytest.mark.parametrize(
    ("tolerance", "predict", "used"), [(1e-2, 1e-4, 1e-4), (1e-6, 1e-4, 1e-6), (1e-3, None, 1e-3)], ids=str
)
def test_predictions_are_never_coarser_than_training(tolerance: float, predict: float | None, used: float) -> None:
    config = SolverConfig(tolerance=tolerance, predict_tolerance=predict)
    assert config.solving(coarse=False)["rtol"] == config.solving(coarse=False)["atol"] == used
    assert config.solving(coarse=True)["rtol"] == tolerance


def test_a_tolerance_for_predictions_must_be_positive() -> None:
    with pytest.raises(InvalidOption, match="predict_tolerance must be a positive number or None; got 0"):
        SolverConfig(predict_tolerance=0)


def test_a_record_older_than_the_choice_of_a_solver_keeps_dopri5_to_one_tolerance() -> None:
    plain = RunSpec.from_dict(
        {
            "dataset": {"name": "bump"},
            "backbone": {"name": "denots", "options": {"tolerance": 1e-3, "depth": 1.0}},
            "train": {},
        }
    )
    assert plain.backbone.options == {
        "tolerance": 1e-3,
        "depth": 1.0,
        "method": "dopri5",
        "predict_tolerance": None,
        **READ_THEN,
    }
    assert with_solver_of_then({"state_size": 3}) == {"state_size": 3}
    newer = {"tolerance": 1e-2, "method": "bosh3", "predict_tolerance": 1e-4}
    assert with_solver_of_then(newer) == newer
