"""Tables that the tests of `read_frame` share."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pytest

Maker = Callable[[dict[str, Any]], Any]

both_libraries = pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])


def wide() -> dict[str, list[Any]]:
    """Two interleaving patients; every test that needs a fault changes one cell or column."""
    return {
        "patient": ["b", "a", "b", "a", "b"],
        "hour": [0.0, 5.0, 1.5, 7.0, 4.0],
        "hr": [80.0, 61.0, None, 62.5, 84.0],
        "bp": [None, 120.0, 118.0, None, None],
    }
