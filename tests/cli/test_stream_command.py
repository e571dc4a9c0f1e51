"""`denots stream`: lines in, lines out, and no row lost or counted twice when it is killed."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from denots import RowPredictor, SeriesSet, load
from denots.cli.stream import answered, chunks, numbered


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model, and events of some series, in order of time."""
    folder, rng = tmp_path_factory.mktemp("ward"), np.random.default_rng(0)
    times = [np.sort(rng.uniform(0, 9, 8)) for _ in range(30)]
    values = [rng.normal(size=8).cumsum() for _ in times]
    series = SeriesSet.from_arrays(times, values, row_target=[x > 0 for x in values], channels=["pulse"])
    RowPredictor(options={"rounds": 8}, random_state=0).fit(series).save(folder / "model")
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


def told(text: str) -> dict[int, dict]:
    return {line["event"]: line for line in map(json.loads, text.splitlines())}


@pytest.mark.slow
def test_a_killed_stream_goes_on_with_no_row_lost_or_counted_twice(ward: Path, tmp_path: Path) -> None:
    events = (ward / "events.ndjson").read_text()
    whole = {line["event"]: line for line in answered(load(ward / "model").stream(), 1, events.encode().splitlines())}
    assert sorted(whole) == list(range(1, 241))
    options = ["--snapshot", str(tmp_path / "state"), "--every", "1"]
    some = "".join(events.splitlines(keepends=True)[:100]).encode()
    with subprocess.Popen(command(ward, *options), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        os.write(first.stdin.fileno(), some[:3000])
        seen = [first.stdout.readline()]
        os.write(first.stdin.fileno(), some[3000:])
        seen += [first.stdout.readline() for _ in range(60)]
        first.send_signal(signal.SIGKILL)
    again = subprocess.run(command(ward, *options), input=events, capture_output=True, text=True, check=True).stdout
    found = told(b"".join(seen).decode()) | told(again)
    assert found == whole
    assert min(told(again)) > 1  # not from the beginning


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
    ]
    found = list(answered(load(ward / "model").stream(), 1, lines))
    assert [line["event"] for line in found] == [1, 2, 3, 4, 5, 6, 7, 9, 10]
    assert [line["event"] for line in found if "error" in line] == [2, 3, 4, 5, 6, 7]
    assert found[-1]["time"] == 4


def test_chunks_do_not_change_answers(ward: Path) -> None:
    model, lines = load(ward / "model"), (ward / "events.ndjson").read_bytes().splitlines()[:60]
    together = list(answered(model.stream(), 1, lines))
    stream = model.stream()
    assert [one for k, line in enumerate(lines, 1) for one in answered(stream, k, [line])] == together


def test_lines_that_are_done_are_passed_over() -> None:
    source = [[b"a", b"b"], [b"c"], [b"d", b"e"]]
    assert list(numbered(iter(source), 0)) == [(1, [b"a", b"b"]), (3, [b"c"]), (4, [b"d", b"e"])]
    assert list(numbered(iter(source), 4)) == [(5, [b"e"])]


def test_a_line_may_come_in_pieces_and_the_last_one_without_its_end() -> None:
    read, write = os.pipe()
    os.write(write, b"one\ntwo")
    found = chunks(read)
    assert next(found) == [b"one"]
    os.write(write, b"!\nthree")
    os.close(write)
    assert list(found) == [[b"two!"], [b"three"]]
    os.close(read)
