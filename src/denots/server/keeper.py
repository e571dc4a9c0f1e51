"""The model that is served, and how another takes its place while requests go on."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from denots.errors import DenotsError, InvalidFolder
from denots.server.served import Served, digest_of

log = logging.getLogger("denots.server")


class Keeper:
    """Keeps the model of a folder. A new one takes its place once it is read, checked and has answered; else the old stays.

    Args:
        folder: of the model.
        tell: is told of each reload whether it went well.
    """

    def __init__(self, folder: Path, tell: Callable[[bool], None] = lambda _: None) -> None:
        self.folder, self.tell = folder, tell
        self.served = Served.load(folder)
        self._reloading = asyncio.Lock()

    async def reload(self) -> None:
        """Read the folder again; what is being answered is answered by the model that it was read for."""
        async with self._reloading:
            try:
                fresh = await asyncio.to_thread(Served.load, self.folder)
            except Exception as error:  # whatever is wrong with it, the old one goes on
                expected = isinstance(error, DenotsError | OSError)
                log.error("not reloaded, the old model stays: %s", error, exc_info=None if expected else error)
                self.tell(False)
                return
            self.served = fresh
            log.warning("reloaded %s, digest %.12s", self.folder, fresh.digest)
            self.tell(True)

    async def watch(self, seconds: float) -> None:
        """Reload whenever the folder holds another model; one that was refused is tried again once it has changed."""
        seen = self.served.digest
        while True:
            await asyncio.sleep(seconds)
            try:
                found = await asyncio.to_thread(digest_of, self.folder)
            except InvalidFolder:
                continue  # the folder is being replaced
            if found not in (seen, self.served.digest):
                await self.reload()
            seen = found
