"""Axis glossary.

n, B    series in a set, series in a batch        C   channels
N, L    observations of all series, of one        S   static features
H       state size                                K   query times
G       drive size: what the input map of a field produces (3H for a GRU, H for an MLP)
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.floating]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
