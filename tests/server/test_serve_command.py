"""`denots serve` as a process: what it says, how it reloads, how it ends."""

import http.client
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import denots
from denots.cli import app
from server.conftest import Client, as_csv, wait_for

COMMAND = [sys.executable, "-c", "from denots.cli import main; main()", "serve"]
TOKEN = "correct-horse-battery-staple"


@contextmanager
def started(*words: str) -> Iterator[tuple[subprocess.Popen[str], Client]]:
    """The process and a client of it, once it has told its address."""
    process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield process, Client(int(line.split("http://127.0.0.1:")[1].split(";")[0]))
    finally:
        process.kill()
        process.communicate()


def test_a_server_reloads_when_told_and_answers_what_it_has_begun_before_it_ends(
    ward: Path, new: pd.DataFrame, tmp_path: Path
) -> None:
    folder, token = tmp_path / "model", tmp_path / "token.txt"
    shutil.copytree(ward / "classifier", folder)
    token.write_text(TOKEN)
    key = {"Authorization": f"Bearer {TOKEN}"}
    with started(str(folder), "--port", "0", "--token-file", str(token)) as (process, client):
        assert client("POST", "/predict", as_csv(new)).status == 401
        digest = client("GET", "/model", **key).json["digest"]
        denots.load(ward / "other").save(folder)
        process.send_signal(signal.SIGHUP)
        wait_for(lambda: client("GET", "/model", **key).json["digest"] != digest)
        expected = denots.load(ward / "other").predict_table(new)["p_fever"].tolist()

        body = as_csv(new)
        with closing(http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)) as line:
            line.putrequest("POST", "/predict")
            for name, value in {**key, "Content-Type": "text/csv", "Content-Length": str(len(body))}.items():
                line.putheader(name, value)
            line.endheaders(body[:100])
            wait_for(lambda: b"denots_waiting_requests 1.0" in client("GET", "/metrics", **key).content)
            process.send_signal(signal.SIGTERM)
            wait_for(lambda: refused(client))
            line.send(body[100:])
            found = json.loads(line.getresponse().read())["answers"]
        assert process.wait(30) == 0
        _, complaint = process.communicate()
    assert [row["p_fever"] for row in found] == expected
    assert "Traceback" not in complaint
    assert f"reloaded {folder}" in complaint


def refused(client: Client) -> bool:
    try:
        client("GET", "/health")
    except OSError:
        return True
    return False


def test_what_cannot_be_served_is_one_line(ward: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def complaint(*words: str, code: int) -> str:
        found = CliRunner().invoke(app, ["serve", *words])
        assert found.exit_code == code, found.output
        return found.stderr

    assert "is not a model folder" in complaint(str(tmp_path), code=1)
    assert "No such file" in complaint(str(ward / "classifier"), "--token-file", str(tmp_path / "none"), code=1)
    taken = complaint(str(ward / "classifier"), "--host", "203.0.113.1", "--token-file", str(_token(tmp_path)), code=2)
    assert "port 8000 of 203.0.113.1 cannot be opened" in taken
    monkeypatch.setattr("denots.cli.serve.find_spec", lambda name: None)
    assert "pip install 'denots[serve]'" in complaint(str(ward / "classifier"), code=1)


def _token(folder: Path) -> Path:
    (folder / "token.txt").write_text(TOKEN)
    return folder / "token.txt"
