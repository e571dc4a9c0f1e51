"""Table files judged by the csv module, by pandas' own writers and by what was written."""

import csv
import gzip
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denots.data import TableSchema
from denots.data.frame import read_frame
from denots.data.table_file import TEXT_SUFFIXES, read_table, write_table
from denots.errors import InvalidFile, InvalidTable, InvalidTarget, UnknownName

FORMATS = [*TEXT_SUFFIXES, ".parquet", ".feather"]


def save(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {"id": ["a", "a", "b"], "t": [0.1, 0.30000000000000004, 1e-300], "x": [1.0, np.nan, -2.5], "y": ["u", "u", "v"]}
    )


@pytest.mark.parametrize("suffix", [*FORMATS, ".CSV", ".Parquet"])
def test_what_was_written_is_read_back_exactly(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"table.v1{suffix}"
    write_table(frame(), path)
    pd.testing.assert_frame_equal(read_table(path, id="id").reset_index(drop=True), frame(), check_exact=True)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_sheet_is_read_back_to_the_fifteen_digits_that_excel_keeps(tmp_path: Path) -> None:
    path = tmp_path / "table.xlsx"
    write_table(frame(), path)
    pd.testing.assert_frame_equal(read_table(path, id="id"), frame(), rtol=1e-15, atol=0)


def test_a_sheet_typed_by_hand_is_read_as_it_was_meant(tmp_path: Path) -> None:
    path = tmp_path / "table.xlsx"
    typed = pd.DataFrame({"id": [7, "007", "x"], "t": [0, 1, 2], "x": [1.5, "NA", None], "y": ["NA", "u", "v"]})
    typed.to_excel(path, index=False)
    read = read_table(path, id="id")
    assert read["id"].tolist() == ["7", "007", "x"]
    np.testing.assert_array_equal(read["x"], [1.5, np.nan, np.nan])
    assert read["y"].tolist() == ["NA", "u", "v"]
    with pd.ExcelWriter(path) as book:
        for name in ("first", "second"):
            typed.to_excel(book, sheet_name=name, index=False)
    with pytest.raises(InvalidTable, match=r"table\.xlsx has 2 sheets with rows: 'first', 'second'; expected one"):
        read_table(path)


def test_excel_without_openpyxl_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InvalidTable, match=r"pip install 'denots\[excel\]'"):
        write_table(frame(), tmp_path / "table.xlsx")


def test_a_folder_of_parts_is_one_table_with_its_partition_as_a_column(tmp_path: Path) -> None:
    whole = pd.DataFrame({"id": [3, 3, 4, 5], "t": [0, 1, 0, 0], "x": [1.0, 2.0, 3.0, 4.0], "ward": list("aabb")})
    whole.to_parquet(tmp_path / "visits", partition_cols=["ward", "id"])
    read = read_table(tmp_path / "visits", id="id")
    series = read_frame(read, id="id", time="t", values="x", static="ward")
    assert series.same_as(read_frame(whole, id="id", time="t", values="x", static="ward"))


def test_an_archive_holds_one_table(tmp_path: Path) -> None:
    path = tmp_path / "table.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("__MACOSX/._a.csv", b"junk")
        archive.writestr("a.csv", "id,t\n1,2\n")
    assert read_table(path, id="id").to_numpy().tolist() == [[1, 2]]
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("b.csv", "id,t\n1,2\n")
    with pytest.raises(InvalidTable, match=r"table\.csv\.zip holds 2 files; expected one"):
        read_table(path)


def test_standard_input_and_output_are_csv(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = frame().to_csv(index=False)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    read = read_table("-", id="id")
    pd.testing.assert_frame_equal(read.reset_index(drop=True), frame(), check_exact=True)
    write_table(read, "-")
    assert capsys.readouterr().out == text
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(InvalidTable, match="standard input is empty"):
        read_table("-")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.text("0179-NAna, \"'é\n", min_size=1), st.floats(allow_infinity=False)), min_size=1))
