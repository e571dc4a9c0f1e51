"""Take time steps away from series, as a sensor that fails now and then does."""

from dataclasses import replace

import numpy as np

from denots.data.series import SeriesSet

FEWEST = 2  # steps that every series keeps


def drop_steps(series: SeriesSet, share: float, rng: np.random.Generator) -> SeriesSet:
    """Each series without floor(share L) of its L time steps, drawn at random; the others keep their time stamps.

    A series keeps at least two steps. Rows without any value are no steps and stay. A larger share takes
    away the same steps and further ones. The clock of a series begins at its first row, as in a table.
    """
    seen = np.asarray(~np.isnan(series.values).all(axis=1))
    kept = np.ones(len(series.times), dtype=bool)
    for begin, end in zip(series.offsets[:-1].tolist(), series.offsets[1:].tolist(), strict=True):
        steps = begin + np.flatnonzero(seen[begin:end])
        lost = min(int(share * len(steps)), max(len(steps) - FEWEST, 0))
        kept[rng.permutation(steps)[:lost]] = False
    lengths = np.add.reduceat(kept, series.offsets[:-1], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    times = series.times[kept]
    return replace(series, times=times, values=series.values[kept], offsets=offsets, start=times[offsets[:-1]])
