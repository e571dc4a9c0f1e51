"""What cannot be answered is told by a typed body, and the server goes on."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jsonschema import validate

from denots.data.reading import Reading
from denots.errors import InvalidOption
from denots.server.asked import Asked
from denots.server.limits import Limits
from denots.server.openapi import SCHEMAS
from denots.server.served import Served
from server.conftest import Client, Response, as_csv, served, wait_for

SMALL = Limits(bytes=20_000, rows=300, seconds=2.0, waiting=3, window=0.0)
ROW = {"patient": "ann", "hour": 0, "age": 50, "pulse": 71, "temperature": 36.6}


@pytest.fixture(scope="module")
def small(ward: Path) -> Iterator[Client]:
    with served(ward / "classifier", SMALL) as (client, _):
        yield client


def checked(found: Response, kind: str, status: int) -> str:
    """What a problem says, once it has the form that the description promises."""
    assert (found.status, found.headers["content-type"]) == (status, "application/problem+json"), found.content
    validate(found.json, SCHEMAS["Problem"])
    assert found.json["type"] == f"/docs#{kind}"
    assert found.json["status"] == status
    return found.json["detail"]


def words(content: Any) -> bytes:
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    ("media", "body", "told"),
    [
        ("application/json", b'[{"patient": "ann",', "not JSON"),
        ("application/json", b"[" * 10_000, "not JSON"),
        ("application/json", b"\xff\xfe[]", "not JSON"),
        ("application/json", b"7", "expected rows or columns, found 7"),
        ("application/json", words([ROW, 3]), "row 2 is 3, expected an object"),
        ("application/json", words({"patient": "ann"}), "column 'patient' is 'ann', expected a list"),
        ("application/json", words({"patient": ["ann"], "hour": []}), "0 to 1 cells"),
        ("application/json", words([ROW | {"pulse": [71]}]), "row 1 has [71] in column 'pulse'"),
        ("application/json", words([ROW | {"pulse": 10**40}]), "below 2**63"),
        ("application/x-ndjson", b'{"patient": "ann"}\n{"pat', "not lines of JSON"),
        ("text/csv", b" \n", "the request is empty"),
    ],
)
def test_what_is_malformed_is_named(small: Client, media: str, body: bytes, told: str) -> None:
    assert told in checked(small("POST", "/predict", body, media), "malformed", 400)


@pytest.mark.parametrize(
    ("path", "media", "body", "told"),
    [
        ("/predict", "application/json", words([]), "no rows"),
        (
            "/predict",
            "application/json",
            words([{"patient": "ann", "hour": 0, "pulse": 1}]),
            "unknown static column 'age'",
        ),
        ("/predict", "application/json", words([ROW | {"patient": 1.5}]), "ids are text or integers"),
        ("/predict", "application/json", words([ROW, ROW]), "'ann'"),
        ("/predict", "text/csv", b"patient,hour\nann\n", "cannot be read as .csv"),
        ("/predict", "text/csv", b"patient,hour,age,pulse,temperature\nann,0,1,\xe9,2\n", "not UTF-8"),
        ("/predict?at=3", "application/json", words([ROW]), "'at' is for forecasts"),
        ("/predict?coverge=0.9", "application/json", words([ROW]), "Did you mean 'coverage'"),
        ("/predict?coverage=much", "application/json", words([ROW]), "'much', which is not a number"),
        ("/predict?coverage=1.5", "application/json", words([ROW]), "between 0 and 1"),
        ("/predict?groups=age", "application/json", words([ROW]), "give a coverage"),
        ("/predict?coverage=0.8&groups=aeg", "application/json", words([ROW]), "Did you mean 'age'"),
        ("/picture", "application/json", words([ROW]), "?series=ann"),
    ],
)
def test_what_does_not_fit_the_model_is_named(small: Client, path: str, media: str, body: bytes, told: str) -> None:
    assert told in checked(small("POST", path, body, media), "invalid", 422)


def test_where_every_series_is_bad_each_is_named_with_its_reason(small: Client) -> None:
    rows = [ROW, ROW, ROW | {"patient": "bob", "pulse": float("inf")}]
    found = small("POST", "/predict", words(rows), "application/json")
    checked(found, "invalid", 422)
    assert {one["id"] for one in found.json["series"]} == {"ann", "bob"}


def test_what_is_too_large_is_refused_by_bytes_rows_and_columns(small: Client) -> None:
    assert "25000 bytes or more" in checked(small("POST", "/predict", b"x" * 25_000), "too-large", 413)
    long = b"patient,hour\n" + b"a,0\n" * 301
    assert "301 rows, more than 300" in checked(small("POST", "/predict", long), "too-large", 413)
    wide = b"," * 10_001 + b"\n1"
    assert "10002 columns" in checked(small("POST", "/predict", wide), "too-large", 413)
    sparse = words([{f"c{k}": 1} for k in range(299)])
    assert "299 columns in all" in checked(small("POST", "/predict", sparse, "application/json"), "too-large", 413)


def test_a_body_of_untold_length_is_refused_once_it_is_too_large(small: Client) -> None:
    with socket.create_connection(("127.0.0.1", small.port), timeout=20) as line:
        line.sendall(
            b"POST /predict HTTP/1.1\r\nHost: h\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        line.sendall((b"1000\r\n" + b"x" * 4096 + b"\r\n") * 6)
        assert line.recv(4096).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    ("headers", "media"),
    [({}, "application/x-www-form-urlencoded"), ({}, "image/png"), ({"Content_Encoding": "gzip"}, "text/csv")],
)
def test_other_kinds_of_content_are_refused(small: Client, headers: dict[str, str], media: str) -> None:
    checked(small("POST", "/predict", b"a,b", media, **headers), "unsupported", 415)


def test_wrong_addresses_and_methods_are_told_in_the_same_form(small: Client) -> None:
    checked(small("GET", "/predcit"), "not-found", 404)
    found = small("GET", "/predict")
    checked(found, "wrong-method", 405)
    assert found.headers["allow"] == "POST"


def test_a_client_that_sends_too_slowly_is_told_so_and_one_that_leaves_harms_nobody(
    small: Client, new: pd.DataFrame
) -> None:
    head = b"POST /predict HTTP/1.1\r\nHost: h\r\nContent-Type: text/csv\r\nContent-Length: 500\r\n\r\npatient"
    with socket.create_connection(("127.0.0.1", small.port), timeout=20) as line:
        line.sendall(head)
        assert line.recv(4096).startswith(b"HTTP/1.1 408 ")
    for _ in range(2 * SMALL.waiting):
        with socket.create_connection(("127.0.0.1", small.port), timeout=20) as line:
            line.sendall(head)
    wait_for(lambda: small("POST", "/predict", as_csv(new)).status == 200)


class Held:
    """A model that answers when it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go, self.begun = threading.Event(), 0
        real = Served.answer

        def answer(model: Served, readings: list[Reading], asked: Asked) -> list[pd.DataFrame]:
            self.begun += 1
            assert self.go.wait(20)
            return real(model, readings, asked)

        monkeypatch.setattr(Served, "answer", answer)


