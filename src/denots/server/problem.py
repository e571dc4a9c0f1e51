"""Why a request has no answer: a word for programs, a sentence for people (RFC 9457, problem details)."""

import json
import logging
import secrets
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from denots.errors import DenotsError, Rejected

MEDIA = "application/problem+json"
KINDS: dict[str, tuple[int, str]] = {
    "malformed": (400, "The request cannot be read"),
    "unauthorized": (401, "The token is missing or wrong"),
    "not-found": (404, "There is nothing at this address"),
    "wrong-method": (405, "This address takes other requests"),
    "too-slow": (408, "The request did not arrive in time"),
    "too-large": (413, "The request is too large"),
    "unsupported": (415, "This kind of content is not read"),
    "invalid": (422, "The table or the question does not fit the model"),
    "too-many-requests": (429, "Too many requests are waiting"),
    "failed": (500, "The server failed"),
    "not-ready": (503, "The server takes no requests now"),
    "timed-out": (504, "The answer was not ready in time"),
}
_BY_STATUS = {status: kind for kind, (status, _) in KINDS.items()}
_HEADERS = {"unauthorized": {"WWW-Authenticate": "Bearer"}, "too-many-requests": {"Retry-After": "1"}}

log = logging.getLogger("denots.server")


class Problem(DenotsError):
    """A request that gets no answer.

    Args:
        kind: one of KINDS.
        detail: what was found, what was expected and what to do.
        rejected: the series that are to blame, if it is them.
    """

    def __init__(self, kind: str, detail: str, rejected: tuple[Rejected, ...] = ()) -> None:
        super().__init__(detail)
        self.kind, self.rejected = kind, rejected

    def body(self) -> dict[str, Any]:
        status, title = KINDS[self.kind]
        told = {"type": f"/docs#{self.kind}", "title": title, "status": status, "detail": str(self)}
        series = [{"id": bad.id, "reason": bad.reason} for bad in self.rejected]
        return told | ({"series": series} if series else {})

    def response(self) -> Response:
        content = json.dumps(self.body(), ensure_ascii=False).encode()
        return Response(content, KINDS[self.kind][0], _HEADERS.get(self.kind), media_type=MEDIA)


async def tell_problem(_: Request, error: Exception) -> Response:
    """Any error as a response; one that nobody expected is logged whole and told by its number alone."""
    if isinstance(error, Problem):
        return error.response()
    if isinstance(error, DenotsError):
        return Problem("invalid", str(error), error.rejected).response()
    if isinstance(error, HTTPException):
        kind = _BY_STATUS.get(error.status_code, "malformed")
        response = Problem(kind, _DETAILS.get(kind, error.detail)).response()
        response.headers.update(error.headers or {})
        return response
    number = secrets.token_hex(4)
    log.error("error %s: %r", number, error)  # the traceback is told by whoever called the application
    return Problem("failed", f"this is a fault of the server; its log tells more under error {number}.").response()


_DETAILS: Mapping[str, str] = {
    "not-found": "GET /docs lists the addresses of this server.",
    "wrong-method": "GET /docs tells which method each address takes.",
}