def test_csv_agrees_with_the_csv_module(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, float]]
) -> None:
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("id", "x"), *rows])
    read = read_table(path, id="id")
    assert [str(cell) for cell in read["id"]] == [name for name, _ in rows]
    np.testing.assert_array_equal(read["x"].to_numpy(dtype=float), [x for _, x in rows])


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz", "table.csv.xz", "table.csv.zip"])
@pytest.mark.parametrize(("sign", "point"), [(";", ","), (";", "."), ("\t", ".")])
def test_a_csv_may_have_other_delimiters_than_commas(tmp_path: Path, name: str, sign: str, point: str) -> None:
    path = tmp_path / name
    frame().to_csv(path, index=False, sep=sign, decimal=point, compression="infer")
    pd.testing.assert_frame_equal(read_table(path, id="id").reset_index(drop=True), frame(), check_exact=True)


def test_a_text_with_commas_leaves_decimal_points_alone(tmp_path: Path) -> None:
    read = read_table(save(tmp_path, "id;x;note\na;1.5;so, so\nb;2;good\n"), id="id")
    assert read["x"].tolist() == [1.5, 2.0]
    assert read["note"].tolist() == ["so, so", "good"]


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["007", "7"], ["007", "7"]),
        (["12", "-3"], [12, -3]),
        (["0", "10"], [0, 10]),
        (["1", "a"], ["1", "a"]),
        (["NA", "nan"], ["NA", "nan"]),
        (["1", "NA"], ["1", "NA"]),
        (["1.0", "2"], ["1.0", "2"]),
        (["-0", "1"], ["-0", "1"]),
        (["12345678901234567890", "1"], ["12345678901234567890", "1"]),
        (["true", "false"], ["true", "false"]),
        (["2024-01-01", "2024-01-02"], ["2024-01-01", "2024-01-02"]),
    ],
)
def test_ids_in_text_files_stay_what_they_are(tmp_path: Path, cells: list[str], found: list[Any]) -> None:
    table = read_table(save(tmp_path, "id,x\n" + "".join(f"{cell},1\n" for cell in cells)), id="id")
    assert table["id"].tolist() == found


def test_an_empty_id_is_missing_and_reported_with_its_row(tmp_path: Path) -> None:
    table = read_table(save(tmp_path, "id,t,x\n1,0,1\n,1,1\n"), id="id")
    with pytest.raises(InvalidTable, match=r"line 3 has no id in column 'id'"):
        read_frame(table, id="id", time="t")


def test_missing_words_are_missing_only_among_numbers(tmp_path: Path) -> None:
    table = read_table(save(tmp_path, "id,x,y,z\na,1.5,NA,\na,NaN,sick,1\na,null,nan,\n"), id="id")
    np.testing.assert_array_equal(table["x"], [1.5, np.nan, np.nan])
    np.testing.assert_array_equal(table["z"], [np.nan, 1.0, np.nan])
    assert table["y"].tolist() == ["NA", "sick", "nan"]


def test_an_empty_text_cell_is_a_missing_target(tmp_path: Path) -> None:
    table = read_table(save(tmp_path, "id,t,x,y\na,0,1,sick\nb,0,1,\n"), id="id")
    with pytest.raises(InvalidTarget, match=r"series 'b' has no target in column 'y'"):
        read_frame(table, id="id", time="t", target="y")


def test_other_words_among_numbers_are_named_by_read_frame(tmp_path: Path) -> None:
    table = read_table(save(tmp_path, "id,t,x\na,0,NA\na,1,n/a\na,2,1.5\n"), id="id")
    with pytest.raises(InvalidTable, match=r"series 'a', line 3: 'n/a' in value column 'x'"):
        read_frame(table, id="id", time="t")


@pytest.mark.parametrize(
    ("stamps", "hours"),
    [
        (["2024-01-01", "2024-01-02"], [0.0, 24.0]),
        (["2024-01-01 00:00:00", "2024-01-01 00:00:00.5"], [0.0, 0.5 / 3600]),
        (["2024-01-01T00:00:00+02:00", "2024-01-01T01:30:00+02:00"], [0.0, 1.5]),
        (["2024-01-01", "2024-01-01T06:00"], [0.0, 6.0]),
    ],
)
def test_dates_in_a_csv_become_times(tmp_path: Path, stamps: list[str], hours: list[float]) -> None:
    table = read_table(save(tmp_path, "id,t,x\n" + "".join(f"a,{stamp},1\n" for stamp in stamps)), id="id")
    assert read_frame(table, id="id", time="t", time_unit="h").times.tolist() == hours


