"""What discrete models read: the rows of each series, packed; padded only when a batch is read."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Float64, Int
from torch import Tensor
from torch.nn.functional import pad

from denots.backbones.embedding import ChannelMoments
from denots.backbones.intake import Intake
from denots.data.series import SeriesSet, ragged_rows
from denots.data.transforms import fill_with_neighbours

Holes = Literal["bridge", "zero"]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Standardised rows on the clock of each series, without holes.

    Where a value is not `known` it is zero, and stays zero after the embedding.
    """

    times: Float64[Tensor, " N"]
    values: Float[Tensor, "N C"]
    known: Bool[Tensor, "N C"]
    offsets: Int[Tensor, " n_plus_1"]
    moments: ChannelMoments
    static: Float[Tensor, "n S"]
    start: Float64[Tensor, " n"]

    @classmethod
    def of(cls, series: SeriesSet, intake: Intake, holes: Holes, dtype: torch.dtype) -> "Rows":
        """Bridge the holes (the last value, or the first one before it), or leave them to be zero."""
        observed = intake.observations(series)
        filled = fill_with_neighbours(observed) if holes == "bridge" else observed
        values = torch.from_numpy(filled.values).to(dtype)
        return cls(
            times=torch.from_numpy(observed.times),
            values=values.nan_to_num(),
            known=~values.isnan(),
            offsets=torch.from_numpy(observed.offsets),
            moments=ChannelMoments.of(observed),
            static=intake.static(series, dtype),
            start=torch.from_numpy(series.start),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def select(self, rows: Int[Tensor, " B"]) -> "Rows":
        packed, offsets = ragged_rows(self.offsets.numpy(), rows.numpy())
        picked = torch.from_numpy(packed)
        return Rows(
            times=self.times[picked],
            values=self.values[picked],
            known=self.known[picked],
            offsets=torch.from_numpy(offsets),
            moments=self.moments.select(rows),
            static=self.static[rows],
            start=self.start[rows],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """The rows of a batch, and queries if there are any, in time order; where it is not `real` it is padding.

    row: the packed row that stands at a place. At a query it is the row before it, or the first one.
    row_places, answers: the places of the rows and of the queries; without queries there is one
        answer, at the last row.
    """

    times: Float64[Tensor, "B T"]
    row: Int[Tensor, "B T"]
    real: Bool[Tensor, "B T"]
    asked: Bool[Tensor, "B T"]
    row_places: Int[Tensor, "B L"]
    answers: Int[Tensor, "B K"]

    @classmethod
    def of(cls, rows: Rows, at: Float64[Tensor, "B K"] | None = None) -> "Timeline":
        """Merge queries `at`, on the clock of the rows; at equal times the observation comes first."""
        lengths = rows.offsets.diff()[:, None]
        place = torch.arange(int(lengths.max())).expand(len(rows), -1)
        first, real = rows.offsets[:-1, None], place < lengths
        row = first + torch.minimum(place, lengths - 1)
        times = rows.times[row]
        if at is None:
            return cls(times, row, real, torch.zeros_like(real), place, lengths - 1)
        order = torch.cat([times.where(real, torch.inf), at], dim=1).argsort(dim=1, stable=True)
        places = order.argsort(dim=1)
        asked = order >= place.shape[1]
        latest = order.masked_fill(asked, 0).cummax(dim=1).values
        return cls(
            times=torch.cat([times, at], dim=1).gather(1, order),
            row=first + torch.minimum(latest, lengths - 1),
            real=torch.cat([real, torch.ones_like(at, dtype=torch.bool)], dim=1).gather(1, order),
            asked=asked,
            row_places=places[:, : place.shape[1]],
            answers=places[:, place.shape[1] :],
        )

    @property
    def offsets(self) -> Int[Tensor, " n_plus_1"]:
        """Where the real places of each series begin when those of all are laid end to end."""
        return pad(self.real.sum(dim=1).cumsum(dim=0), (1, 0))

    @property
    def packed_answers(self) -> Int[Tensor, " BK"]:
        """The answers of all series among their real places, laid end to end."""
        return (self.offsets[:-1, None] + self.answers).flatten()

    def answered(self, packed: Float[Tensor, "N H"]) -> Float[Tensor, "B K H"]:
        """What stands at the answers."""
        return packed.index_select(0, self.packed_answers).unflatten(0, self.answers.shape)


def take(x: Float[Tensor, "*B T H"], places: Int[Tensor, "*B K"]) -> Float[Tensor, "*B K H"]:
    """What stands at the given places of each series."""
    return x.gather(-2, places[..., None].expand(*places.shape, x.shape[-1]))
