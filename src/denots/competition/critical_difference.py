"""Critical difference of mean ranks (Nemenyi after Friedman; Demsar 2006), and its diagram."""

import math
from collections.abc import Mapping
from html import escape

import numpy as np

LEVEL = 0.05
WIDTH, MARGIN, TOP, LINE, BAR = 720, 170, 40, 20, 8  # of the drawing, in pixels


def critical_difference(systems: int, sets: int) -> float:
    """Mean ranks over `sets` that differ by less may differ by chance."""
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(1 - LEVEL, systems, np.inf)) / math.sqrt(2)
    return quantile * math.sqrt(systems * (systems + 1) / (6 * sets))


def friedman_p(ranks: Mapping[str, float], sets: int) -> float:
    """How likely mean ranks as different as these are if all systems are alike (chi-squared, without ties)."""
    from scipy.stats import chi2

    k = len(ranks)
    spread = sum((rank - (k + 1) / 2) ** 2 for rank in ranks.values())
    return float(chi2.sf(12 * sets / (k * (k + 1)) * spread, k - 1))


def cliques(ranks: Mapping[str, float], difference: float) -> list[tuple[str, ...]]:
    """Largest groups of systems, neighbours in rank, of which no two differ by as much as `difference`."""
    names = sorted(ranks, key=lambda name: ranks[name])
    found: list[tuple[str, ...]] = []
    for begin, name in enumerate(names):
        group = tuple(other for other in names[begin:] if ranks[other] - ranks[name] < difference)
        if len(group) > 1 and not any(set(group) <= set(earlier) for earlier in found):
            found.append(group)
    return found


def diagram(ranks: Mapping[str, float], sets: int) -> str:
    """An SVG: mean ranks on an axis, best to the left; bars join systems that may differ by chance."""
    names = sorted(ranks, key=lambda name: ranks[name])
    k, difference = len(names), critical_difference(len(names), sets)
    groups = cliques(ranks, difference)

    def across(rank: float) -> float:
        return MARGIN + (rank - 1) / max(k - 1, 1) * (WIDTH - 2 * MARGIN)

    axis = TOP + 14
    first = axis + 14 + BAR * len(groups) + 10
    half = (k + 1) // 2
    height = first + LINE * half + 6
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="12" role="img" aria-label="Critical difference diagram">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _line(across(1), TOP - 24, across(1 + min(difference, k - 1)), TOP - 24, 2),
        f'<text x="{across(1):.1f}" y="{TOP - 29}">critical difference {difference:.2f}</text>',
        _line(across(1), axis, across(k), axis, 1),
    ]
    for tick in range(1, k + 1):
        parts.append(_line(across(tick), axis - 4, across(tick), axis, 1))
        parts.append(f'<text x="{across(tick):.1f}" y="{axis - 7}" text-anchor="middle">{tick}</text>')
    for number, group in enumerate(groups):
        y = axis + 12 + BAR * number
        parts.append(_line(across(ranks[group[0]]) - 4, y, across(ranks[group[-1]]) + 4, y, 4))
    for position, name in enumerate(names):
        left = position < half
        y = first + LINE * (position if left else k - 1 - position) + 8
        x, end, anchor = across(ranks[name]), (MARGIN - 12 if left else WIDTH - MARGIN + 12), "end" if left else "start"
        parts.append(_line(x, axis, x, y, 1))
        parts.append(_line(x, y, end, y, 1))
        words = f"{name} {ranks[name]:.2f}" if left else f"{ranks[name]:.2f} {name}"
        parts.append(f'<text x="{end + (-4 if left else 4)}" y="{y + 4}" text-anchor="{anchor}">{escape(words)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _line(x1: float, y1: float, x2: float, y2: float, width: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#222222" stroke-width="{width:g}"/>'
