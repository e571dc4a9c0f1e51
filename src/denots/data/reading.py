"""What could be read of a table or a list, and what could not."""

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from denots.data.reject import joint_error
from denots.data.series import SeriesSet
from denots.errors import Rejected


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The series that can be read, as if the rejected ones were not there; `ids` are all, in the order given."""

    series: SeriesSet
    rejected: tuple[Rejected, ...]
    ids: npt.NDArray[Any]

    def check(self) -> SeriesSet:
        """The series, if none was rejected; else one error that names all of them."""
        if self.rejected:
            raise joint_error(self.rejected)
        return self.series
