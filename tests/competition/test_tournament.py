"""Matches are planned once, recorded whole, and never played again unless asked for."""

import time
from pathlib import Path

import numpy as np
import pytest

from denots.competition.contest import open_contest
from denots.competition.match import Match, MatchStore
from denots.competition.page import write_page
from denots.competition.tournament import Tournament, hold, recorded
from denots.datasets.archive import import_archives
from denots.errors import InvalidFolder, InvalidOption

from published_files import gestures, write_ts


@pytest.fixture
def waves(tmp_path: Path) -> str:
    """Four classes that differ in their level."""
    data = gestures(train=32, test=16, steps=12, channels=2)
    for values, labels in data.values():
        values += 3 * labels.astype(np.float32)[:, None, None]
    write_ts(tmp_path, "Waves", data)
    import_archives([tmp_path])
    return "uea-Waves"


def test_without_gaps_there_is_one_draw_and_built_in_sets_have_their_own() -> None:
    found = Tournament(("uea-A", "pendulum"), ("trees", "denots"), (0.0, 0.5), draws=3, resamples=1).matches()
    assert len(found) == len(set(found)) == 2 * (2 * (1 + 3) + 3)
    assert Match("uea-A", "trees", 0.5, 2, 1) in found
    assert Match("uea-A", "trees", 0.0, 1, 0) not in found
    assert {match.gap for match in found if match.dataset == "pendulum"} == {None}
    assert found[0] == Match("uea-A", "trees", 0.0, 0, 0)
    with pytest.raises(InvalidOption, match="got 1"):
        Tournament(("uea-A",), ("trees",), (0.5, 1.0))


def test_matches_are_recorded_and_not_played_again(waves: str, tmp_path: Path) -> None:
    store = MatchStore(tmp_path / "matches.jsonl")
    tournament = Tournament((waves,), ("trees", "constant"), (0.0, 0.5), draws=1)
    told: list[str] = []
    assert hold(tournament, store, tell=lambda k, n, r: told.append(f"{k}/{n} {r.match.system}")) == []
    assert told == ["1/4 trees", "2/4 constant", "3/4 trees", "4/4 constant"]
    before = store.file.read_bytes()
    assert hold(tournament, store) == []
    assert store.file.read_bytes() == before
    found = store.records()
    sure, chance = (found[Match(waves, system, 0.5)] for system in ("trees", "constant"))
    assert sure.score > 0.8
    assert chance.score == 0.25
    assert sure.error is None
    assert sure.test == 16
    assert sure.origin.code
    assert set(sure.metrics) == {"accuracy", "log loss"}
    assert len(recorded(list(found.values()), Tournament((waves,), ("trees",), (0.5,)))) == 1


def test_few_series_to_learn_from_are_another_match_with_a_choice_for_each_draw(waves: str, tmp_path: Path) -> None:
    store = MatchStore(tmp_path / "matches.jsonl")
    tournament = Tournament((waves,), ("logistic",), (0.0,), draws=2, learn=16)
    assert hold(tournament, store) == []
    assert [match.learn for match in store.records()] == [16, 16]
    contest = open_contest(waves)
    chosen = [set(contest.some_of(contest.train, 16, draw).ids) for draw in (0, 1, 0)]
    assert chosen[0] == chosen[2] != chosen[1]
    assert hold(Tournament((waves,), ("logistic",), (0.0,)), store) == []
    assert Match(waves, "logistic", 0.0) in store.records()
    with pytest.raises(InvalidOption, match="has 32 series to learn from, not 33"):
        hold(Tournament((waves,), ("logistic",), (0.0,), learn=33), store)


def test_time_that_is_up_leaves_the_rest_for_later(waves: str, tmp_path: Path) -> None:
    store = MatchStore(tmp_path / "matches.jsonl")
    tournament = Tournament((waves,), ("trees",), (0.0,))
    assert len(hold(tournament, store, deadline=time.monotonic() - 1)) == 1
    assert store.records() == {}


def test_what_a_contender_cannot_do_is_recorded_with_its_reason(tmp_path: Path) -> None:
    data = gestures(train=9, test=6, steps=12, channels=1, classes=3)
    data["TRAIN"][1][:] = list("aaaabbbbc")
    data["TEST"][1][:] = list("aabbcc")
    write_ts(tmp_path, "Rare", data)
    import_archives([tmp_path])
    store = MatchStore(tmp_path / "matches.jsonl")
    hold(Tournament(("uea-Rare",), ("trees",), (0.0,)), store)
    (record,) = store.records().values()
    assert record.error is not None
    assert "class 'c' has one series" in record.error
    assert np.isnan(record.score)
    page = tmp_path / "docs" / "page.md"
    write_page([record], page)
    assert "- trees on uea-Rare, draw 0: InvalidTarget" in page.read_text()
    assert "| Rare | failed |" in page.read_text()


def test_a_line_that_is_no_match_is_named(tmp_path: Path) -> None:
    file = tmp_path / "matches.jsonl"
    file.write_text('{"match": 3}\n')
    with pytest.raises(InvalidFolder, match="line 1 is no match"):
        MatchStore(file).records()
