"""What a server takes on before it says no."""

from dataclasses import dataclass, fields

from denots.errors import InvalidOption


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a request, and of all of them together.

    bytes: of the body of a request.
    rows: of its table, or that a stream remembers.
    seconds: from the first byte of a request to its answer.
    waiting: requests that are read or answered at the same time; more are turned away.
    window: seconds for which a first request waits for others that are answered with it.
    streams: at the same time; more are turned away.
    idle: seconds for which nothing may come on a stream.
    """

    bytes: int = 16_000_000
    rows: int = 100_000
    seconds: float = 30.0
    waiting: int = 64
    window: float = 0.002
    streams: int = 16
    idle: float = 600.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0 < value < float("inf") and not (field.name == "window" and value == 0):
                raise InvalidOption(f"the limit of {field.name} is {value}; give a positive number.")
