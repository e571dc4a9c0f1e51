"""One store of runs: what stands, what is added, and what old lines still say."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from denots.errors import InvalidFolder, InvalidOption
from denots.runs.origin import Origin
from denots.runs.record import RunRecord
from denots.runs.store import RunStore

from run_records import record, spec

RESULTS = Path(__file__).parents[2] / "results"
BUMP = spec("bump", "tanh")


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs.jsonl")


def test_a_run_stands_once_with_all_its_measures_and_experiments(store: RunStore) -> None:
    store.add(record(BUMP, 0.5, norms=1), ["bump"])
    store.extend(BUMP, experiments=["gain"])
    store.extend(BUMP, extra={"weights": {"all": float("nan")}})
    (entry,) = store.entries()
    assert entry.record == record(BUMP, 0.5, norms=1, weights={"all": None})
    assert entry.experiments == {"bump", "gain"}
    assert RunStore(store.file).entries() == [entry]
    assert store.find(BUMP, ["norms", "weights"]) == entry
    assert store.find(BUMP, ["attacks"]) is None
    assert store.find(replace(BUMP, seed=1)) is None


def test_a_later_record_stands_and_the_earlier_one_stays_in_the_file(store: RunStore) -> None:
    store.add(record(BUMP, 0.5, norms=1), ["bump"])
    store.add(record(BUMP, 0.6), ["gain"])
    (entry,) = store.entries()
    assert entry.record == record(BUMP, 0.6)
    assert entry.experiments == {"bump", "gain"}
    assert len(store.file.read_text().splitlines()) == 2


def test_an_addition_to_nothing_and_a_torn_line_are_told_with_their_number(store: RunStore) -> None:
    store.add(record(BUMP, 0.5))
    store.extend(replace(BUMP, seed=1), experiments=["bump"])
    with pytest.raises(InvalidFolder, match="line 2 is not a run record"):
        store.entries()


def test_systems_and_options_of_earlier_versions_can_be_read(store: RunStore) -> None:
    old = json.loads(record(BUMP, 0.5).to_json())
    old["spec"]["backbone"] = {"name": "boosted-trees", "options": {"max_iter": 300}}
    del old["origin"]
    found = RunRecord.from_dict(old)
    assert found.spec.backbone.options == {"max_iter": 300}
    assert found.origin == Origin("unknown", "unknown", "unknown", None, None)


def test_an_unknown_profile_is_an_error() -> None:
    with pytest.raises(InvalidOption, match="profile is one of smoke, quick, paper; got 'tiny'"):
        Origin(profile="tiny")  # type: ignore[arg-type]


def test_every_committed_record_says_what_is_not_known_of_it() -> None:
    entries = RunStore(RESULTS / "runs.jsonl").entries()
    assert len(entries) >= 447
    lines = [json.loads(line) for line in (RESULTS / "runs.jsonl").read_text().splitlines()]
    assert all(set(line["origin"]) >= {"code", "target", "backend", "profile"} for line in lines if "metrics" in line)
    assert {entry.record.origin.profile for entry in entries if entry.experiments != {"first-look"}} <= {
        "quick",
        "paper",
    }
