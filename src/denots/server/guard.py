"""The token: without it, nothing of a model can be asked or seen."""

import hashlib
import hmac
import os
from collections.abc import Collection
from pathlib import Path

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from denots.errors import InvalidOption
from denots.server.problem import Problem

VARIABLE = "DENOTS_TOKEN"
SHORTEST = 16


class Guard:
    """Lets a request or a connection through if it brings the token, or asks for an open address.

    Args:
        token: None lets everyone through.
        open: addresses that tell nothing of the model.
    """

    def __init__(self, app: ASGIApp, token: str | None, open: Collection[str]) -> None:
        self.app, self.open = app, open
        self.expected = None if token is None else _hashed(token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"] in self.open or self._knows(scope):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            words = "send the header Authorization: Bearer TOKEN with the token of this server."
            await Problem("unauthorized", words).response()(scope, receive, send)

    def _knows(self, scope: Scope) -> bool:
        if self.expected is None:
            return True
        kind, _, token = Headers(scope=scope).get("authorization", "").partition(" ")
        # Digests have one length, so that the time of the comparison tells nothing of the token.
        return hmac.compare_digest(_hashed(token.strip()), self.expected) and kind.lower() == "bearer"


def read_token(file: Path | None) -> str | None:
    """The token in a file, or else in the environment; None where there is neither."""
    token, place = os.environ.get(VARIABLE), VARIABLE
    if file is not None:
        token, place = file.read_text(encoding="utf-8"), str(file)
    if token is None:
        return None
    token = token.strip()
    if len(token) < SHORTEST or not token.isascii() or len(token.split()) > 1:
        raise InvalidOption(
            f"the token in {place} has {len(token)} characters; it is one word of at least {SHORTEST} letters, digits and signs, "
            "for example from: openssl rand -hex 32."
        )
    return token


def _hashed(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
