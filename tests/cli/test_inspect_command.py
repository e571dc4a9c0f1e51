"""`denots inspect` on the screen and as a page."""

from pathlib import Path

from cli.conftest import VISITS, Run


def test_the_report_fits_the_screen_and_its_command_fits_the_table(visits: Path, run: Run, tmp_path: Path) -> None:
    visits.write_text(VISITS.replace("38.2", "100.8"))
    told = run("inspect", visits, "--html", tmp_path / "visits.html").stdout
    *report, command = told.split("\n\npage:")[0].splitlines()
    assert all(len(line) <= 80 for line in report if str(visits) not in line)
    for words in ("patient (guessed)", "24 in 8 series", "well: 4 (50.0%)", "Fahrenheit for"):
        assert words in told
    assert command.split()[:4] == ["denots", "fit", str(visits), "--id"]
    assert (tmp_path / "visits.html").read_text().startswith("<!doctype html>")
    words = command.split()[1:-1]
    run(*words, tmp_path / "model", "--system", "trees", "--set", "rounds=5", "--quiet")


def test_a_table_without_times_is_told_in_one_line(visits: Path, run: Run) -> None:
    visits.write_text("a,b\nx,1\nx,2\ny,3\ny,4\n")
    assert run("inspect", visits, code=1).stderr == "error: no column looks like the time; name it with --time.\n"


def test_the_page_is_not_written_over_the_table(visits: Path, run: Run) -> None:
    before = visits.read_bytes()
    assert "its data would be lost" in run("inspect", visits, "--html", visits, code=2).stderr
    assert visits.read_bytes() == before
