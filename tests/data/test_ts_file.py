"""The archives' .ts format, judged by lines that were parsed by hand."""

from pathlib import Path

import numpy as np
import pytest

from denots.data.ts_file import read_ts
from denots.errors import InvalidFile

NAN = np.nan
HEAD = "@problemName Toy\n@timeStamps false\n@univariate false\n@dimensions 2\n@classLabel true a b\n@data\n"


def written(folder: Path, text: str) -> Path:
    file = folder / "Toy_TRAIN.ts"
    file.write_text(text)
    return file


def test_channels_are_separated_by_colons_and_the_class_is_last(tmp_path: Path) -> None:
    series = read_ts(written(tmp_path, f"# a comment\n\n{HEAD}1,2.5,-3e2:4,?,6:b\n0,0,1:1,1,0:a\n"))
    np.testing.assert_array_equal(series[0].values, [[1, 4], [2.5, NAN], [-300, 6]])
    np.testing.assert_array_equal(series[1].values, [[0, 1], [0, 1], [1, 0]])
    np.testing.assert_array_equal(series.times, [0, 1, 2, 0, 1, 2])
    assert series.target is not None
    assert series.target.tolist() == ["b", "a"]


def test_lengths_may_differ(tmp_path: Path) -> None:
    head = HEAD.replace("@classLabel", "@equalLength false\n@seriesLength 3\n@classLabel")
    series = read_ts(written(tmp_path, f"{head}1,2:3,4:a\n5,6,7:8,9,10:b\n"))
    assert series.lengths.tolist() == [2, 3]
    np.testing.assert_array_equal(series[1].values, [[5, 8], [6, 9], [7, 10]])


def test_time_stamps_are_read_and_channels_may_have_their_own(tmp_path: Path) -> None:
    head = HEAD.replace("@timeStamps false", "@timeStamps true")
    series = read_ts(written(tmp_path, f"{head}(0.5,1),(2,?),(3.5,3):(2,7),(9,8):a\n(0,1):(0,2):b\n"))
    np.testing.assert_array_equal(series[0].times, [0.5, 2, 3.5, 9])
    np.testing.assert_array_equal(series[0].values, [[1, NAN], [NAN, 7], [3, NAN], [NAN, 8]])
    np.testing.assert_array_equal(series[1].values, [[1, 2]])


def test_a_target_may_be_a_number(tmp_path: Path) -> None:
    series = read_ts(written(tmp_path, "@univariate true\n@targetLabel true\n@data\n1,2:0.25\n3,4:7\n"))
    assert series.target is not None
    np.testing.assert_array_equal(series.target, [0.25, 7])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD + "1,2:3,4:a\n1,x:3,4:b\n", "line 8: value 2 is 'x'"),
        (HEAD + "1,2:3,4:c\n", "line 7: class 'c' is not among those of the header: a, b"),
        (HEAD + "1,2:a\n", "line 7: 1 channels before the class; the header promises 2"),
        (HEAD + "1,2:3:a\n", "line 7: the channels have 2, 1 values"),
        (HEAD.replace("@data", "@seriesLength 3\n@data") + "1,2:3,4:a\n", "line 8: 2 time steps; .* promises 3"),
        (HEAD.replace("@data", "@missing false\n@data") + "1,?:3,4:a\n", "line 8: a value is missing"),
        (HEAD.replace("@timeStamps false", "@timeStamps true") + "(1,2),3:(1,2):a\n", "line 7: '3'; expected .time,value"),
        (HEAD.replace("@timeStamps false", "@timeStamps true") + "(2,2),(1,3):(2,2),(1,3):a\n", "times must increase"),
        (HEAD.replace("@timeStamps false", "@timeStamps maybe"), "line 2: @timestamps 'maybe'; expected true or false"),
        (HEAD.replace("@dimensions 2", "@dimensions two"), "line 4: @dimensions 'two'; expected one whole number"),
        (HEAD.replace("@univariate false", "@univariate true"), "@univariate true and @dimensions 2"),
        (HEAD.replace("@problemName", "@problem"), "line 1: unknown header line @problem"),
        (HEAD.replace("@classLabel true a b\n", ""), "neither @classLabel nor @targetLabel"),
        ("1,2,3:a\n", "line 1: '1,2,3:a' stands before @data"),
        ("@problemName Toy\n", "has no line @data"),
        (HEAD, "holds no series"),
        (HEAD + "?,?:?,?:a\n", "no observed value"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_file_and_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InvalidFile, match=rf"Toy_TRAIN\.ts.*{words}"):
        read_ts(written(tmp_path, text))


def test_the_number_of_channels_must_not_change_where_the_header_is_silent(tmp_path: Path) -> None:
    text = HEAD.replace("@dimensions 2\n", "") + "1,2:3,4:a\n1,2:a\n"
    with pytest.raises(InvalidFile, match="line 7: 1 channels, but 2 in the lines before"):
        read_ts(written(tmp_path, text))
