"""Observations: irregular, ragged and gappy series in one packed container."""

from denots.data.schema import TableSchema
from denots.data.series import Rectangle, Series, SeriesSet

__all__ = ["Rectangle", "Series", "SeriesSet", "TableSchema"]
