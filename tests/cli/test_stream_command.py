"""`denots stream`: lines in, lines out, and no row lost or counted twice when it is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from denots import RowPredictor, SeriesClassifier, SeriesSet, load
from denots.cli.stream import chunks, stream
from denots.errors import InvalidOption
from denots.stream.lines import LONGEST, Lines, Splitter, encoded


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model, and events of some series, in order of time."""
    folder, rng = tmp_path_factory.mktemp("ward"), np.random.default_rng(0)
    times = [np.sort(rng.uniform(0, 9, 8)) for _ in range(30)]
    values = [rng.normal(size=8).cumsum() for _ in times]
    series = SeriesSet.from_arrays(times, values, row_target=[x > 0 for x in values], channels=["pulse"])
    RowPredictor("running-trees", options={"rounds": 8}, random_state=0).fit(series).save(folder / "model")
    rows = [
        (float(t), k, float(x))
        for k, own in enumerate(series)
        for t, x in zip(own.times, own.values[:, 0], strict=True)
    ]
    lines = [json.dumps({"id": k, "time": t, "values": {"pulse": x}}) for t, k, x in sorted(rows)]
    (folder / "events.ndjson").write_text("\n".join(lines) + "\n")
    return folder


def command(ward: Path, *options: str) -> list[str]:
    return [sys.executable, "-c", "from denots.cli import main; main()", "stream", str(ward / "model"), *options]


