"""Sine-2, SineMix and a SineMix that needs memory: noise-free sine waves on 100 equal steps from 0 to 1.

Each set is drawn in one go from `default_rng(seed)` and cut in that order, the training
split first, so the seed alone decides every series. The published sets used seed 42.
"""

import numpy as np

from denots.data.series import SeriesSet
from denots.datasets.dataset import Recipe, SplitSizes, on_one_grid, published_rows
from denots.shapes import FloatArray

GRID = np.linspace(0, 1, 100)
JOIN = 50  # SineMix changes frequency at this grid point
SINE_2_SIZES = SplitSizes(32768, 32, 32)
SINE_MIX_SIZES = SplitSizes(1024, 32, 32)


def generate_sine_2(seed: int, sizes: SplitSizes) -> dict[str, SeriesSet]:
    """sin(slow t) + sin(fast t); all slow ~ U(4 pi, 8 pi) are drawn before all fast ~ U(8 pi, 16 pi)."""
    rng = np.random.default_rng(seed)
    slow = rng.uniform(4 * np.pi, 8 * np.pi, (SINE_2_SIZES.total, 1))
    fast = rng.uniform(8 * np.pi, 16 * np.pi, (SINE_2_SIZES.total, 1))
    return {
        part: on_one_grid(part, GRID, np.sin(slow[rows] * GRID) + np.sin(fast[rows] * GRID), "value")
        for part, rows in published_rows(SINE_2_SIZES, sizes).items()
    }


def generate_sine_mix(seed: int, sizes: SplitSizes) -> dict[str, SeriesSet]:
    """A wave whose frequency changes from a to b half-way, without a jump; the target is a.

    a and b ~ U(2 pi, 6 pi) come from one draw of shape (2, n), so seed 42 gives the
    published frequencies. The phase is continuous at grid point 50, the first with
    frequency b; so frequency and phase of the second half tell a, too.
    """
    a, b = _frequencies(np.random.default_rng(seed))
    return _two_waves(a, b, GRID[JOIN] * (a - b), sizes)


def generate_sine_mix_jump(seed: int, sizes: SplitSizes) -> dict[str, SeriesSet]:
    """SineMix with the same frequencies, but the second wave begins at a random phase.

    It knows nothing of a: only memory of the first half can tell.
    """
    rng = np.random.default_rng(seed)
    a, b = _frequencies(rng)
    return _two_waves(a, b, rng.uniform(0, 2 * np.pi, len(a)), sizes)


def _frequencies(rng: np.random.Generator) -> FloatArray:
    return rng.uniform(2 * np.pi, 6 * np.pi, (2, SINE_MIX_SIZES.total))


def _two_waves(a: FloatArray, b: FloatArray, shift: FloatArray, sizes: SplitSizes) -> dict[str, SeriesSet]:
    """sin(a t) before the join, sin(b t + shift) from there on."""
    late = np.arange(len(GRID)) >= JOIN
    sets = {}
    for part, rows in published_rows(SINE_MIX_SIZES, sizes).items():
        phase = np.where(late, b[rows, None] * GRID + shift[rows, None], a[rows, None] * GRID)
        sets[part] = on_one_grid(part, GRID, np.sin(phase), "y", target=a[rows])
    return sets


SINE_2 = Recipe(
    name="sine-2",
    task="forecast",
    metric="r2",
    description="Forecast the sum of two sine waves",
    sizes=SINE_2_SIZES,
    generate=generate_sine_2,
)

SINE_MIX = Recipe(
    name="sine-mix",
    task="regression",
    metric="r2",
    description="Remember the first of two frequencies",
    sizes=SINE_MIX_SIZES,
    generate=generate_sine_mix,
)

SINE_MIX_JUMP = Recipe(
    name="sine-mix-jump",
    task="regression",
    metric="r2",
    description="Remember the first of two frequencies, which the second half does not tell",
    sizes=SINE_MIX_SIZES,
    generate=generate_sine_mix_jump,
)
