"""Search the options of a system for better ones, by the series that are held back anyway."""

from denots.options import Choice, Range
from denots.tuning.search import SeriesSearch

__all__ = ["Choice", "Range", "SeriesSearch"]
