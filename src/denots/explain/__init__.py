"""Why a model gives an answer: what moved it, which channels it needs, and what would change it."""

from denots.explain.explanation import Cell, Explanation, explain

__all__ = ["Cell", "Explanation", "explain"]