def test_more_requests_than_are_taken_are_turned_away_and_an_answer_that_is_late_is_not_waited_for(
    small: Client, new: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch)
    with ThreadPoolExecutor(SMALL.waiting) as pool:
        asked = [pool.submit(small, "POST", "/predict", as_csv(new)) for _ in range(SMALL.waiting)]
        wait_for(lambda: small("GET", "/ready").status == 503)
        turned = small("POST", "/predict", as_csv(new))
        assert "try again soon" in checked(turned, "too-many-requests", 429)
        assert turned.headers["retry-after"] == "1"
        assert small("GET", "/health").status == 200
        late = [one.result() for one in asked]
    for one in late:
        assert "longer than 2 seconds" in checked(one, "timed-out", 504)
    held.go.set()
    assert small("GET", "/ready").status == 200
    assert small("POST", "/predict", as_csv(new)).status == 200
    assert held.begun <= 3  # who no longer waits is not answered


def test_a_fault_of_one_request_is_its_own_and_hides_what_the_server_knows(
    ward: Path, new: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Served.answer

    def answer(model: Served, readings: list[Reading], asked: Asked) -> list[pd.DataFrame]:
        if any("cursed" in reading.ids for reading in readings):
            raise ZeroDivisionError("secret")
        return real(model, readings, asked)

    monkeypatch.setattr(Served, "answer", answer)
    parts = [new[new.patient == "p000"].assign(patient=name) for name in ("a", "cursed", "b", "c")]
    with served(ward / "classifier", Limits(window=0.3)) as (client, _), ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda own: client("POST", "/predict", as_csv(own)), parts))
        assert client("GET", "/health").status == 200
    assert [one.status for one in found] == [200, 500, 200, 200]
    assert "its log tells more" in checked(found[1], "failed", 500)
    assert b"secret" not in found[1].content


@pytest.mark.parametrize("limits", [{"bytes": 0}, {"seconds": float("nan")}, {"waiting": -1}])
def test_limits_that_limit_nothing_are_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption, match="give a positive number"):
        Limits(**limits)


def test_garbage_never_ends_a_server(small: Client) -> None:
    rng = np.random.default_rng(0)
    for media in ("text/csv", "application/json", "application/x-ndjson"):
        for _ in range(20):
            body = rng.integers(0, 256, 200).astype(np.uint8).tobytes()
            assert small("POST", "/predict", body, media).status in (400, 413, 422)
    started = time.monotonic()
    assert small("GET", "/health").status == 200
    assert time.monotonic() - started < 5
