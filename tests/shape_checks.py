"""The run-time checker that enforces what signatures promise, shapes included (see conftest.py)."""

import numpy as np
from beartype import BeartypeConf, FrozenDict, beartype

# An int is a float and a float is complex, as in every annotation, and the scalars of NumPy are like those of Python.
NUMBERS = FrozenDict(
    {
        int: int | np.integer,
        float: float | int | np.floating | np.integer,
        complex: complex | float | int | np.number,
    }
)
checked = beartype(conf=BeartypeConf(hint_overrides=NUMBERS))
