"""From a slope to a trajectory."""

from denots.ode.input_map import InputMap
from denots.ode.runge_kutta import METHODS
from denots.ode.solution import Solution, Status
from denots.ode.solve import solve
from denots.ode.trajectory import Trajectory, trajectory

__all__ = ["METHODS", "InputMap", "Solution", "Status", "Trajectory", "solve", "trajectory"]
