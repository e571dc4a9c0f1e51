"""What an experiment is: runs to make, and what their records show."""

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from denots.errors import InvalidOption
from denots.experiments.exhibit import Exhibit
from denots.training.record import RunRecord
from denots.training.run import Measure
from denots.training.spec import Protocol, RunSpec

Profile = Literal["smoke", "quick", "paper"]


@dataclass(frozen=True)
class Request:
    """How much of an experiment is wanted.

    profile: "smoke" runs everything in seconds, on toy sizes; "quick" takes minutes and says what
        it reduced; "paper" has the published sizes, depths and seeds.
    seeds: None takes as many as the profile has.
    """

    profile: Profile = "quick"
    protocol: Protocol = "paper"
    seeds: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        for name, known in (("profile", get_args(Profile)), ("protocol", get_args(Protocol))):
            if getattr(self, name) not in known:
                raise InvalidOption(f"{name} is one of {', '.join(known)}; got {getattr(self, name)!r}.")

    def of(self, smoke: int, quick: int, paper: int) -> int:
        """The number that goes with the profile."""
        return {"smoke": smoke, "quick": quick, "paper": paper}[self.profile]

    def seeded(self, quick: int, paper: int) -> tuple[int, ...]:
        """The seeds asked for, else the first few."""
        return self.seeds if self.seeds is not None else tuple(range(self.of(1, quick, paper)))


class Experiment(abc.ABC):
    """One table or figure of the paper, or one question that it leaves open.

    To add one, subclass it in its own file and give it a line in `EXPERIMENTS`.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    shows: ClassVar[str]  # where the paper has it
    reduced: ClassVar[str] = ""  # what `quick` leaves out
    measures: ClassVar[Mapping[str, Measure]] = {}

    @abc.abstractmethod
    def plan(self, request: Request) -> list[RunSpec]:
        """The runs to make, the most telling ones first."""

    @abc.abstractmethod
    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        """Tables and figures: a pure function of the records, whatever their number."""
