"""Errors that say what was found, what was expected and what to do about it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rejected:
    """A series that cannot be read, and why; without it the others can."""

    id: str | int
    reason: str
    error: "type[DenotsError]"
    kind: str = ""  # of the fault, in words; a message counts the series of one kind
    rows: int = 1  # of the series that have this fault


class DenotsError(Exception):
    """Root of every error that this package raises on purpose.

    `rejected` names the series that are to blame, where leaving them out would help.
    """

    rejected: tuple[Rejected, ...] = ()


class InvalidSeries(DenotsError, ValueError):
    """Observations that no model can read: unsorted times, infinities, an empty series."""


class EmptySeries(InvalidSeries):
    """A series without any observed value; a table may be read without it."""


class InvalidTable(DenotsError, ValueError):
    """A table whose columns do not describe series: a missing column, text where numbers belong."""


class InvalidTarget(DenotsError, ValueError):
    """A target that cannot be learnt: one class only, a constant, a missing value."""


class InvalidEvent(DenotsError, ValueError):
    """A row that a stream cannot take: too late, infinite, two values at one time; the stream goes on without it."""


class InvalidOption(DenotsError, ValueError):
    """An option outside its range, or two options that exclude each other."""


class NotServed(DenotsError, ValueError):
    """A model that the runtime cannot serve, with the reason; the whole package can."""


class UnknownName(DenotsError, KeyError):
    """A name that is in no registry; the message offers the nearest ones."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would print the message in quotes


class InvalidFolder(DenotsError, ValueError):
    """A data or model folder that is truncated, foreign, or written by a newer version."""


class InvalidFile(DenotsError, ValueError):
    """A data file that does not follow its format; the message names file and line."""


class NotImported(DenotsError, LookupError):
    """A data set that nobody may redistribute here; the message says where it is and how to take it in."""


class DownloadFailed(DenotsError, RuntimeError):
    """A download that broke off too often, or brought other bytes than expected."""


class MissingExtra(DenotsError, ImportError):
    """A library that only some of the work needs is not installed; the message says how to install it."""


class SolverFailure(DenotsError, RuntimeError):
    """Series whose trajectory could not be integrated, with the reason for each."""


class NativeUnavailable(DenotsError, RuntimeError):
    """The fused kernels were asked for and cannot do this work; the message says why."""


class NotCertifiable(DenotsError, ValueError):
    """A model of which nothing can be proved; the message says why, and which one to fit instead."""


class OutOfTime(DenotsError, TimeoutError):
    """A run stopped at its deadline, its checkpoint written; started again, it goes on from there."""


class WorkerLost(DenotsError, RuntimeError):
    """A process that made runs was killed, most likely for want of memory; what it recorded is safe."""


class UnusualSeries(UserWarning):
    """Some series are unlike everything that the model was trained on; their answers may mean nothing."""


class SkippedSeries(UserWarning):
    """Series of a table were left out because nothing was observed in them, as asked."""


class NothingLearnt(UserWarning):
    """No model is better than the trivial answer."""


class SlowWarning(UserWarning):
    """Work that the fused kernels, or the fastest of them, could not do; the message says why."""


class SolverWarning(UserWarning):
    """Some series could not be integrated; their predictions are NaN."""
