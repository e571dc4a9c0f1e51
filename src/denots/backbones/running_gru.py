"""A GRU for answers at any time: the state is kept at rows, and continued on trial up to a question."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int
from torch import Tensor, nn

from denots.backbones.backbone import Backbone, Encoded, Inputs
from denots.backbones.intake import Intake
from denots.backbones.options import check_options
from denots.backbones.running import Memory, Running
from denots.data.series import SeriesSet, ragged_rows
from denots.data.transforms import fill_forward
from denots.options import Choice, tunable
from denots.rowwise import linear_rows

AT_ONCE = 16  # rows whose products are kept together, which is what a cache holds


@dataclass(frozen=True)
class RunningGRUConfig:
    """state_size: of the GRU."""

    state_size: int = tunable(64, Choice((32, 64, 128)))

    def __post_init__(self) -> None:
        check_options(self)


@np.errstate(invalid="ignore", over="ignore")  # what is not finite then is told by the state
def _step(
    x: Float[np.ndarray, "B D"], h: Float[np.ndarray, "B H"], weights: tuple[np.ndarray, ...]
) -> Float[np.ndarray, "B H"]:
    """The state of torch's GRU after one row, each series by itself."""
    w_in, w_state, b_in, b_state = weights
    read, kept = _linear(x, w_in, b_in), _linear(h, w_state, b_state)
    (r_in, z_in, n_in), (r, z, n) = np.split(read, 3, axis=1), np.split(kept, 3, axis=1)
    z = _sigmoid(z_in + z)
    return (1 - z) * np.tanh(n_in + _sigmoid(r_in + r) * n) + z * h


def _linear(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    parts = [(x[k : k + AT_ONCE, None] * weight).sum(axis=2) for k in range(0, len(x), AT_ONCE)]
    return np.concatenate(parts) + bias


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.maximum(x, -80)))


@dataclass(frozen=True, slots=True, eq=False)
class RunningRows:
    """Rows as the GRU reads them: values held since they were seen, which were seen now, how long ago, time since the
    row before.
    """

    times: Float64[Tensor, " N"]
    values: Float[Tensor, "N D"]
    seen: Bool[Tensor, "N C"]
    offsets: Int[Tensor, " n_plus_1"]
    static: Float[Tensor, "n S"]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def select(self, rows: Int[Tensor, " B"]) -> "RunningRows":
        packed, offsets = ragged_rows(self.offsets.numpy(), rows.numpy())
        picked = torch.from_numpy(packed)
        return RunningRows(
            self.times[picked], self.values[picked], self.seen[picked], torch.from_numpy(offsets), self.static[rows]
        )

    def latest(self, at: Float64[Tensor, "B K"]) -> Int[Tensor, "B K"]:
        """The position, in its series, of the last row up to each time; -1 before the first one."""
        lengths = self.offsets.diff()[:, None]
        place = torch.arange(int(lengths.max())).expand(len(self), -1)
        times = self.times[self.offsets[:-1, None] + torch.minimum(place, lengths - 1)]
        return torch.searchsorted(times.where(place < lengths, torch.inf), at.contiguous(), right=True) - 1


