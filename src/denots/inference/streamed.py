"""What a stream asks of a model."""

from dataclasses import dataclass

from denots.inference.answers import TaskAnswers
from denots.inference.carried import Carried
from denots.inference.state import State
from denots.inference.told import Model


@dataclass(frozen=True, slots=True, eq=False)
class Streamed:
    """A model, what its task tells of outputs, what it is made of, and its state from row to row where it carries one."""

    fitted: Model
    task: TaskAnswers
    state: State
    carried: Carried | None
