"""A statement of the paper, and what came out when it was checked."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["right", "wrong", "misleading", "noted"]


@dataclass(frozen=True)
class Check:
    """A statement, what was computed to check it, and how it fared; "noted" was read, not computed.

    rule: what the numbers would have to be for the statement to be right.
    """

    topic: str
    paper: str
    found: str
    verdict: Verdict
    rule: str = ""


def judged(
    topic: str,
    paper: str,
    found: str,
    *,
    holds: bool,
    rule: str,
    otherwise: Literal["wrong", "misleading"] = "wrong",
) -> Check:
    """A check whose verdict follows from numbers: right where they hold to the rule."""
    return Check(topic, paper, found, "right" if holds else otherwise, rule)
