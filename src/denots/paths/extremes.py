"""How low and how high a path runs, between its knots, too."""

import torch
from jaxtyping import Float
from torch import Tensor

from denots.paths.path import Path


def extremes(path: Path) -> tuple[Float[Tensor, "n C"], Float[Tensor, "n C"]]:
    """The least and the greatest value of each channel of each path.

    A cubic from v to w with slopes k and m (times the width) turns where a + (2b - 4a) u - 3(b - a) u² = v - w, with
    a = k - (w - v) and b = (w - v) - m; its extremes lie there or at its ends.
    """
    path = path.packed()
    owner = torch.repeat_interleave(torch.arange(len(path)), path.end - path.begin)
    v, w = path.values[:-1], path.values[1:]
    width = path.times.diff().to(v.dtype)[:, None]
    inner = (width > 0).flatten() & (owner[1:] == owner[:-1])
    v, w, width = v[inner], w[inner], width[inner]
    k, m = path.slopes[:-1][inner] * width, path.slopes[1:][inner] * width
    rise = w - v
    a, b = k - rise, rise - m
    places = [path.values, *(_at(u, v, rise, a, b) for u in _turns(k, 2 * b - 4 * a, -3 * (b - a)))]
    rows = torch.cat([owner, *([owner[:-1][inner]] * (len(places) - 1))])
    table, index = torch.cat(places), rows[:, None].expand(-1, v.shape[1])
    empty = table.new_zeros(len(path), v.shape[1])
    low, high = (empty.scatter_reduce(0, index, table, side, include_self=False) for side in ("amin", "amax"))
    return low, high


def _turns(c: Tensor, b: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
    """Both roots of c + b u + a u², moved into [0, 1]; 0 where there is none."""
    root = (b * b - 4 * a * c).clamp_min(0).sqrt()
    q = -(b + torch.where(b < 0, -root, root)) / 2
    first, second = q / a, c / q
    return tuple(u.nan_to_num(0.0, 0.0, 0.0).clamp(0, 1) for u in (first, second))  # type: ignore[return-value]


def _at(u: Tensor, v: Tensor, rise: Tensor, a: Tensor, b: Tensor) -> Tensor:
    return v + u * (rise + (1 - u) * (a * (1 - u) + b * u))
