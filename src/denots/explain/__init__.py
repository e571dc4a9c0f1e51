"""Why a model gives an answer: what moved it, which channels it needs, and what would change it."""

from denots.explain.explanation import Cell, Explanation, explain
from denots.explain.gradients import Gradients, integrated_gradients
from denots.explain.importance import Importance, Need, importance
from denots.explain.running import Running, running_answer
from denots.explain.what_if import what_if

__all__ = [
    "Cell",
    "Explanation",
    "Gradients",
    "Importance",
    "Need",
    "Running",
    "explain",
    "importance",
    "integrated_gradients",
    "running_answer",
    "what_if",
]
