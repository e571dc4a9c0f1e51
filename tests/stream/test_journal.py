"""Whatever ends a stream, the file of its answers has each of them once, and the bytes of a stream that nothing disturbed."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from denots import RowPredictor, SeriesSet, load
from denots.errors import InvalidFile, InvalidOption
from denots.stream.journal import Journal
from denots.stream.lines import Lines, encoded

import killed_often


def stays(n: int, seed: int) -> SeriesSet:
    rng = np.random.default_rng(seed)
    times = [rng.uniform(0, 30) + np.sort(rng.uniform(0, 9, 8)) for _ in range(n)]
    values = [rng.normal(size=8).cumsum() for _ in times]
    return SeriesSet.from_arrays(times, values, row_target=[x > 0 for x in values], channels=["pulse"])


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model that carries its state, and lines: rows, late ones, bad ones, questions; series expire among them."""
    folder, rng = tmp_path_factory.mktemp("ward"), np.random.default_rng(0)
    options = {"max_epochs": 1, "batches_per_epoch": 3, "state_size": 8}
    RowPredictor("running-gru", options=options, random_state=0).fit(stays(30, 0)).save(folder / "model")
    rows = [
        (float(t) + rng.uniform(0, 1.2), {"id": k, "time": float(t), "values": {"pulse": float(x)}})
        for k, own in enumerate(stays(150, 1))
        for t, x in zip(own.times, own.values[:, 0], strict=True)
    ]
    lines = [json.dumps(row) for _, row in sorted(rows, key=lambda row: row[0])]
    for place in rng.choice(len(lines), 60):
        time = json.loads(lines[place])["time"] if lines[place].startswith('{"id"') else 20.0
        lines.insert(place, str(rng.choice([json.dumps({"now": time}), "nonsense", '{"id": 3}', ""])))
    (folder / "events.ndjson").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def undisturbed(ward: Path) -> bytes:
    lines = (ward / "events.ndjson").read_bytes().splitlines()
    return encoded(Lines(load(ward / "model").stream(lag=1.0, expire=4.0)).answered(lines))


def killed(ward: Path, place: Path, kills: int) -> list[bytes]:
    """What is in the files after a stream has been killed so many times."""
    given = [str(part) for part in (ward / "model", ward / "events.ndjson", place, kills, 0)]
    told = subprocess.run(
        [sys.executable, killed_often.__file__, *given], capture_output=True, text=True, check=True
    ).stdout
    done, rounds = map(int, told.split())
    assert done >= kills
    return [(place / f"{k}.ndjson").read_bytes() for k in range(rounds)]


def test_a_stream_that_is_killed_writes_the_same_bytes(ward: Path, tmp_path: Path, undisturbed: bytes) -> None:
    statuses = [line.get("status", "error") for line in map(json.loads, undisturbed.splitlines())]
    assert {"ok", "error"} <= set(statuses)
    assert [json.loads(line)["answer"] for line in undisturbed.splitlines()] == list(range(1, len(statuses) + 1))
    for found in killed(ward, tmp_path, 8):
        assert found == undisturbed


@pytest.mark.slow
def test_a_hundred_kills_lose_and_double_nothing(ward: Path, tmp_path: Path, undisturbed: bytes) -> None:
    for found in killed(ward, tmp_path, 100):
        assert found == undisturbed


def test_a_stream_goes_on_where_it_ended_and_only_with_the_same_lines(
    ward: Path, tmp_path: Path, undisturbed: bytes
) -> None:
    lines = (ward / "events.ndjson").read_bytes().splitlines()
    out, kept, model = tmp_path / "answers", tmp_path / "state", load(ward / "model")

    def journal(**given: Path | None) -> Journal:
        places = {"out": out, "kept": kept, **given}
        return Journal(model.stream(lag=1.0, expire=4.0), every=1000, **places)

    journal().run([lines[:100]])
    with out.open("ab") as file:
        file.write(b'{"answer": 101, "ev')  # as if it had been killed
    with pytest.raises(InvalidFile, match="the first 100 lines of the input are not those"):
        journal().run([lines[1:200]])
    with pytest.raises(InvalidFile, match="the input ended 40 lines before"):
        journal().run([lines[:60]])
    with pytest.raises(InvalidOption, match="went to a file"):
        journal(out=None)
    journal().run([lines[:150], lines[150:]])
    assert out.read_bytes() == undisturbed
    journal().run([lines])
    assert out.read_bytes() == undisturbed
    with out.open("r+b") as file:
        file.truncate(100)
    with pytest.raises(InvalidFile, match=r"has 100 bytes, and .*state knows of"):
        journal()
    with pytest.raises(InvalidOption, match="has answers already, but there is no snapshot"):
        journal(kept=tmp_path / "other")
    model.stream().snapshot().write(kept)
    with pytest.raises(InvalidFile, match="was not written by `denots stream`"):
        journal()


def test_an_end_amid_answers_leaves_the_snapshot_before(ward: Path, tmp_path: Path, undisturbed: bytes) -> None:
    lines = (ward / "events.ndjson").read_bytes().splitlines()
    out, kept, model = tmp_path / "answers", tmp_path / "state", load(ward / "model")
    stopped = Journal(model.stream(lag=1.0, expire=4.0), out=out, kept=kept, every=1)
    told = stopped.lines.answered

    def answered(some: list) -> list:
        found = told(some)
        if stopped.lines.events > 500:
            raise KeyboardInterrupt
        return found

    stopped.lines.answered = answered
    with pytest.raises(KeyboardInterrupt):
        stopped.run([lines[k : k + 50] for k in range(0, len(lines), 50)])
    Journal(model.stream(lag=1.0, expire=4.0), out=out, kept=kept, every=1).run([lines])
    assert out.read_bytes() == undisturbed
