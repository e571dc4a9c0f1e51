"""Without the token nothing is told of a model."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from denots.errors import InvalidOption
from denots.server.guard import Guard, read_token
from server.conftest import Client, as_csv, finished, served

TOKEN = "correct-horse-battery-staple"


def test_the_token_opens_what_tells_of_the_model_and_the_rest_is_open(ward: Path, new: pd.DataFrame) -> None:
    with served(ward / "classifier", token=TOKEN) as (client, _):
        assert statuses(client, new) == {401}
        for wrong in (f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, "Bearer", "Bearer é"):
            assert statuses(client, new, Authorization=wrong) == {401}, wrong
        assert statuses(client, new, Authorization=f"Bearer {TOKEN}") == {200}
        told = client("POST", "/predict", as_csv(new))
        assert told.headers["www-authenticate"] == "Bearer"
        assert told.json["type"] == "/docs#unauthorized"
        for path in ("/", "/page.js", "/health", "/ready", "/openapi.json", "/docs"):
            found = client("GET", path)
            assert found.status == 200
            assert b"temperature" not in found.content


def statuses(client: Client, new: pd.DataFrame, **headers: str) -> set[int]:
    asked = [client("GET", path, **headers) for path in ("/model", "/metrics")]
    asked += [client("POST", path, as_csv(new), **headers) for path in ("/predict", "/picture?series=p000")]
    return {one.status for one in asked}


def test_a_connection_without_the_token_is_closed_before_it_is_accepted() -> None:
    sent: list[Any] = []

    async def inner(*_: Any) -> None:
        sent.append("let through")

    async def send(message: Any) -> None:
        sent.append(message)

    def connect(headers: list[tuple[bytes, bytes]]) -> None:
        scope: dict[str, Any] = {"type": "websocket", "path": "/stream", "headers": headers}
        finished(Guard(inner, TOKEN, {"/"})(scope, None, send))  # type: ignore[arg-type]

    connect([])
    connect([(b"authorization", f"Bearer {TOKEN}".encode())])
    assert sent == [{"type": "websocket.close", "code": 1008}, "let through"]


def test_a_token_comes_from_a_file_or_the_environment_and_is_long_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DENOTS_TOKEN", raising=False)
    assert read_token(None) is None
    monkeypatch.setenv("DENOTS_TOKEN", TOKEN)
    assert read_token(None) == TOKEN
    file = tmp_path / "token.txt"
    file.write_text(f"{TOKEN[::-1]}\n")
    assert read_token(file) == TOKEN[::-1]
    for bad in ("", "short", "two words that are long enough", "ünïcödé-is-nöt-a-tökën"):
        file.write_text(bad)
        with pytest.raises(InvalidOption, match="at least 16"):
            read_token(file)
