"""Fetch a file over http: resumed where it broke off, and checked.

Where no checksum is published, the one seen at the first download is kept beside the file and
every later download has to match it (trust on first use). That notices a file that changed, not
one that was wrong from the beginning.
"""

import hashlib
import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from denots.errors import DownloadFailed, InvalidOption
from denots.progress import byte_bar

BLOCK = 1 << 18
TIMEOUT = 60.0  # seconds without a byte


class Downloaded(NamedTuple):
    """The file, its sha256, and whether that was known before."""

    file: Path
    sha256: str
    verified: bool


def download(url: str, file: Path, *, sha256: str | None = None, attempts: int = 5, pause: float = 1.0) -> Downloaded:
    """Fetch `url` into `file` and check it; an interrupted download goes on where it ended.

    Args:
        sha256: the published checksum; without it, the one of the first download counts.
        attempts: how often to connect without getting any further before giving up.
        pause: seconds to wait after the first failure, doubled after each of the next ones.
    """
    if not url.startswith(("http://", "https://")):
        raise InvalidOption(f"{url!r} is no http address.")
    file.parent.mkdir(parents=True, exist_ok=True)
    part, failures = file.with_name(f"{file.name}.part"), 0
    while True:
        before = part.stat().st_size if part.exists() else 0
        try:
            _fetch(url, part)
            break
        except (OSError, http.client.HTTPException) as error:
            code = error.code if isinstance(error, urllib.error.HTTPError) else 500
            if code == 416:  # longer than what the server has now: begin anew
                part.unlink()
            after = part.stat().st_size if part.exists() else 0
            failures = 1 if after > before else failures + 1
            if failures >= attempts or (code < 500 and code != 416):
                raise DownloadFailed(
                    f"{url} cannot be fetched ({error}). {after} bytes are kept; the same command goes on from there, "
                    "or download it by other means and run `denots data import`."
                ) from error
            time.sleep(pause * 2 ** (failures - 1))
    return _accept(url, part, file, sha256)


def _fetch(url: str, part: Path) -> None:
    """Append what is missing to `part`; raise OSError when the connection ends too early."""
    tag = part.with_name(f"{part.name}.etag")
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "denots"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if tag.exists():
            headers["If-Range"] = tag.read_text(encoding="utf-8")  # changed meanwhile: the server sends all of it
    with _answer(url, headers, have) as answer:
        if answer is None:
            return
        resumed = answer.status == 206
        if not resumed:
            have = 0
        if answer.headers.get("ETag", "W/").startswith('"'):  # a weak one says nothing about the bytes
            tag.write_text(answer.headers["ETag"], encoding="utf-8")
        length = answer.headers.get("Content-Length")
        total = None if length is None else have + int(length)
        with part.open("ab" if resumed else "wb") as stream, byte_bar(part.stem, total, have) as advance:
            while block := answer.read(BLOCK):
                stream.write(block)
                have += len(block)
                advance(len(block))
    if total is not None and have < total:
        raise ConnectionError(f"the connection ended after {have} of {total} bytes")


@contextmanager
def _answer(url: str, headers: dict[str, str], have: int) -> Iterator[http.client.HTTPResponse | None]:
    """The server's answer; None when nothing is missing any more."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT) as answer:
            yield answer
    except urllib.error.HTTPError as error:
        error.close()
        if error.code != 416 or error.headers.get("Content-Range") != f"bytes */{have}":
            raise
        yield None


def _accept(url: str, part: Path, file: Path, sha256: str | None) -> Downloaded:
    """Give the file its name once its checksum is right; otherwise throw it away."""
    with part.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    known = file.with_name(f"{file.name}.sha256")
    expected = sha256.lower() if sha256 else known.read_text(encoding="utf-8").split()[0] if known.exists() else None
    part.with_name(f"{part.name}.etag").unlink(missing_ok=True)
    if expected is not None and found != expected:
        part.unlink()
        kept = "" if sha256 else f" seen at the first download (delete {known} if the publisher changed the file)"
        raise DownloadFailed(
            f"{url} has the sha256 {found}, not the {expected}{kept}; it was thrown away. Try again, or another mirror."
        )
    fresh = known.with_name(f"{known.name}.new")
    fresh.write_text(f"{found}  {file.name}\n", encoding="utf-8")
    os.replace(fresh, known)
    os.replace(part, file)
    return Downloaded(file, found, expected is not None)
