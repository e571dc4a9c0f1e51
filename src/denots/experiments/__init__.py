"""Every table and figure of the paper, and questions that it leaves open."""

from denots.experiments.bump import Bump
from denots.experiments.experiment import Experiment, Request
from denots.experiments.forecasting import Forecasting
from denots.experiments.main_table import MainTable
from denots.experiments.overfitting import Overfitting
from denots.experiments.sine_mix import SineMix

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (MainTable(), Bump(), SineMix(), Overfitting(), Forecasting())
}

__all__ = ["EXPERIMENTS", "Experiment", "Request"]
