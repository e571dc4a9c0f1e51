"""Charts are drawn to scale, say in words what they show, and escape what they are told."""

from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.ticker import MaxNLocator

from denots.pages.chart import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Chart, Grid, Line, thinned
from denots.pages.document import document, table
from denots.pages.drawing import Axis


def drawn(chart: Chart) -> ElementTree.Element:
    found = ElementTree.fromstring(chart.html()).find("svg")
    assert found is not None
    return found


@pytest.mark.parametrize("ends", [(0, 1), (-3.7, 12.1), (1e-9, 3e-9), (5e7, 9e7), (0.123, 0.124)])
@pytest.mark.parametrize("most", [4, 6])
def test_ticks_are_round_numbers_between_the_ends_as_matplotlib_finds_them(
    ends: tuple[float, float], most: int
) -> None:
    found = Axis(*ends, 0, 1).ticks(most)
    theirs = MaxNLocator(nbins=most, steps=[1, 2, 5, 10]).tick_values(*ends)
    inside = [tick for tick in theirs if ends[0] - 1e-12 <= tick <= ends[1] * (1 + 1e-12)]
    assert found == pytest.approx(inside, rel=1e-9)


def test_points_stand_where_their_numbers_put_them() -> None:
    line = Line("a", np.array([0.0, 5.0, 10.0]), np.array([0.0, 1.0, 2.0]))
    path = drawn(Chart("t", "x", "y", (line,), across=(0, 10), up=(0, 4))).find("polyline")
    assert path is not None
    places = [tuple(map(float, pair.split(","))) for pair in path.attrib["points"].split()]
    bottom = HEIGHT - BOTTOM
    right = WIDTH - RIGHT
    assert places == [
        (LEFT, bottom),
        ((LEFT + right) / 2, pytest.approx(bottom - (bottom - TOP) / 4, abs=0.05)),
        (right, pytest.approx((bottom + TOP) / 2, abs=0.05)),
    ]


def test_what_is_not_a_number_is_left_out_and_the_words_tell_the_rest() -> None:
    line = Line("a", np.array([0.0, 1.0, 2.0]), np.array([1.0, np.nan, 3.0]), "dots")
    picture = drawn(Chart("Title.", "hours", "level", (line,)))
    assert len(picture.findall("circle")) == 2
    assert picture.attrib["role"] == "img"
    assert "level over hours" in picture.attrib["aria-label"]
    assert "2 points, level 1 to 3, at hours 0 to 2" in picture.attrib["aria-label"]


def test_lines_without_any_number_make_an_empty_chart() -> None:
    nothing = Line("a", np.full(2, np.nan), np.full(2, np.nan), "line", np.full(2, np.nan), np.full(2, np.inf))
    assert "nan" not in Chart("t", "x", "y", (nothing,)).html()


def test_names_are_text_and_never_markup() -> None:
    evil = '<script>alert("1")</script>'
    line = Line(evil, np.arange(2.0), np.arange(2.0), "dots")
    grid = Grid(evil, evil, (evil,), ((evil, (1,)),), evil)
    page = document(
        evil, Chart(evil, evil, evil, (line, line), evil).html() + grid.html() + table((evil,), [(evil,)], evil)
    )
    assert "<script" not in page


def test_many_points_are_thinned_evenly_with_both_ends() -> None:
    (found,) = thinned(np.arange(100_000.0))
    assert len(found) == 400
    assert (found[0], found[-1]) == (0, 99_999)
    assert np.diff(found).min() > 249
    assert thinned(np.arange(3.0))[0].tolist() == [0, 1, 2]
