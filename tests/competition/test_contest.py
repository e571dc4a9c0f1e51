"""Parts, gaps and even grids of a contest."""

from pathlib import Path

import numpy as np
import pytest

from denots.competition.contest import Grid, chosen_sets, exchanged, open_contest
from denots.datasets.archive import import_archives
from denots.errors import InvalidOption, UnknownName

from published_files import gestures, write_ts


@pytest.fixture
def waves(tmp_path: Path) -> str:
    write_ts(tmp_path, "Waves", gestures(train=20, test=12))
    import_archives([tmp_path])
    return "uea-Waves"


def test_the_official_parts_are_those_of_the_archive(waves: str) -> None:
    contest = open_contest(waves)
    train, test, grid = contest.arranged(0.0, 0, 0)
    data = gestures(train=20, test=12)
    np.testing.assert_array_equal(train.padded().values, data["TRAIN"][0])
    np.testing.assert_array_equal(test.padded().values, data["TEST"][0])
    assert (contest.metric, contest.own_gaps) == ("accuracy", False)
    assert (grid.points, grid.span) == (40, (0.0, 39.0))


def test_gaps_belong_to_a_series_on_whichever_side_it_is(waves: str) -> None:
    contest = open_contest(waves)
    official = {one.id: one for part in contest.arranged(0.5, 3, 0)[:2] for one in part}
    train, test, grid = contest.arranged(0.5, 3, 1)
    assert (len(train), len(test), grid.points) == (20, 12, 40)
    assert {one.id[:4] for one in train} == {"trai", "test"}
    for one in (*train, *test):
        np.testing.assert_array_equal(one.times, official[one.id].times)
        np.testing.assert_array_equal(one.values, official[one.id].values)
    again = contest.arranged(0.5, 3, 1)[0]
    assert again.same_as(train)
    other = contest.arranged(0.5, 4, 0)[0]
    assert not np.array_equal(other.times, contest.arranged(0.5, 3, 0)[0].times)


def test_a_resample_keeps_the_numbers_of_each_class() -> None:
    labels = np.array(list("aaaabbbbbbaaccbbcc"))
    learn, judge = exchanged(10, 18, labels, seed=5)
    assert sorted(labels[learn]) == sorted(labels[:10])
    assert sorted([*learn, *judge]) == list(range(18))
    assert exchanged(10, 18, None, 6)[0].shape == (10,)
    assert learn.tolist() != exchanged(10, 18, labels, seed=6)[0].tolist()


def test_series_of_different_span_have_a_grid_each(waves: str) -> None:
    train, test, _ = open_contest(waves).arranged(0.8, 0, 0)
    grid = Grid.of(train, test)
    assert grid.span is None
    assert grid.points == 8


def test_built_in_sets_have_gaps_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from denots.competition import contest
    from denots.datasets import load

    monkeypatch.setattr(contest, "load", lambda name: load(name, size=30))
    opened = open_contest("pendulum-small")
    splits = load("pendulum-small", size=30).splits
    assert opened.own_gaps
    assert opened.metric == "R2"
    assert len(opened.train) == len(splits.train) + len(splits.val)
    assert opened.test.same_as(splits.test)
    with pytest.raises(InvalidOption, match="'sine-2' asks for a forecast"):
        open_contest("sine-2")


def test_the_usual_sets_are_those_that_are_there(waves: str) -> None:
    assert chosen_sets(None) == ([waves, "pendulum"], ["uwgl", "sepsis", "physionet-2012"])
    assert chosen_sets(["uea", "sepsis", waves]) == ([waves, "sepsis"], [])
    with pytest.raises(UnknownName, match="'pendulum'"):
        chosen_sets(["pendulm"])
