"""Bump: is there a narrow smooth bump somewhere in this otherwise constant signal?

Half of the series are zero; the others hold exp(-1 / (1 - z^2)) with z = 20 (t - centre)
where |z| < 1, on 600 equal steps from 0 to 1. A solver with large steps can miss it.
"""

import numpy as np

from denots.data.series import SeriesSet
from denots.datasets.dataset import Recipe, SplitSizes, on_one_grid, published_rows
from denots.shapes import FloatArray

GRID = np.linspace(0, 1, 600)
SHARPNESS = 20.0  # the bump reaches 1 / 20 to either side of its centre
SIZES = SplitSizes(1024, 256, 256)


def generate(seed: int, sizes: SplitSizes) -> dict[str, SeriesSet]:
    """Draw all centres, then all labels (uniform > 0.5), from `default_rng(seed)`; cut in that order.

    With seed 42 these are the published draws.
    """
    rng = np.random.default_rng(seed)
    centre = rng.uniform(1 / SHARPNESS, 1 - 1 / SHARPNESS, SIZES.total)
    label = rng.uniform(size=SIZES.total) > 0.5
    return {
        part: on_one_grid(
            part, GRID, label[rows, None] * bump(GRID - centre[rows, None]), "y", target=label[rows].astype(np.int64)
        )
        for part, rows in published_rows(SIZES, sizes).items()
    }


def bump(distance: FloatArray) -> FloatArray:
    """The smooth bump at a distance from its centre; zero with all derivatives at its ends."""
    inside = 1 - (SHARPNESS * distance) ** 2
    height: FloatArray = np.exp(np.divide(-1.0, inside, out=np.full_like(inside, -np.inf), where=inside > 0))
    return height


BUMP = Recipe(
    name="bump",
    task="classification",
    metric="auroc",
    description="Detect a narrow bump in a flat signal",
    sizes=SIZES,
    generate=generate,
)