def test_mixed_offsets_in_a_csv_are_read_to_one_clock(tmp_path: Path) -> None:
    table = read_table(
        save(tmp_path, "id,t,x\na,2024-01-01T00:00:00+01:00,1\na,2024-01-01T03:00:00+02:00,1\n"), id="id"
    )
    assert table["t"].tolist() == ["2024-01-01T00:00:00+01:00", "2024-01-01T03:00:00+02:00"]
    assert read_frame(table, id="id", time="t", time_unit="h").times.tolist() == [0.0, 2.0]


def test_stamps_with_a_format_of_their_own_are_read_as_they_stand(tmp_path: Path) -> None:
    path = save(tmp_path, "id,t,x\na,01022024,1\na,02022024,1\nb,2024-03-01,2\n".replace("2024-03-01", "11022024"))
    read = read_frame(read_table(path, id="id", texts=["t"]), id="id", time="t", time_format="%d%m%Y", time_unit="d")
    assert read.times.tolist() == [0.0, 1.0, 0.0]
    turned = save(tmp_path, "id,t,x\na,2024-01-05,1\na,2024-02-05,1\n")  # the first and second of May
    schema = TableSchema("id", "t", time_format="%Y-%d-%m", time_unit="d")
    assert schema.read(read_table(turned, id="id", texts=schema.texts)).times.tolist() == [0.0, 1.0]


def test_a_csv_saved_with_its_index_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    frame().drop(columns="y").to_csv(path)
    with pytest.raises(InvalidTable, match=r"'' looks like row numbers"):
        read_frame(read_table(path, id="id"), id="id", time="t")


def test_row_labels_in_parquet_are_no_column_but_a_named_index_is(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    frame().set_axis([5, 3, 9]).to_parquet(path)
    assert read_table(path).columns.tolist() == ["id", "t", "x", "y"]
    frame().set_index("id").to_parquet(path)
    assert read_table(path)["id"].tolist() == ["a", "a", "b"]


def test_a_cell_may_hold_line_breaks_wherever_the_reader_cuts_the_file(tmp_path: Path) -> None:
    cell = "line\n" * 20
    table = read_table(save(tmp_path, "id,note\n" + f'a,"{cell}"\n' * 30_000), id="id")
    assert len(table) == 30_000
    assert table["note"].unique().tolist() == [cell]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,t,x\na,0,1\na,1\n", "Expected 3 columns, got 2"),
        ("id,t,x\na,0,1\na,1,2,3\n", "Expected 3 columns, got 4"),
        ("\n\n", "Empty CSV file"),
    ],
)
def test_a_line_with_the_wrong_number_of_fields_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InvalidTable, match=rf"table\.csv cannot be read as \.csv: .*{words}"):
        read_table(save(tmp_path, text), id="id")


def test_repeated_headers_are_refused_and_not_renamed(tmp_path: Path) -> None:
    table = read_table(save(tmp_path, "id,t,x,x\na,0,1,2\n"), id="id")
    with pytest.raises(InvalidTable, match=r"column names repeat: 'x'"):
        read_frame(table, id="id", time="t")


def test_a_header_alone_has_no_rows(tmp_path: Path) -> None:
    with pytest.raises(InvalidTable, match="no rows"):
        read_frame(read_table(save(tmp_path, "id,t,x\n"), id="id"), id="id", time="t")


def test_text_that_is_not_utf8_names_line_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes("id,name\na,Jos\xe9\n".encode("latin-1"))
    with pytest.raises(InvalidFile, match=r"table\.csv, line 2: byte 0xE9 is not UTF-8 text .*save the file as UTF-8"):
        read_table(path, id="id")
    path.write_bytes("id,name\nJos\xe9,1\n".encode("latin-1"))
    with pytest.raises(InvalidFile, match=r"line 2: byte 0xE9"):
        read_table(path, id="id")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_the_unicode_text_of_spreadsheets_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "table.csv"
    mark = "" if encoding == "utf-16" else "\ufeff"
    path.write_bytes((mark + "id\tt\tGröße\r\na\t0\t1.5\r\n").encode(encoding))
    told = read_table(path, id="id")
    assert told.to_dict("list") == {"id": ["a"], "t": [0], "Größe": [1.5]}
    assert list(told.index) == [2]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InvalidFile, match="begins as UTF-16 and is none"):
        read_table(path, id="id")


