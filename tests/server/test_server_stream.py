"""Rows over one connection: the answers of a stream, as they come, and bounds like those of any request."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from denots import load
from denots.server.limits import Limits
from denots.stream.lines import Lines, encoded
from server.conftest import CHANNELS, Client, as_csv, served, wait_for
from server.test_server_answers import sample

NDJSON = "application/x-ndjson"


@pytest.fixture(scope="module")
def live(ward: Path) -> Iterator[Client]:
    with served(ward / "rows") as (client, _):
        yield client


def lines_of(table: pd.DataFrame) -> list[bytes]:
    """A line for each row, in order of time; what was not observed is null."""
    return [
        json.dumps(
            {
                "id": row["patient"],
                "time": row["hour"],
                "values": {name: None if row[name] != row[name] else row[name] for name in CHANNELS},
                "static": {"age": row["age"]},
            }
        ).encode()
        for row in table.sort_values("hour").to_dict("records")
    ]


class Connection:
    """A stream that is written to and read from in turn."""

    def __init__(self, port: int, path: str = "/stream", buffer: int | None = None, **headers: str) -> None:
        self.socket = socket.socket()
        if buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(30)
        self.socket.connect(("127.0.0.1", port))
        told = {"Host": "here", "Content-Type": NDJSON, "Transfer-Encoding": "chunked", **headers}
        head = "".join(f"{name}: {text}\r\n" for name, text in told.items())
        self.socket.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode())
        self.file = self.socket.makefile("rb")

    def send(self, *lines: bytes) -> None:
        text = b"".join(line + b"\n" for line in lines)
        self.socket.sendall(f"{len(text):x}\r\n".encode() + text + b"\r\n")

    def send_forever(self, line: bytes) -> None:
        while True:
            self.send(*[line] * 2000)

    def end(self) -> None:
        self.socket.sendall(b"0\r\n\r\n")

    def head(self) -> dict[str, str]:
        status = self.file.readline().split()[1].decode()
        found = {}
        while (line := self.file.readline().strip()) != b"":
            name, _, text = line.decode().partition(": ")
            found[name.lower()] = text
        return {"status": status, **found}

    def told(self) -> list[dict[str, Any]]:
        """What one piece of the response says; nothing at its end."""
        size = int(self.file.readline(), 16)
        text = self.file.read(size)
        self.file.readline()
        return [json.loads(line) for line in text.splitlines()]

    def close(self) -> None:
        self.file.close()
        self.socket.close()


@contextmanager
def talking(port: int, *given: Any, **more: Any) -> Iterator[Connection]:
    with closing(Connection(port, *given, **more)) as connection:
        yield connection


def test_each_row_is_answered_at_once_with_the_bits_of_predict(live: Client, ward: Path, new: pd.DataFrame) -> None:
    model = load(ward / "rows")
    wanted = {(row["patient"], row["hour"]): row for row in model.predict_table(new).to_dict("records")}
    with talking(live.port) as stream:
        for k, line in enumerate(lines_of(new), start=1):
            stream.send(line)
            if k == 1:
                head = stream.head()
                assert (head["status"], head["content-type"]) == ("200", NDJSON)
                assert head["denots-model"] == live("GET", "/model").json["digest"]
            (answer,) = stream.told()
            assert (answer["answer"], answer["event"]) == (k, k)
            row = wanted[answer["id"], answer["time"]]
            assert [answer[name] for name in ("prediction", "p_0", "p_1")] == [
                row[name] for name in ("prediction", "p_0", "p_1")
            ]
        stream.send(b'{"now": 60, "ids": ["p003"]}')
        assert stream.told()[0]["time"] == 60
        stream.end()
        assert stream.told() == []


def test_lines_in_one_piece_are_answered_as_by_the_command_and_a_bad_one_harms_no_other(
    live: Client, ward: Path, new: pd.DataFrame
) -> None:
    lines = lines_of(new)
    bad = [
        b"nonsense",
        b'{"id": "p001"}',
        b'{"id": "p001", "time": 1, "values": {"puls": 1}}',
        b"\xff",
        b'{"now": NaN}',
    ]
    lines[20:20] = bad
    before = sample(live, "denots_stream_lines_total")
    found = live("POST", "/stream?lag=2&expire=30", b"\n".join(lines), NDJSON)
    assert found.content == encoded(Lines(load(ward / "rows").stream(lag=2.0, expire=30.0)).answered(lines))
    assert sum("error" in json.loads(line) for line in found.content.splitlines()) == len(bad)
    assert sample(live, "denots_stream_lines_total") == before + len(lines)
    assert sample(live, "denots_streams") == 0


@pytest.mark.parametrize(
    ("path", "media", "headers", "kind", "words"),
    [
        ("/stream", "text/csv", {}, "unsupported", "application/x-ndjson"),
        ("/stream", NDJSON, {"Content_Encoding": "gzip"}, "unsupported", "packed"),
        ("/stream?lagg=1", NDJSON, {}, "invalid", "Did you mean 'lag'"),
        ("/stream?lag=soon", NDJSON, {}, "invalid", "'lag' is 'soon'"),
        ("/stream?rows=0", NDJSON, {}, "invalid", "keeps at least one row"),
    ],
)
def test_what_cannot_be_begun_is_a_typed_problem(
    live: Client, path: str, media: str, headers: dict[str, str], kind: str, words: str
) -> None:
    found = live("POST", path, b"{}", media, **headers)
    assert found.json["type"] == f"/docs#{kind}"
    assert words in found.json["detail"]


def test_a_model_that_may_look_ahead_has_no_stream(classifier: Client) -> None:
    found = classifier("POST", "/stream", b"{}", NDJSON)
    assert found.json["type"] == "/docs#invalid"
    assert "answers about whole series" in found.json["detail"]


def test_a_stream_needs_the_token(ward: Path) -> None:
    with served(ward / "rows", token="0123456789abcdef") as (client, _):
        assert client("POST", "/stream", b"", NDJSON).status == 401
        assert client("POST", "/stream", b"", NDJSON, Authorization="Bearer 0123456789abcdef").status == 200


def test_streams_are_bounded_in_number_memory_and_silence(ward: Path, new: pd.DataFrame) -> None:
    lines = lines_of(new)
    with served(ward / "rows", Limits(streams=1, rows=40, idle=0.5)) as (client, _):
        with talking(client.port) as first:
            first.send(lines[0])
            assert first.head()["status"] == "200"
            first.told()
            refused = client("POST", "/stream", b"", NDJSON)
            assert (refused.status, refused.json["type"]) == (429, "/docs#too-many-requests")
            (last,) = first.told()
            assert last["problem"]["type"] == "/docs#too-slow"
            assert first.told() == []
        wait_for(lambda: sample(client, "denots_streams") == 0)
        rows = [f'{{"id": {k}, "time": 1, "values": {{"pulse": 70}}}}' for k in range(60)]
        told = client("POST", "/stream", "\n".join(rows).encode(), NDJSON).content.splitlines()
        assert json.loads(told[-1])["problem"]["type"] == "/docs#too-large"
        assert "60 rows of 60 series" in json.loads(told[-1])["problem"]["detail"]
        assert client("POST", "/predict", as_csv(new.head(20))).status == 200


def test_whoever_leaves_or_does_not_listen_harms_nobody(ward: Path, new: pd.DataFrame) -> None:
    lines = lines_of(new)
    with served(ward / "rows", Limits(streams=2, seconds=1.0)) as (client, _):
        with talking(client.port) as leaves:
            leaves.send(lines[0])
            leaves.head()
        wait_for(lambda: sample(client, "denots_streams") == 0)
        with talking(client.port, "/stream", 4096) as deaf, talking(client.port) as other:
            deaf.socket.settimeout(0.5)
            with pytest.raises((TimeoutError, ConnectionError)):
                deaf.send_forever(b"x")  # each line is answered by its error, which nobody reads
            other.send(lines[0])
            other.head()
            assert other.told()[0]["status"] == "ok"
            wait_for(lambda: sample(client, "denots_streams") == 1)
            other.send(lines[1])
            assert other.told()[0]["event"] == 2


def test_a_fault_in_a_stream_is_told_and_logged(
    live: Client, new: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Lines, "answered", lambda *_: 1 / 0)
    (last,) = live("POST", "/stream", lines_of(new)[0], NDJSON).content.splitlines()
    problem = json.loads(last)["problem"]
    assert problem["type"] == "/docs#failed"
    assert "ZeroDivisionError" in caplog.text
    assert "division" not in problem["detail"]


@pytest.mark.slow
def test_a_server_that_ends_says_so_on_its_streams(ward: Path, new: pd.DataFrame) -> None:
    program = [sys.executable, "-c", "from denots.cli import main; main()", "serve", str(ward / "rows"), "--port", "0"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        port = int(process.stdout.readline().rpartition(":")[2].partition(";")[0])
        with talking(port) as stream:
            stream.send(lines_of(new)[0])
            stream.head()
            stream.told()
            started = time.monotonic()
            process.send_signal(signal.SIGTERM)
            assert stream.told()[0]["problem"]["type"] == "/docs#not-ready"
        assert process.wait(20) == 0
        assert time.monotonic() - started < 20
