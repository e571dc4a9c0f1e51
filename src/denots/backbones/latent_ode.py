"""Latent ODE without sampling: read the series backwards into one state, then let it evolve (Rubanova et al., 2019)."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor, nn

from denots.backbones.backbone import Backbone, Encoded, Inputs
from denots.backbones.free_run import run_free
from denots.backbones.intake import Intake
from denots.backbones.options import check_options
from denots.data.series import SeriesSet, ragged_rows
from denots.data.transforms import fill_with_neighbours, fill_with_zeros
from denots.fields.autonomous import AutonomousField
from denots.inference.solver import SolverConfig
from denots.ode.runge_kutta import step
from denots.options import Choice, tunable
from denots.rowwise import linear_rows
from denots.shapes import BoolArray
from denots.tableaus import RK4


@dataclass(frozen=True)
class LatentODEConfig(SolverConfig):
    """Every choice of the backbone; see also `SolverConfig`.

    encoder: between two observations the encoder takes one step of "rk4", which trains in a
        reasonable time; or as many as the tolerance asks of "dopri5", as published. The decoder
        always follows the tolerance.
    encode_to: the encoder goes on to the "start" of the clock, where the decoder sets out; or stops
        at the "first" observation, as published, although the decoder sets out at the start.
    presence: add a channel for each that says where values were observed.
    holes: in a row with some observed values the others are "bridge"d (the last value, or the first
        one before it), or "zero". Rows without any are left out: there is nothing to read.
    """

    state_size: int = tunable(32, Choice((16, 32, 64)))
    encoder: Literal["rk4", "dopri5"] = "rk4"
    encode_to: Literal["start", "first"] = "start"
    presence: bool = False
    holes: Literal["bridge", "zero"] = "bridge"


@dataclass(frozen=True, slots=True, eq=False)
class ReadBackwards:
    """Packed rows, and for each the time from the row before it, in median spans."""

    values: Float[Tensor, "N C"]
    gaps: Float64[Tensor, " N"]
    offsets: Int[Tensor, " n_plus_1"]
    static: Float[Tensor, "n S"]
    start: Float64[Tensor, " n"]
    span: Float64[Tensor, " n"]

    def __len__(self) -> int:
        return len(self.span)

    def select(self, rows: Tensor) -> "ReadBackwards":
        picked, offsets = (torch.from_numpy(part) for part in ragged_rows(self.offsets.numpy(), rows.numpy()))
        return ReadBackwards(
            self.values[picked], self.gaps[picked], offsets, self.static[rows], self.start[rows], self.span[rows]
        )


class LatentODE(Backbone):
    """A GRU reads the observations from the last to the first, an ODE moves its state between them;
    from the state found at the start another ODE leads to the queries.

    The encoder's field is written for a clock that runs backwards.
    """

    Config = LatentODEConfig

    def __init__(self, config: LatentODEConfig, channels: int, static_size: int = 0) -> None:
        super().__init__()
        check_options(config)
        self.config, self.state_size = config, config.state_size
        self.intake = Intake(channels, static_size, time="none", presence=config.presence)
        self.cell = nn.GRUCell(self.intake.read, config.state_size)
        self.backwards = AutonomousField(config.state_size)
        self.decoder = AutonomousField(config.state_size)
        self.from_static = nn.Linear(static_size, config.state_size) if static_size else None

    @property
    def reads_time(self) -> bool:
        return True

    def calibrate(self, train: SeriesSet) -> None:
        self.intake.calibrate(train)

    def prepare(self, series: SeriesSet) -> ReadBackwards:
        whole = self.intake.observations(series)
        observed = _rows_with_values(whole, np.asarray((~np.isnan(series.values)).any(axis=1)))
        filled = fill_with_zeros(fill_with_neighbours(observed) if self.config.holes == "bridge" else observed)
        gaps = np.diff(observed.times, prepend=0.0)
        first = observed.offsets[:-1]
        gaps[first] = observed.times[first] if self.config.encode_to == "start" else 0.0
        dtype = self.cell.weight_hh.dtype
        return ReadBackwards(
            torch.from_numpy(filled.values).to(dtype),
            torch.from_numpy(gaps),
            torch.from_numpy(observed.offsets),
            self.intake.static(series, dtype),
            torch.from_numpy(series.start),
            torch.from_numpy(whole.ends),
        )

    def forward(self, inputs: Inputs, at: Float64[Tensor, "B K"] | None = None) -> Encoded:
        if not isinstance(inputs, ReadBackwards):
            raise TypeError(f"LatentODE reads what its own prepare() returns, not {type(inputs).__name__}.")
        elapsed = inputs.span[:, None]
        if at is not None:
            elapsed = (at - inputs.start[:, None]) / self.intake.time_scale
        latent, evaluations = self._encode(inputs)
        finite = torch.isfinite(latent).all(dim=1)
        if not finite.all():
            # Failed series must leave the graph: their zero gradient times infinity would reach the weights.
            rows = finite.nonzero().flatten()
            latent = torch.full_like(latent.detach(), torch.nan)
            if len(rows):
                latent = latent.index_copy(0, rows, self._encode(inputs.select(rows))[0])
        if self.from_static is not None:
            latent = latent + linear_rows(inputs.static, self.from_static.weight, self.from_static.bias)
        found = run_free(self.decoder, latent, elapsed, self.config.solving(self.coarse), stop=inputs.span)
        return Encoded(found.states, found.ok, found.evaluations + evaluations)

    def _encode(self, inputs: ReadBackwards) -> tuple[Float[Tensor, "B H"], Int[Tensor, " B"]]:
        """The state that remains when all rows have been read, and the evaluations of the field.

        Series are sorted by length, so that those which still have rows are always the first ones.
        """
        order = inputs.offsets.diff().argsort(descending=True, stable=True)
        lengths, newest = inputs.offsets.diff()[order], inputs.offsets[1:][order] - 1
        under_way = (lengths > torch.arange(int(lengths[0]))[:, None]).sum(dim=1).tolist()
        h = inputs.values.new_zeros(len(inputs), self.state_size)
        evaluations = torch.zeros(len(inputs), dtype=torch.int64)
        read: list[Tensor] = []
        for back, n in enumerate(under_way):
            if n < len(h):
                read.append(h[n:])
                h = h[:n]
            rows = newest[:n] - back
            h = self.cell(inputs.values[rows], h)
            h, cost = self._move(h, inputs.gaps[rows])
            evaluations[:n] += cost
        home = order.argsort()
        return torch.cat([h, *reversed(read)])[home], evaluations[home]

    def _move(self, h: Tensor, gap: Float64[Tensor, " B"]) -> tuple[Tensor, Tensor | int]:
        """Bring states across the gaps before their observations."""
        if self.config.encoder == "dopri5":
            solving = {**self.config.solving(self.coarse), "method": self.config.encoder}
            moved = run_free(self.backwards, h, gap[:, None], solving, stop=gap)
            return moved.states[:, 0], moved.evaluations

        def slope(_: Tensor, h: Tensor) -> Tensor:
            return self.backwards.slope(self.backwards.bias_ih, h)

        return step(RK4, slope, gap, gap, h, slope(gap, h))[0], len(RK4.nodes)


def _rows_with_values(series: SeriesSet, seen: BoolArray) -> SeriesSet:
    kept = np.add.reduceat(seen, series.offsets[:-1], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(kept)])
    return replace(series, times=series.times[seen], values=series.values[seen], offsets=offsets)
