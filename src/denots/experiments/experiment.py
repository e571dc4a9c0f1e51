"""What an experiment is: runs to make, and what their records show."""

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from denots.errors import InvalidOption
from denots.experiments.exhibit import Exhibit
from denots.protocol import DEFAULT_PROTOCOL, Protocol, check_protocol
from denots.runs.origin import Profile
from denots.runs.record import RunRecord
from denots.runs.run import Measure

if TYPE_CHECKING:
    from denots.experiments.results import Findings
    from denots.experiments.runs import Plan


@dataclass(frozen=True)
class Request:
    """How much of an experiment is wanted.

    profile: "smoke" runs everything in seconds, on toy sizes; "quick" takes minutes and says what
        it reduced; "paper" has the published sizes, depths and seeds.
    seeds: None takes as many as the profile has.
    datasets, systems: None takes all of an experiment.
    """

    profile: Profile = "quick"
    protocol: Protocol = DEFAULT_PROTOCOL
    seeds: tuple[int, ...] | None = None
    datasets: tuple[str, ...] | None = None
    systems: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_protocol(self.protocol)
        if self.profile not in get_args(Profile):
            raise InvalidOption(f"profile is one of {', '.join(get_args(Profile))}; got {self.profile!r}.")

    def wants(self, dataset: str, system: str) -> bool:
        """Whether runs of a system on a data set are asked for."""
        return all(
            chosen is None or name in chosen for name, chosen in ((dataset, self.datasets), (system, self.systems))
        )

    def of(self, smoke: Any, quick: Any, paper: Any) -> Any:
        """What goes with the profile."""
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
    compares_rules: ClassVar[bool] = False

    @abc.abstractmethod
    def plan(self, request: Request) -> "Plan":
        """The runs to make, the most telling ones first."""

    @abc.abstractmethod
    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        """Tables and figures: a pure function of the records, whatever their number.

        The records are of one set of rules, unless the experiment compares them.
        """


class Study(Experiment):
    """An experiment without training; what it finds is one line of JSON too."""

    @abc.abstractmethod
    def options(self, request: Request) -> dict[str, Any]:
        """How much to do; the same options are not studied twice."""

    @abc.abstractmethod
    def make(self, options: dict[str, Any]) -> dict[str, Any]:
        """Do it, and return plain values."""

    @abc.abstractmethod
    def shown(self, findings: "Findings | None") -> list[Exhibit]:
        """Tables and figures of the most telling findings; None before there are any."""

    def plan(self, request: Request) -> "Plan":
        from denots.experiments.runs import Plan

        return Plan(request)

    def exhibits(self, records: Sequence[RunRecord]) -> list[Exhibit]:
        return []