def lines_in(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def wait_for(event: Callable[[], bool]) -> None:
    patience = time.monotonic() + 60
    while not event():
        assert time.monotonic() < patience
        time.sleep(0.01)


@pytest.mark.slow
def test_a_killed_command_writes_every_answer_once(ward: Path, tmp_path: Path) -> None:
    events = (ward / "events.ndjson").read_bytes()
    whole = encoded(Lines(load(ward / "model").stream()).answered(events.splitlines()))
    options = ["--snapshot", str(tmp_path / "state"), "--every", "1", "-o", str(tmp_path / "answers")]
    rng, place = np.random.default_rng(0), 0
    for _ in range(4):
        with subprocess.Popen(command(ward, *options), stdin=subprocess.PIPE) as process:
            place = min(len(events), place + int(rng.integers(2000, 4000)))
            os.write(process.stdin.fileno(), events[:place])
            wait_for(lambda: lines_in(tmp_path / "answers") > 0)
            time.sleep(rng.uniform(0, 0.2))
            process.send_signal(signal.SIGKILL)
    subprocess.run(command(ward, *options), input=events, check=True)
    assert (tmp_path / "answers").read_bytes() == whole


@pytest.mark.slow
def test_the_end_is_clean_and_what_went_into_a_pipe_comes_again_with_its_number(ward: Path, tmp_path: Path) -> None:
    events = (ward / "events.ndjson").read_bytes()
    whole = encoded(Lines(load(ward / "model").stream()).answered(events.splitlines())).splitlines(keepends=True)
    options = ["--snapshot", str(tmp_path / "state"), "--every", "100000"]
    with subprocess.Popen(command(ward, *options), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        os.write(first.stdin.fileno(), b"".join(events.splitlines(keepends=True)[:50]))
        seen = [first.stdout.readline() for _ in range(50)]
        first.send_signal(signal.SIGTERM)
        assert first.wait() == 128 + signal.SIGTERM
    with subprocess.Popen(command(ward, *options), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as second:
        os.write(second.stdin.fileno(), b"".join(events.splitlines(keepends=True)[:120]))
        seen += [second.stdout.readline() for _ in range(70)]
        second.send_signal(signal.SIGKILL)
    last = subprocess.run(command(ward, *options), input=events, stdout=subprocess.PIPE, check=True).stdout
    assert seen == whole[:120]
    assert last == b"".join(whole[50:])  # those since the clean end come again, byte for byte


def test_a_model_of_whole_series_has_no_stream(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(40, 6, 1))
    series = SeriesSet.from_arrays(np.tile(np.arange(6.0), (40, 1)), values, target=[0, 1] * 20)
    SeriesClassifier("summary", random_state=0).fit(series).save(tmp_path / "model")
    with pytest.raises(InvalidOption, match="answers about whole series; a stream needs a model of rows"):
        stream(tmp_path / "model")


def test_a_bad_line_is_answered_by_its_error_and_the_others_by_their_answers(ward: Path) -> None:
    lines = [
        b'{"id": "ann", "time": 1, "values": {"pulse": 1}}',
        b"nonsense",
        b'{"id": "ann", "time": 0, "values": {"pulse": 1}}',
        b'{"id": "ann", "time": 2, "values": {"puls": 1}}',
        b'{"id": "ann", "time": 2}',
        b"[1]",
        b'{"id": ["ann"], "time": 2, "values": {}}',
        b"",
        b'{"id": "ann", "time": 3, "values": {"pulse": 2}}',
        b'{"now": 4}',
        None,
        b'{"id": "ann", "time": 5, "values": {"pulse": 1' + b"0" * 400 + b"}}",
        b'{"now": 4, "ids": ["zoe"]}',
        b'{"now": 4, "ids": "ann"}',
        b'{"now": "noon"}',
        b'{"now": 4, "then": 5}',
        b'{"now": 6, "ids": ["ann"]}',
    ]
    found = Lines(load(ward / "model").stream()).answered(lines)
    assert [line["event"] for line in found] == [1, 2, 3, 4, 5, 6, 7, *range(9, 18)]
    wrong = {line["event"]: line["error"] for line in found if "error" in line}
    assert list(wrong) == [2, 3, 4, 5, 6, 7, *range(11, 17)]
    assert [line["time"] for line in found if line["event"] in (10, 17)] == [4, 6]
    assert "is no JSON" in wrong[2]
    assert "longer than 1048576 bytes" in wrong[11]
    assert "expected a finite number" in wrong[12]
    assert "series 'zoe' is not known" in wrong[13]
    assert "ids are a list" in wrong[14]
    assert "the time is 'noon'" in wrong[15]
    assert "'then' is unknown" in wrong[16]


def test_chunks_do_not_change_answers(ward: Path) -> None:
    model, lines = load(ward / "model"), (ward / "events.ndjson").read_bytes().splitlines()[:60]
    for rules in ({}, {"expire": 0.5}):
        together = Lines(model.stream(**rules)).answered(lines)
        one_by_one = Lines(model.stream(**rules))
        assert [one for line in lines for one in one_by_one.answered([line])] == together


def test_a_line_may_come_in_pieces_and_the_last_one_without_its_end() -> None:
    read, write = os.pipe()
    os.write(write, b"one\ntwo")
    found = chunks(read)
    assert next(found) == [b"one"]
    os.write(write, b"!\nthree")
    os.close(write)
    assert list(found) == [[b"two!"], [b"three"]]
    os.close(read)


@pytest.mark.parametrize("size", [7, 1000, 10**7])
def test_a_line_that_is_too_long_is_told_as_such_however_it_comes(size: int) -> None:
    text = b"one\n" + b"x" * LONGEST + b"\n" + b"y" * (LONGEST + 1) + b"\nfour\n" + b"z" * (LONGEST + 2)
    splitter, found = Splitter(), []
    step = size if size > 100 else LONGEST // size
    for first in range(0, len(text), step):
        found += splitter.lines(text[first : first + step])
    assert [*found, *splitter.last()] == [b"one", b"x" * LONGEST, None, b"four", None]


def test_neither_the_input_nor_a_snapshot_nor_the_model_is_written_over(ward: Path, tmp_path: Path) -> None:
    events, both = tmp_path / "events", str(tmp_path / "both")
    events.write_bytes((ward / "events.ndjson").read_bytes())
    inside = str(ward / "model" / "model.json")
    cases = {
        ("-o", str(events)): "its rows would be lost",
        ("--snapshot", str(events)): "its rows would be lost",
        ("-o", both, "--snapshot", both): "give each its own",
        ("-o", inside): "lies in the folder of the model",
    }
    for options, words in cases.items():
        with events.open("rb") as rows:
            done = subprocess.run(command(ward, *options), stdin=rows, capture_output=True, text=True, check=False)
        assert done.returncode == 2, options
        assert words in done.stderr
    assert events.read_bytes() == (ward / "events.ndjson").read_bytes()
