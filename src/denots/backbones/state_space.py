"""The mixer of Mamba-2: a selective state space as matrix products over chunks of time."""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import pad, rms_norm, silu, softplus

from denots.backbones.rows import take

CHUNK = 16  # heads are narrow: longer chunks cost more in products than shorter ones do in states


class Mixer(nn.Module):
    """`s' = exp(dt A) s + dt x b`, `y = c s + D x` for each head, where dt, x, b and c depend on the row.

    Parameters are named and shaped as in public implementations, so that weights can be copied.
    """

    def __init__(self, size: int, *, state: int = 16, conv: int = 4, expand: int = 2, head: int = 8) -> None:
        super().__init__()
        inner = expand * size
        self.inner, self.state, self.head, self.heads = inner, state, head, inner // head
        self.in_proj = nn.Linear(size, 2 * inner + 2 * state + self.heads, bias=False)
        mixed = inner + 2 * state
        self.conv1d = nn.Conv1d(mixed, mixed, conv, groups=mixed, padding=conv - 1)
        step = torch.empty(self.heads).uniform_(math.log(1e-3), math.log(1e-1)).exp()
        self.dt_bias = nn.Parameter(step + torch.log(-torch.expm1(-step)))  # softplus gives the step back
        self.A_log = nn.Parameter(torch.empty(self.heads).uniform_(1, 16).log())
        self.D = nn.Parameter(torch.ones(self.heads))
        self.norm = nn.RMSNorm(inner, eps=1e-5)
        self.out_proj = nn.Linear(inner, size, bias=False)

    def forward(
        self, rows: Float[Tensor, "B T H"], places: Int[Tensor, "B K"] | None = None
    ) -> Float[Tensor, "B T H"] | Float[Tensor, "B K H"]:
        """Outputs at every row, or at the given places only."""
        gate, mixed, step = self.in_proj(rows).split([self.inner, self.inner + 2 * self.state, self.heads], dim=-1)
        smooth = self.conv1d(mixed.transpose(1, 2))[..., : rows.shape[1]].transpose(1, 2)
        x, b, c = silu(smooth).split([self.inner, self.state, self.state], dim=-1)
        x = x.unflatten(-1, (self.heads, self.head)).transpose(1, 2)
        step = softplus(step + self.dt_bias).transpose(1, 2)
        drive, log_decay = x * step[..., None], -self.A_log.exp()[:, None] * step
        y = scan(drive, log_decay, b, c) if places is None else scan_at(places, drive, log_decay, b, c)
        if places is not None:
            gate, x = take(gate, places), take(x, places[:, None].expand(-1, self.heads, -1))
        y = (y + self.D[:, None, None] * x).transpose(1, 2).flatten(2)
        return self.out_proj(rms_norm(y * silu(gate), (self.inner,), self.norm.weight, self.norm.eps))


def scan(
    x: Float[Tensor, "B h T p"],
    log_decay: Float[Tensor, "B h T"],
    b: Float[Tensor, "B T n"],
    c: Float[Tensor, "B T n"],
    chunk: int = CHUNK,
) -> Float[Tensor, "B h T p"]:
    """`c s` at each row, where `s` decays and takes in `x b`: by products within chunks, then across them."""
    length = x.shape[2]
    fill = -length % chunk
    x = pad(x, (0, 0, 0, fill)).unflatten(2, (-1, chunk))
    fade = pad(log_decay, (0, fill)).unflatten(2, (-1, chunk)).cumsum(dim=-1)  # since the chunk began
    b, c = (pad(part, (0, 0, 0, fill)).unflatten(1, (-1, chunk))[:, None] for part in (b, c))
    within = torch.ones(chunk, chunk, dtype=torch.bool).tril()
    y = attend(c, b, x, fade, fade, within)
    left = (fade[..., -1:] - fade).exp()[..., None]
    states = (left * x).transpose(-1, -2) @ b  # [B h chunks p n], what each chunk adds
    whole = fade[..., -1].cumsum(dim=-1)
    earlier = torch.ones(x.shape[2], x.shape[2], dtype=torch.bool).tril(-1)
    carry = _fade_between(pad(whole, (1, 0))[..., :-1], whole, earlier)
    before = (carry @ states.flatten(-2)).unflatten(-1, states.shape[-2:])
    y = y + fade.exp()[..., None] * (c @ before.transpose(-1, -2))
    return y.flatten(2, 3)[:, :, :length]


def scan_at(places: Int[Tensor, "B K"], x: Tensor, log_decay: Tensor, b: Tensor, c: Tensor) -> Float[Tensor, "B h K p"]:
    """The same at the given places; for a single one all chunks shrink to one weighted sum."""
    each = places[:, None].expand(-1, x.shape[1], -1)
    if places.shape[1] > 1:
        return take(scan(x, log_decay, b, c), each)
    fade = log_decay.cumsum(dim=-1)
    past = torch.arange(x.shape[2]) <= places[:, None, :, None]
    return attend(take(c, places)[:, None], b[:, None], x, fade.gather(2, each), fade, past)


def attend(
    c: Float[Tensor, "*G K n"],
    b: Float[Tensor, "*G T n"],
    x: Float[Tensor, "*F T p"],
    fade_c: Float[Tensor, "*F K"],
    fade_b: Float[Tensor, "*F T"],
    allowed: Bool[Tensor, "*E K T"],
) -> Float[Tensor, "*F K p"]:
    """The scan written as attention: row t counts `c b[t] exp(fade_c - fade_b[t])`."""
    return ((c @ b.transpose(-1, -2)) * _fade_between(fade_c, fade_b, allowed)) @ x


def _fade_between(late: Tensor, early: Tensor, allowed: Tensor) -> Tensor:
    return (late[..., :, None] - early[..., None, :]).masked_fill(~allowed, -torch.inf).exp()
