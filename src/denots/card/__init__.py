"""A fitted model as one page: what it has learnt from, what it is worth, where it can be relied on, and why it answers so."""

from denots.card.page import build_card

__all__ = ["build_card"]
