"""From a slope to a trajectory."""

from denots.ode.input_map import InputMap
from denots.ode.solution import Solution, Status
from denots.ode.solve import solve
from denots.ode.trajectory import Trajectory, trajectory
from denots.tableaus import METHODS

__all__ = ["METHODS", "InputMap", "Solution", "Status", "Trajectory", "solve", "trajectory"]
