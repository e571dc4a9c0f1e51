"""By which rules an experiment is made; nothing heavy is imported here, so that commands can name the default."""

from typing import Literal, get_args

from denots.errors import InvalidOption

# As published; as a careful referee would ask for where that differs; or that, with the best known training for all alike.
Protocol = Literal["paper", "fair", "best"]
DEFAULT_PROTOCOL: Protocol = "paper"


def check_protocol(name: str) -> Protocol:
    """The same name, if it is a protocol."""
    for known in get_args(Protocol):
        if name == known:
            return known
    raise InvalidOption(f"protocol is one of {', '.join(get_args(Protocol))}; got {name!r}.")
