"""Every table and figure of the paper, and questions that it leaves open."""

from denots.experiments.attacks import Attacks
from denots.experiments.bump import Bump
from denots.experiments.costs import Costs
from denots.experiments.evaluations import Evaluations
from denots.experiments.experiment import Experiment, Request
from denots.experiments.feedback import Feedback
from denots.experiments.forecasting import Forecasting
from denots.experiments.gain import Gain
from denots.experiments.gaps import Gaps
from denots.experiments.imputation import Imputation
from denots.experiments.main_table import MainTable
from denots.experiments.memory import Memory
from denots.experiments.overfitting import Overfitting
from denots.experiments.parameters import Parameters
from denots.experiments.protocol import ProtocolCost
from denots.experiments.samples import Samples
from denots.experiments.sine_mix import SineMix
from denots.experiments.targets import Targets
from denots.experiments.tolerance import Tolerance
from denots.experiments.trajectories import Trajectories
from denots.experiments.weight_norms import WeightNorms

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        MainTable(),
        Bump(),
        SineMix(),
        WeightNorms(),
        Trajectories(),
        Evaluations(),
        Feedback(),
        Attacks(),
        Overfitting(),
        Forecasting(),
        Parameters(),
        Samples(),
        Gaps(),
        Gain(),
        Imputation(),
        Tolerance(),
        Memory(),
        ProtocolCost(),
        Targets(),
        Costs(),
    )
}

__all__ = ["EXPERIMENTS", "Experiment", "Request"]
