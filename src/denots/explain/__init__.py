"""Why a model gives an answer: what moved it, which channels it needs, and what would change it."""

from denots.explain.explanation import Cell, Explanation, explain
from denots.explain.gradients import Gradients, integrated_gradients
from denots.explain.importance import Importance, Need, importance
from denots.explain.what_if import what_if

__all__ = [
    "Cell",
    "Explanation",
    "Gradients",
    "Importance",
    "Need",
    "explain",
    "importance",
    "integrated_gradients",
    "what_if",
]
