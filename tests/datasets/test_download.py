"""Downloads against a server on this machine: whole, broken off, changed, and wrong."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from denots.datasets.download import download
from denots.errors import DownloadFailed, InvalidOption

CONTENT = np.random.default_rng(0).bytes(700_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves `content`; closes each of the first `breaks` connections after `limit` bytes."""

    content = CONTENT
    tag = '"one"'
    breaks = 0
    limit = 300_000
    status = 0
    ranges: list[str | None]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/data.zip"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server, wanted = self.server, self.headers.get("Range")
        server.ranges.append(wanted)
        if server.status:
            self.send_error(server.status)
            return
        begin = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted else 0
        if self.headers.get("If-Range", server.tag) != server.tag:
            begin = 0
        if begin >= len(server.content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(server.content)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(server.content) - begin))
        self.send_header("ETag", server.tag)
        self.end_headers()
        body = server.content[begin:]
        if server.breaks:
            server.breaks -= 1
            body = body[: server.limit]
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as running:
        running.ranges = []
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_the_first_checksum_is_recorded_and_the_next_download_verified(server: Server, tmp_path: Path) -> None:
    first = download(server.url, tmp_path / "data.zip")
    assert first.file.read_bytes() == CONTENT
    assert (first.sha256, first.verified) == (SHA256, False)
    assert (tmp_path / "data.zip.sha256").read_text() == f"{SHA256}  data.zip\n"
    assert download(server.url, tmp_path / "data.zip").verified
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["data.zip", "data.zip.sha256"]


def test_a_file_that_changed_since_the_first_download_is_refused(server: Server, tmp_path: Path) -> None:
    download(server.url, tmp_path / "data.zip")
    server.content = CONTENT[::-1]
    with pytest.raises(DownloadFailed, match=rf"not the {SHA256} seen at the first download"):
        download(server.url, tmp_path / "data.zip")
    assert (tmp_path / "data.zip").read_bytes() == CONTENT
    assert not (tmp_path / "data.zip.part").exists()


def test_a_wrong_checksum_leaves_nothing_behind(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DownloadFailed, match=rf"has the sha256 {SHA256}, not the {'0' * 64}; it was thrown away"):
        download(server.url, tmp_path / "data.zip", sha256="0" * 64)
    assert list(tmp_path.iterdir()) == []
    assert download(server.url, tmp_path / "data.zip", sha256=SHA256.upper()).verified


def test_a_broken_connection_is_resumed_where_it_ended(server: Server, tmp_path: Path) -> None:
    server.breaks = 2
    found = download(server.url, tmp_path / "data.zip", pause=0.0)
    assert found.file.read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=300000-", "bytes=600000-"]


def test_a_later_call_goes_on_with_what_an_earlier_one_left(server: Server, tmp_path: Path) -> None:
    server.breaks = 1
    with pytest.raises(DownloadFailed, match=r"300000 of 700000 bytes.*300000 bytes are kept"):
        download(server.url, tmp_path / "data.zip", attempts=1)
    assert not (tmp_path / "data.zip").exists()
    assert download(server.url, tmp_path / "data.zip").file.read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=300000-"]


def test_a_file_that_changed_between_two_calls_is_fetched_anew(server: Server, tmp_path: Path) -> None:
    server.breaks = 1
    with pytest.raises(DownloadFailed):
        download(server.url, tmp_path / "data.zip", attempts=1)
    server.content, server.tag = CONTENT[::-1], '"two"'
    assert download(server.url, tmp_path / "data.zip").file.read_bytes() == CONTENT[::-1]


@pytest.mark.parametrize("excess", [0, 10])
def test_a_part_that_is_already_whole_or_too_long_is_no_dead_end(server: Server, tmp_path: Path, excess: int) -> None:
    (tmp_path / "data.zip.part").write_bytes(CONTENT + bytes(excess))
    assert download(server.url, tmp_path / "data.zip", pause=0.0).file.read_bytes() == CONTENT


def test_what_the_server_does_not_have_is_not_asked_for_again(server: Server, tmp_path: Path) -> None:
    server.status = 404
    with pytest.raises(DownloadFailed, match=r"404.*or download it by other means"):
        download(server.url, tmp_path / "data.zip", pause=0.0)
    assert len(server.ranges) == 1
    server.status = 503
    with pytest.raises(DownloadFailed, match="503"):
        download(server.url, tmp_path / "data.zip", attempts=3, pause=0.0)
    assert len(server.ranges) == 4


def test_only_http_is_spoken(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="is no http address"):
        download("file:///etc/hosts", tmp_path / "data.zip")
