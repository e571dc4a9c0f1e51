"""Predict with a saved model where there is NumPy and nothing else: no torch, no scikit-learn, no pandas, no LightGBM.

    import denots.runtime

    model = denots.runtime.load("model")
    model.predict([(times, values), ...])

Answers have the bits of `denots.load(folder)`: both call `denots.inference`.
"""

from denots.runtime.load import load
from denots.runtime.model import RuntimeModel
from denots.runtime.served import SERVED, UNSERVED

__all__ = ["SERVED", "UNSERVED", "RuntimeModel", "load"]