class RunningGRU(Backbone, Running):
    """One step for each row; at a question between rows, one more from the last state, as at a row that saw nothing.

    No answer depends on later rows or on other questions. Where no gradient is asked for, this holds to the last bit and
    in any batch: NumPy sums every product of a row by itself and computes a number alike wherever it stands, which
    torch does not at the end of an array.
    """

    Config = RunningGRUConfig
    causal = True

    def __init__(self, config: RunningGRUConfig, channels: int, static_size: int = 0) -> None:
        super().__init__()
        self.config, self.state_size = config, config.state_size
        self.intake = Intake(channels, static_size, time="differences", presence=True, ages=True)
        self.core = nn.GRU(self.intake.read, config.state_size, batch_first=True)
        self.from_static = nn.Linear(static_size, config.state_size) if static_size else None

    @property
    def reads_time(self) -> bool:
        return True

    def calibrate(self, train: SeriesSet) -> None:
        self.intake.calibrate(train)

    def prepare(self, series: SeriesSet) -> RunningRows:
        observed, channels = self.intake.observations(series), self.intake.observed
        held = fill_forward(observed).values
        dtype = next(self.parameters()).dtype
        return RunningRows(
            times=torch.from_numpy(series.times),
            values=torch.from_numpy(np.nan_to_num(held)).to(dtype),
            seen=torch.from_numpy(~np.isnan(series.values[:, :channels])),
            offsets=torch.from_numpy(series.offsets),
            static=self.intake.static(series, dtype),
        )

    def forward(self, inputs: Inputs, at: Float64[Tensor, "B K"] | None = None) -> Encoded:
        if not isinstance(inputs, RunningRows):
            raise TypeError(f"RunningGRU reads what its own prepare() returns, not {type(inputs).__name__}.")
        start = self._start(inputs.static)
        together = self.coarse or torch.is_grad_enabled()
        states = self._together(inputs, start) if together else self._one_by_one(inputs, start)
        lengths = inputs.offsets.diff()
        if at is None:
            asked = states[torch.arange(len(inputs)), lengths - 1][:, None]
            return Encoded(asked, asked.isfinite().flatten(1).all(dim=1))
        latest = inputs.latest(at)
        known = torch.cat([start[:, None], states], dim=1)
        asked = known.gather(1, (latest + 1)[..., None].expand(-1, -1, self.state_size))
        row = inputs.offsets[:-1, None] + latest.clamp_min(0)
        later = (at > inputs.times[row]) & (latest >= 0)
        if later.any():
            since, latest = (at - inputs.times[row])[later] / self.intake.time_scale, row[later]
            x = torch.from_numpy(
                self._unseen(inputs.values[latest].numpy(), inputs.seen[latest].numpy(), since.numpy())
            )
            on = self.core(x[:, None], asked[later][None])[0][:, 0] if together else self._stepped(x, asked[later])
            asked = asked.index_put((later,), on)
        return Encoded(asked, asked.isfinite().flatten(1).all(dim=1))

    @torch.no_grad()
    def begin(self, start: Float64[np.ndarray, " B"], static: Float64[np.ndarray, "B S"]) -> Memory:
        """state: of the GRU. row, seen: as it read the latest row, and which channels were seen there. time, clock: of that row,
        and since the start in time units; NaN before the first one. seen_at: when each channel was seen, on that clock.
        """
        n, channels, dtype = len(start), self.intake.observed, next(self.parameters()).dtype
        return {
            "state": self._start(self.intake.static_rows(static, dtype)).numpy(),
            "row": torch.zeros(n, self.intake.read, dtype=dtype).numpy(),
            "seen": np.zeros((n, channels), dtype=bool),
            "seen_at": np.zeros((n, channels)),
            "start": start,
            "time": np.full(n, np.nan),
            "clock": np.full(n, np.nan),
        }

    def step(self, memory: Memory, times: Float64[np.ndarray, " B"], values: Float64[np.ndarray, "B C"]) -> Memory:
        intake, channels = self.intake, self.intake.observed
        clock = (times - memory["start"]) * (1.0 / intake.time_scale.item())
        since = np.where(np.isnan(memory["clock"]), 0.0, clock - memory["clock"])
        seen = ~np.isnan(values)
        table = np.concatenate([values, seen, clock[:, None] - memory["seen_at"], since[:, None]], axis=1)
        with np.errstate(over="ignore"):
            read = np.nan_to_num((table - intake.centre.numpy()) / intake.scale.numpy()).astype(memory["row"].dtype)
        read[:, :channels] = np.where(seen, read[:, :channels], memory["row"][:, :channels])
        return {
            "state": _step(read, memory["state"], self._weights()),
            "row": read,
            "seen": seen,
            "seen_at": np.where(seen, clock[:, None], memory["seen_at"]),
            "start": memory["start"],
            "time": times,
            "clock": clock,
        }

    def read(self, memory: Memory, at: Float64[np.ndarray, " B"]) -> Float[np.ndarray, "B H"]:
        later = at > memory["time"]
        if not later.any():
            return memory["state"]
        since = (at - memory["time"])[later] / self.intake.time_scale.item()
        states = memory["state"].copy()
        x = self._unseen(memory["row"][later], memory["seen"][later], since)
        states[later] = _step(x, states[later], self._weights())
        return states

    def _start(self, static: Float[Tensor, "B S"]) -> Float[Tensor, "B H"]:
        if self.from_static is None:
            return static.new_zeros(len(static), self.state_size)
        return linear_rows(static, self.from_static.weight, self.from_static.bias)

    def _together(self, inputs: RunningRows, start: Tensor) -> Float[Tensor, "B T H"]:
        """States after each row, by the library's GRU on a padded batch."""
        lengths = inputs.offsets.diff()[:, None]
        place = torch.arange(int(lengths.max())).expand(len(inputs), -1)
        x = inputs.values[inputs.offsets[:-1, None] + torch.minimum(place, lengths - 1)]
        states, _ = self.core(x, start[None])
        return states

    def _one_by_one(self, inputs: RunningRows, start: Tensor) -> Float[Tensor, "B T H"]:
        """The same with every row by itself; series that have ended leave."""
        lengths = inputs.offsets.diff()
        order = lengths.argsort(descending=True, stable=True)
        begin, lengths = inputs.offsets[:-1][order], lengths[order]
        states = start.new_zeros(len(inputs), int(lengths[0]), self.state_size)
        h, weights = start[order].numpy(), self._weights()
        for place in range(int(lengths[0])):
            going = int((lengths > place).sum())
            h = _step(inputs.values[begin[:going] + place].numpy(), h[:going], weights)
            states[order[:going], place] = torch.from_numpy(h)
        return states

    def _stepped(self, x: Float[Tensor, "B D"], h: Float[Tensor, "B H"]) -> Float[Tensor, "B H"]:
        return torch.from_numpy(_step(x.numpy(), h.numpy(), self._weights()))

    def _weights(self) -> tuple[np.ndarray, ...]:
        return tuple(weight.detach().numpy() for weight in self.core.parameters())

    def _unseen(
        self, row: Float[np.ndarray, "Q D"], seen: Bool[np.ndarray, "Q C"], since: Float64[np.ndarray, " Q"]
    ) -> Float[np.ndarray, "Q D"]:
        """What a row that sees nothing would read, so long after the given ones."""
        x, channels = row.copy(), self.intake.observed
        centre, scale = self.intake.centre.numpy(), self.intake.scale.numpy()
        ages, presence = slice(2 * channels, 3 * channels), slice(channels, 2 * channels)
        age = np.where(seen, 0.0, x[:, ages] * scale[ages] + centre[ages]) + since[:, None]
        x[:, presence] = -centre[presence] / scale[presence]
        x[:, ages] = (age - centre[ages]) / scale[ages]
        x[:, -1] = (since - centre[-1]) / scale[-1]
        return x
