"""Sets of series, one after the other."""

from collections.abc import Sequence

import numpy as np

from denots.data.series import SeriesSet
from denots.shapes import IntArray


def joined(parts: Sequence[SeriesSet], ids: IntArray | None = None) -> SeriesSet:
    """Sets with the same channels, static features and targets, one after the other, under their own names or others."""
    first = parts[0]
    return SeriesSet(
        times=np.concatenate([part.times for part in parts]),
        values=np.concatenate([part.values for part in parts]),
        offsets=np.concatenate([[0], np.cumsum(np.concatenate([part.lengths for part in parts]))]),
        start=np.concatenate([part.start for part in parts]),
        ids=np.concatenate([part.ids for part in parts]) if ids is None else ids,
        channels=first.channels,
        static=None if first.static is None else np.concatenate([part.static for part in parts]),
        static_names=first.static_names,
        target=None if first.target is None else np.concatenate([part.target for part in parts]),
        target_names=first.target_names,
        time_unit=first.time_unit,
        row_target=None if first.row_target is None else np.concatenate([part.row_target for part in parts]),
    )
