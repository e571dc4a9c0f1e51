"""The archives' .arff format, judged by scipy and by lines that were parsed by hand."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import arff

from denots.data.arff_file import read_arff
from denots.errors import InvalidFile

FLAT = (
    "% note\n@relation Toy\n@attribute att0 numeric\n@attribute att1 real\n@attribute target {x,'long name'}\n\n@data\n"
)
NESTED = (
    "@relation Toy\n@attribute rel relational\n  @attribute att0 numeric\n  @attribute att1 numeric\n@end rel\n"
    "@attribute class {1.0,2.0}\n@data\n"
)


def written(folder: Path, text: str) -> Path:
    file = folder / "Toy_TRAIN.arff"
    file.write_text(text)
    return file


def test_a_univariate_file_reads_as_scipy_reads_it(tmp_path: Path) -> None:
    file = written(tmp_path, FLAT.replace("'long name'", "y") + "1.5,-2,x\n?,4e-3,y\n")
    series, (table, meta) = read_arff(file), arff.loadarff(file)
    columns = np.stack([table["att0"], table["att1"]], axis=1)
    np.testing.assert_array_equal(series.padded().values[:, :, 0], columns)
    assert meta.names() == ["att0", "att1", "target"]
    assert series.target is not None
    assert series.target.tolist() == [name.decode() for name in table["target"]]


def test_classes_may_be_quoted(tmp_path: Path) -> None:
    series = read_arff(written(tmp_path, FLAT + "1,2,'long name'\n3,4,x\n"))
    assert series.target is not None
    assert series.target.tolist() == ["long name", "x"]


@pytest.mark.parametrize("quote", ["'", '"'])
def test_channels_are_nested_in_quotes(tmp_path: Path, quote: str) -> None:
    series = read_arff(written(tmp_path, NESTED + f"{quote}1,2\\n3,?\\n5,6{quote},2.0\n"))
    np.testing.assert_array_equal(series[0].values, [[1, 3, 5], [2, np.nan, 6]])
    np.testing.assert_array_equal(series[0].times, [0, 1])
    assert series[0].target == "2.0"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (FLAT + "1,2,x\n1,z,x\n", "line 9: value 2 is 'z'"),
        (FLAT + "1,2,3,x\n", "line 8: 3 time steps; the header declares 2"),
        (FLAT + "1,2,y\n", "line 8: class 'y' is not among those of the header: x, long name"),
        (NESTED + "1,2,1.0\n", "line 8: '1,2,1.0'; expected a quoted series"),
        (NESTED + "'1,2\\n3',1.0\n", "line 8: the channels have 2, 1 values"),
        (FLAT.replace("real", "string"), "line 4: attribute of kind 'string'"),
        (FLAT.replace("@attribute target {x,'long name'}\n", ""), "line 6: the header declares no time steps, or no class"),
        (FLAT.replace("% note", "note"), "line 1: 'note' stands in the header"),
        (FLAT.replace("@data\n", ""), "has no line @data"),
        (FLAT, "holds no series"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_file_and_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InvalidFile, match=rf"Toy_TRAIN\.arff.*{words}"):
        read_arff(written(tmp_path, text))
