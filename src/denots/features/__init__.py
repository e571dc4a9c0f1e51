"""Series as rows of numbers that a head can read: scikit-learn transformers of a SeriesSet."""

from denots.features.convolutions import Convolutions
from denots.features.intervals import Intervals
from denots.features.normal_scores import NormalScores
from denots.features.oscillators import Oscillators
from denots.features.random_fields import RandomFields
from denots.features.summary import Summary

__all__ = ["Convolutions", "Intervals", "NormalScores", "Oscillators", "RandomFields", "Summary"]