@pytest.mark.parametrize("suffix", [".csv.gz", ".csv.xz", ".tsv.zip", ".parquet", ".feather", ".xlsx"])
def test_a_truncated_file_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"table{suffix}"
    write_table(pd.concat([frame()] * 200), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InvalidTable, match=rf"table{suffix} cannot be read as {suffix}: .*truncated"):
        read_table(path, id="id")


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    path.write_bytes(gzip.compress(b"id,t\n1,2\n"))
    with pytest.raises(InvalidTable, match=r"cannot be read as \.parquet"):
        read_table(path)


@pytest.mark.parametrize("place", ["s3://bucket/visits.parquet", "gs://bucket/shards"])
def test_a_place_in_an_object_store_is_refused_with_what_to_do(place: str) -> None:
    with pytest.raises(InvalidTable, match=r"object store.*mount the store"):
        read_table(place)


def test_a_missing_file_a_folder_and_an_empty_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidTable, match=r"there is no file .*absent\.csv"):
        read_table(tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidTable, match=r"folder\.csv is a folder"):
        read_table(tmp_path / "folder.csv")
    (tmp_path / "empty.parquet").touch()
    with pytest.raises(InvalidTable, match=r"empty\.parquet is empty"):
        read_table(tmp_path / "empty.parquet")


@pytest.mark.parametrize("name", ["table.xls", "table", "table.pkl", "csv"])
def test_other_formats_list_what_is_supported(tmp_path: Path, name: str) -> None:
    words = r"supported are \.csv and \.tsv \(also with \.gz, \.xz or \.zip\), .*\.parquet, \.feather, \.xlsx"
    with pytest.raises(InvalidTable, match=words):
        read_table(tmp_path / name)
    with pytest.raises(InvalidTable, match=words):
        write_table(frame(), tmp_path / name)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"table{suffix}"
    write_table(frame(), path)
    before = path.read_bytes()

    class Unwritable:
        def __str__(self) -> str:
            raise RuntimeError("no text")

    with pytest.raises(Exception, match=r"no text|Unwritable"):
        write_table(pd.DataFrame({"id": ["a", Unwritable()]}, dtype=object), path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_writing_to_a_folder_or_into_a_missing_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for path in (tmp_path / "folder.csv", tmp_path / "absent" / "table.csv"):
        with pytest.raises(InvalidTable, match="file name in an existing folder"):
            write_table(frame(), path)


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz", "table.tsv"])
def test_a_header_in_another_encoding_names_line_and_byte(tmp_path: Path, name: str) -> None:
    text = "id,t,Größe\na,0,1\n".replace(",", "\t" if name.endswith("tsv") else ",").encode("latin-1")
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    with pytest.raises(InvalidFile, match=rf"{name}, line 1: byte 0xF6 is not UTF-8 text \(as Latin-1 .*Größe.*iconv"):
        read_table(tmp_path / name, id="id")


def test_messages_about_a_text_file_count_its_lines(tmp_path: Path) -> None:
    path = save(tmp_path, "id,t,x\na,0,1\na,noon,2\nb,1,3\nb,2,4\n")
    with pytest.raises(InvalidTable, match=r"series 'a', line 3: 'noon' in time column 't' is not a number"):
        read_frame(read_table(path, id="id"), id="id", time="t")
    part = read_table(path, id="id").query("x != 1")
    with pytest.raises(InvalidTable, match=r"series 'a', line 3"):
        read_frame(part, id="id", time="t")


@pytest.mark.parametrize(
    "text", ["id,t,x\n\na,0,oops\na,1,2\na,2,2\n", 'id,t,x,note\na,0,oops,"two\nlines"\na,1,2,\na,2,3,\n']
)
def test_where_lines_and_rows_differ_messages_count_rows(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidTable, match=r"series 'a', row 1: 'oops'"):
        read_frame(read_table(save(tmp_path, text), id="id"), id="id", time="t", values="x")


def test_a_missing_column_called_line_is_not_taken_for_the_index(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="unknown id column 'line'"):
        read_frame(read_table(save(tmp_path, "id,t,x\na,0,1\n"), id="id"), id="line", time="t")
