"""A path together with its own slopes, as further channels."""

from dataclasses import replace

import torch
from jaxtyping import Float64
from torch import Tensor

from denots.paths.path import Path

ROUNDING = 1e-9  # what double precision leaves of a curvature that is the same on both sides of a knot


def append_slopes(path: Path, scale: Float64[Tensor, " S"]) -> Path:
    """The path with the slopes of its first `len(scale)` channels, each divided by its scale, as channels.

    The slope of a cubic is a parabola, which is its own Hermite cubic, so nothing is approximated; where it
    has a kink, the knot stands twice. It takes a path as fitted, in float64, because curvatures are differences
    over short times. Outside the knots slopes are held like every channel.
    """
    before, after = _curvatures(path, len(scale))
    bends = (before != after).any(dim=1)
    ends = (1 + bends.long()).cumsum(0)
    rows = torch.repeat_interleave(torch.arange(len(bends)), 1 + bends.long())
    is_last = torch.zeros(len(rows), dtype=torch.bool).index_fill(0, ends - 1, True)
    curvature = torch.where(is_last[:, None], after[rows], before[rows])
    return replace(
        path,
        times=path.times[rows],
        values=torch.cat([path.values[rows], path.slopes[rows, : len(scale)] / scale], dim=1),
        slopes=torch.cat([path.slopes[rows], curvature / scale], dim=1),
        begin=(ends - 1 - bends.long())[path.begin],
        end=ends[path.end - 1],
        present=torch.cat([path.present, path.present[:, : len(scale)]], dim=1),
    )


def _curvatures(path: Path, channels: int) -> tuple[Tensor, Tensor]:
    """Second derivatives just before and just after each knot; the same where they agree or there is one side only."""
    v, s = path.values[:, :channels], path.slopes[:, :channels]
    width = path.times.diff()[:, None]
    inner = (width > 0).index_fill(0, path.begin[1:] - 1, False)  # not from one series to the next
    width = torch.where(inner, width, 1.0)
    rise, start, end = v.diff(dim=0), s[:-1] * width, s[1:] * width
    none = torch.full_like(v[:1], torch.nan)
    after = torch.cat([torch.where(inner, (6 * rise - 4 * start - 2 * end) / width**2, torch.nan), none])
    before = torch.cat([none, torch.where(inner, (2 * start + 4 * end - 6 * rise) / width**2, torch.nan)])
    size = (v[1:].abs() + v[:-1].abs() + start.abs() + end.abs()) / width**2
    size = torch.maximum(torch.cat([torch.zeros_like(none), size]), torch.cat([size, torch.zeros_like(none)]))
    lone = before.isnan() | after.isnan()
    middle = torch.where(before.isnan(), after, torch.where(after.isnan(), before, (before + after) / 2)).nan_to_num()
    smooth = lone | ((before - after).abs() <= ROUNDING * size)
    return torch.where(smooth, middle, before), torch.where(smooth, middle, after)
