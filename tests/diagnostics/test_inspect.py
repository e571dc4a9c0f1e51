"""What is said of a table, judged by pandas and by faults that were put in."""

import shlex
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest

from denots.data.frame import read_frame
from denots.diagnostics.inspect import (
    ChannelFacts,
    Inspection,
    fit_megabytes,
    fit_seconds,
    inspect_table,
    most_features,
)
from denots.diagnostics.inspect_page import facts, page
from denots.diagnostics.roles import Roles
from denots.errors import InvalidTable, UnknownName
from denots.systems import linear
from denots.systems.auto import AutoConfig


def clinic(n: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    lengths = rng.integers(3, 9, n)
    who = np.repeat(np.arange(n), lengths)
    hours = np.concatenate([np.sort(rng.choice(50, size, replace=False)) for size in lengths])
    table = pd.DataFrame({"patient": [f"p{k}" for k in who], "hour": hours.astype(float)})
    table["pulse"] = rng.normal(70, 5, len(who)).round(1)
    table["temperature"] = rng.normal(37, 0.5, len(who)).round(2)
    table.loc[rng.random(len(who)) < 0.3, "temperature"] = np.nan
    table["age"] = rng.integers(20, 80, n)[who]
    table["outcome"] = np.array(["home", "ward"])[who % 2]
    return table


def looked_at(table: pd.DataFrame, **roles: Any) -> Inspection:
    return inspect_table("visits.csv", table, Roles(**roles))


def channel(found: Inspection, name: str) -> ChannelFacts:
    return next(facts for facts in found.channels if facts.name == name)


def test_roles_are_guessed_from_names_and_contents() -> None:
    roles = looked_at(clinic()).roles
    assert (roles.id, roles.time, roles.target, roles.static) == ("patient", "hour", "outcome", ("age",))
    assert set(roles.guessed) == {"id", "time", "target", "static"}
    renamed = clinic().rename(columns={"patient": "who", "hour": "h", "outcome": "left for"})
    renamed["h"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(renamed["h"], unit="h")
    roles = looked_at(renamed).roles
    assert (roles.id, roles.time, roles.target) == ("who", "h", "left for")


def test_what_is_named_is_not_guessed_and_must_be_there() -> None:
    roles = looked_at(clinic(), target="age", static=("outcome",)).roles
    assert (roles.target, roles.static, set(roles.guessed)) == ("age", ("outcome",), {"id", "time"})
    with pytest.raises(UnknownName, match="unknown target column 'ages'"):
        looked_at(clinic(), target="ages")
    with pytest.raises(InvalidTable, match="no column looks like the time; name it with --time"):
        looked_at(clinic().rename(columns={"hour": "x"}))


def test_numbers_agree_with_pandas() -> None:
    table = clinic()
    found = looked_at(table)
    by = table.groupby("patient")
    spans = by["hour"].max() - by["hour"].min()
    steps = by["hour"].diff().dropna()
    assert (found.rows, found.series) == (len(table), 40)
    assert found.times.spans == pytest.approx((spans.min(), spans.median(), spans.max()))
    assert found.times.steps == pytest.approx((steps.min(), steps.median(), steps.max()))
    assert found.target == table.drop_duplicates("patient")["outcome"].value_counts().to_dict()
    for name in ("pulse", "temperature"):
        facts, column = channel(found, name), table[name]
        assert facts.missing == pytest.approx(column.isna().mean())
        assert facts.series == by[name].count().gt(0).sum()
        assert facts.quantiles == pytest.approx(column.quantile([0, 0.01, 0.5, 0.99, 1]).tolist())
    assert found.remarks == ()


def test_a_long_table_is_seen_like_the_wide_one() -> None:
    wide = clinic().drop(columns=["age", "outcome"])
    long = looked_at(wide.melt(["patient", "hour"]).dropna(subset="value").sample(frac=1, random_state=0))
    assert long.roles.variable == "variable"
    for name in ("pulse", "temperature"):
        assert channel(long, name).quantiles == pytest.approx(channel(looked_at(wide), name).quantiles)
    assert (long.times.unsorted, long.times.repeated) == (0, 0)


def test_faults_are_counted_and_the_suggested_command_reads_the_table() -> None:
    table = clinic().astype({"pulse": object})
    table.loc[5, "pulse"] = "n/a"
    table.loc[table["patient"] == "p3", ["pulse", "temperature"]] = np.nan
    table["flat"], table["void"] = 1.0, np.nan
    table.loc[table["patient"] == "p3", "flat"] = np.nan
    table = pd.concat([table, table[:2]])
    table = pd.concat([table[1:2], table[:1], table[2:]])
    found = looked_at(table)
    assert (found.times.repeated, found.empty) == (2, 1)
    assert found.times.unsorted == 2  # once where two rows are turned, once where the doubled ones begin
    told = " | ".join(found.remarks)
    for words in (
        "pulse has 1 cell(s) that are no numbers, such as 'n/a'",
        "flat is 1 throughout",
        "void was never observed",
    ):
        assert words in told
    words = shlex.split(found.command)
    assert {"--sort", "--skip-empty"} <= set(words)
    assert words[words.index("--duplicates") + 1] == "mean"
    options = {"sort": True, "duplicates": "mean", "na": words[words.index("--na") + 1], "skip_empty": True}
    with pytest.warns(UserWarning, match="1 of 40"):
        read_frame(table, id="patient", time="hour", target="outcome", static="age", **options)


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_degrees_fahrenheit_among_celsius_are_noticed(share: float) -> None:
    table = clinic(200)
    hot = np.random.default_rng(1).random(len(table)) < share
    table.loc[hot, "temperature"] = table.loc[hot, "temperature"] * 9 / 5 + 32
    (remark,) = looked_at(table).remarks
    assert remark.startswith("temperature has ")
    assert "Fahrenheit for Celsius" in remark


def test_a_clock_in_another_unit_is_noticed() -> None:
    table = clinic()
    table.loc[table["patient"].isin(["p1", "p2"]), "hour"] *= 60
    (remark,) = looked_at(table).remarks
    assert remark.startswith("2 series have steps unlike the others, such as 'p1'")
    assert "another unit of time" in remark


def test_text_channels_are_named_with_what_becomes_of_them() -> None:
    table = clinic()
    table["event"] = np.resize(["call", "visit"], len(table))
    found = looked_at(table)
    assert "event holds text, 2 different words; named as a channel it is read as categories" in found.remarks
    assert "--channels pulse,temperature,event" in found.command


@pytest.mark.parametrize("form", ["{:.1f} bpm", "1,{:05.1f}"])
def test_numbers_among_text_are_not_taken_for_words(form: str) -> None:
    table = clinic()
    table["pulse"] = table["pulse"].map(form.format)
    words = f"such as {table['pulse'][0]!r}; write these alone to have them read as numbers"
    assert any(remark.startswith("pulse holds text") and words in remark for remark in looked_at(table).remarks)


def test_the_time_of_a_fit_is_that_of_the_default_system() -> None:
    for n in (10, 1000, 100_000):
        assert fit_seconds(n) == AutoConfig().seconds(n)


def test_the_memory_of_a_fit_is_that_of_values_and_features_however_the_table_is_written() -> None:
    for n in (10, 4_000, 4_001, 100_000):
        assert most_features(n) == linear.most_features(n)
    wide = clinic().drop(columns=["age", "outcome"]).fillna(0.0)
    long = looked_at(wide.melt(["patient", "hour"]))
    assert long.megabytes == looked_at(wide).megabytes == fit_megabytes(40, len(wide), 2)
    assert 4000 < fit_megabytes(40_336, 1_552_210, 34) < 5000  # of Sepsis, where 4302 were measured


def test_a_table_of_single_moments_has_no_steps() -> None:
    assert facts(looked_at(clinic().groupby("patient").head(1)))["steps"] == "none: every series has one moment"


def test_infinite_cells_are_counted_and_harm_no_other_number() -> None:
    table = clinic()
    table.loc[5, "pulse"] = np.inf
    found = looked_at(table)
    assert "pulse has 1 infinite cell(s), which fit refuses; repair or empty them" in found.remarks
    assert np.isfinite(channel(found, "pulse").quantiles).all()


def test_the_page_is_whole_and_escapes_what_tables_say() -> None:
    table = clinic().rename(columns={"pulse": "<script>alert(1)</script>"})
    text = page(looked_at(table))
    open_tags: list[str] = []
    seen: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            seen.add(tag)
            if tag != "meta":
                open_tags.append(tag)

        def handle_endtag(self, tag: str) -> None:
            if not open_tags or open_tags.pop() != tag:
                raise AssertionError(tag)

    Reader().feed(text)
    assert open_tags == []
    assert {"svg", "rect", "table"} <= seen
    assert "script" not in seen
    assert "http" not in text
