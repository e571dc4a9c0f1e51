"""A statement of the paper, and what came out when it was checked."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["right", "wrong", "misleading", "noted"]


@dataclass(frozen=True)
class Check:
    """A statement, what was computed to check it, and how it fared; "noted" was read, not computed."""

    topic: str
    paper: str
    found: str
    verdict: Verdict
