"""A set in a notebook: whole, escaped, and with the right numbers."""

from html.parser import HTMLParser

import numpy as np

from denots.data import SeriesSet

NAN = float("nan")


class Page(HTMLParser):
    """The cells of every table, and tags that were not closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] in ("th", "td"):
            self.tables[-1][-1][-1] += data


def test_a_notebook_shows_counts_channels_and_the_first_series() -> None:
    series = SeriesSet.from_arrays(
        [[0.0, 1.5, 2.0], [5.0, 6.0]],
        [[[71.0, NAN], [74.0, NAN], [NAN, 1.0]], [[NAN, NAN], [104.0, 2.0]]],
        ids=["<ann>", "bob"],
        channels=["pulse", "a & b"],
        target=["home", "ward"],
        time_unit="h",
    )
    text = series._repr_html_()
    page = Page(text)
    assert page.open == []
    for words in ("2 series; 5 rows; 2 to 3 a series", "1 to 2 h", "home 1, ward 1", "&lt;ann&gt;"):
        assert words in text
    channels, first = page.tables
    assert channels[1:] == [["pulse", "40.0%", "71", "74", "104"], ["a & b", "60.0%", "1", "1.5", "2"]]
    assert first == [["time", "pulse", "a & b"], ["0", "71", ""], ["1.5", "74", ""], ["2", "", "1"]]


def test_a_notebook_shows_few_of_many_channels_rows_and_classes() -> None:
    values = np.zeros((30, 200, 1000), dtype=np.float32)
    values[:, 3] = NAN
    series = SeriesSet.from_numpy(values, target=np.arange(30))
    text = series._repr_html_()
    assert len(text) < 6000
    assert "and 188 more channels" in text
    assert "and 995 more rows" in text
    assert "target: 30 different values" in text
    assert Page(text).tables[0][4] == ["x3", "100.0%", "", "", ""]
