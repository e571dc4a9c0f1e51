"""Records made again: equal, off, and broken."""

from dataclasses import replace

import pytest

from denots.runs import verify as verifying
from denots.runs.origin import Origin
from denots.runs.published import published_run
from denots.runs.run import run
from denots.runs.verify import choose, compare, verify

from run_records import record, spec

TINY = {"max_epochs": 2, "batches_per_epoch": 1, "batch_size": 8}


def test_a_run_made_again_is_equal_and_a_changed_digit_is_found() -> None:
    made = run(published_run("bump", "denots", size=40, train=TINY, options={"state_size": 4}))
    assert verify(made).where == ""
    nearly = made.metrics["test"]["loss"] + 1e-12
    changed = replace(made, metrics={**made.metrics, "test": {**made.metrics["test"], "loss": nearly}})
    found = verify(changed)
    assert found.where.startswith("test loss: ")
    assert found.difference == pytest.approx(1e-12, rel=0.1)


def test_the_largest_difference_is_told_and_another_length_is_one() -> None:
    old = record(spec("bump", "tanh"), 0.5)
    found = compare(old, replace(old, curve=[{"epoch": 0, "loss": 0.75}], failed=1))
    assert (found.difference, found.where) == (1, "failed: 0 then, 1 now")
    assert compare(old, replace(old, curve=[])).where == "epochs: 1 then, 0 now"


def test_only_a_difference_under_the_same_code_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    old = record(spec("bump", "tanh"), 0.5)
    new = record(spec("bump", "tanh"), 0.6)
    for code, now, broken in (("abc", "abc", True), ("abc", "def", False), ("abc-dirty", "abc-dirty", False)):
        monkeypatch.setattr(verifying, "code_version", lambda now=now: now)
        assert compare(replace(old, origin=Origin(code)), new).broken is broken
        assert not compare(replace(old, origin=Origin(code)), old).broken


def test_the_choice_depends_on_the_seed_and_fits_into_the_time() -> None:
    records = [replace(record(spec("bump", "tanh", seed), 0.5), seconds=10.0 * seed) for seed in range(20)]
    assert choose(records, 5, seed=0, seconds=1e9) == choose(records[::-1], 5, seed=0, seconds=1e9)
    assert choose(records, 5, seed=0, seconds=1e9) != choose(records, 5, seed=1, seconds=1e9)
    few = choose(records, 10, seed=0, seconds=500.0)
    assert sorted(r.seconds for r in few) == [0, 10, 20, 30, 40, 50]
    retired = replace(records[0].spec, backbone=replace(records[0].spec.backbone, name="boosted-trees"))
    assert choose([replace(records[0], spec=retired)], 5, seed=0, seconds=1e9) == []
