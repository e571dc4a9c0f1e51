"""What charts are drawn with: an axis, a line, dots, small bars."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from denots.shapes import FloatArray

INK = "#1b1f24"


class Axis(NamedTuple):
    """From the least and the greatest number to the places in a drawing where they stand."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def of(cls, numbers: FloatArray, start: float, end: float) -> "Axis":
        """An axis that holds all finite ones of these numbers."""
        known = numbers[np.isfinite(numbers)]
        return cls(float(known.min()), float(known.max()), start, end) if len(known) else cls(0.0, 1.0, start, end)

    def at(self, number: float) -> float:
        share = (number - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int) -> list[float]:
        """Round numbers on the axis, at most so many, a step of 1, 2 or 5 times a power of ten apart."""
        width = self.high - self.low
        if not 0 < width < np.inf:
            return [self.low]
        power = 10.0 ** np.floor(np.log10(width / most))
        step = next(power * times for times in (1, 2, 5, 10, 20) if width / (power * times) <= most)
        first = np.ceil(self.low / step - 1e-9)
        count = int(np.floor(self.high / step + 1e-9) - first) + 1
        return [float(f"{(first + k) * step:.12g}") for k in range(count)]


def polyline(x: FloatArray, y: FloatArray, across: Axis, up: Axis, stroke: str = INK, dashes: str = "") -> str:
    """A line through the points whose numbers are finite."""
    known = np.isfinite(x) & np.isfinite(y)
    points = zip(x[known].tolist(), y[known].tolist(), strict=True)
    places = " ".join(f"{across.at(a):.1f},{up.at(b):.1f}" for a, b in points)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<polyline points="{places}" fill="none" stroke="{stroke}" stroke-width="1.5"{dashed}/>'


def dots(
    points: Iterable[tuple[float, float, str]],
    across: Axis,
    up: Axis,
    radius: float = 2.5,
    paint: str = f'fill="{INK}"',
) -> str:
    """Points, each with the words that a mouse over it shows."""
    return "".join(
        f'<circle cx="{across.at(a):.1f}" cy="{up.at(b):.1f}" r="{radius:g}" {paint}><title>{escape(words)}</title></circle>'
        for a, b, words in points
    )


def small_bars(counts: Sequence[int], label: str) -> str:
    """A bar for each count, the highest as high as the picture; nothing where there is nothing to count."""
    if not counts or not max(counts):
        return ""
    width, height = max(160 // len(counts), 4), 32
    bars = "".join(
        f'<rect x="{k * width}" y="{height - height * count / max(counts):.1f}" width="{width - 1}" '
        f'height="{height * count / max(counts):.1f}"/>'
        for k, count in enumerate(counts)
    )
    size = f'width="{width * len(counts)}" height="{height}"'
    return f'<svg role="img" aria-label="{escape(label)}: {", ".join(map(str, counts))}" fill="#2f6fc4" {size}>{bars}</svg>'
