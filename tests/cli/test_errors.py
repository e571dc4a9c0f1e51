"""Failures are one line on stderr, with the exit code 2 for wrong names and options, and change nothing."""

from pathlib import Path

import pytest

from cli.conftest import COLUMNS, SMALL, VISITS, Run
from denots.errors import InvalidTable


def told(result) -> str:
    """The only line on stderr, which is the error; at most what was read has been told before."""
    assert [line for line in result.stdout.splitlines() if not line.startswith("read: ")] == []
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    return line


@pytest.mark.parametrize(
    ("option", "name", "nearest"),
    [
        ("--target", "outcom", "'outcome'"),
        ("--id", "patent", "'patient'"),
        ("--time", "wen", "'when'"),
        ("--static", "ages", "'age'"),
        ("--channels", "puls", "'pulse'"),
        ("--start", "whem", "'when'"),
    ],
)
def test_a_missing_column_brings_the_nearest_name(
    visits: Path, run: Run, tmp_path: Path, option, name, nearest
) -> None:
    line = told(run("fit", visits, *COLUMNS, *SMALL, option, name, "--out", tmp_path / "m", code=2))
    assert f"{name!r}. Did you mean {nearest}" in line
    assert not (tmp_path / "m").exists()


def test_text_in_a_numeric_column_is_shown_with_its_row(visits: Path, run: Run, tmp_path: Path) -> None:
    visits.write_text(VISITS.replace("110,,ill", "fast,,ill"))
    options = [*COLUMNS, *SMALL, "--channels", "pulse,temperature", "--out", tmp_path / "m"]
    line = told(run("fit", visits, *options, code=1))
    assert "'pulse'" in line
    assert "series 'bob', line 8: 'fast' in value column" in line


@pytest.mark.parametrize(
    ("options", "advice"),
    [
        (["--channels", "pulse"], "--time-unit): s, min, h, d"),
        ([], "name the channels (values=..., --channels)"),
        (["--variable", "pulse"], "(value=..., --value); name both"),
    ],
)
def test_advice_is_given_in_options(visits: Path, run: Run, tmp_path: Path, options: list[str], advice: str) -> None:
    line = told(run("fit", visits, "--id", "patient", "--time", "when", *options, "--out", tmp_path / "m", code=1))
    assert advice in line


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--task", "clasification", "--channels", "pulse"], "Did you mean 'classification'"),
        (["--task", "regression", "--channels", "pulse"], "needs a target"),
        (["--system", "trees1", "--channels", "pulse"], "Did you mean 'trees'"),
        (["--system", "denots", "--set", "depth=deep", "--channels", "pulse"], "depth=deep: expected a number"),
        (["--system", "denots", "--set", "depht=3", "--channels", "pulse"], "Did you mean 'depth'"),
        (["--system", "denots", "--set", "depth", "--channels", "pulse"], "write key=value"),
        (["--system", "trees", "--set", "depth=3", "--channels", "pulse"], "unknown option of 'trees': 'depth'"),
        (["--system", "denots", "--set", "depth=-1", "--channels", "pulse"], "depth must be a positive number"),
        (["--system", "denots", "--set", "field=ant", "--channels", "pulse"], "'anti'"),
        (["--balanced", "--channels", "pulse"], "leave it out"),
        (
            ["--system", "denots", "--set", "max_epochs=0", "--channels", "pulse"],
            "max_epochs must be a whole number from 1",
        ),
        (["--channels", ","], "--channels names no column"),
        (["--seed", "-1"], "greater than or equal to 0"),
    ],
)
def test_options_out_of_range_are_refused(visits: Path, run: Run, tmp_path: Path, options, words: str) -> None:
    options = [*COLUMNS, "--static", "age", *options]
    result = run("fit", visits, *options, "--quiet", "--out", tmp_path / "m", code=2)
    assert words in result.stderr
    assert result.stdout == ""
    assert not (tmp_path / "m").exists()


def test_a_folder_that_is_no_model_is_not_touched(visits: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "thesis.tex").write_text("years of work")
    line = told(run("fit", visits, *COLUMNS, *SMALL, "--target", "outcome", "--out", tmp_path / "m", code=1))
    assert "holds other files too (thesis.tex)" in line
    assert (tmp_path / "m" / "thesis.tex").read_text() == "years of work"
    assert not (tmp_path / ".m.fit").exists()


def test_a_foreign_folder_is_no_model(new: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    for command in (["predict", tmp_path / "m", new, "-o", tmp_path / "p.csv"], ["evaluate", tmp_path / "m", new]):
        assert "no manifest.json" in told(run(*command, code=1))


def test_a_table_with_other_channels_is_refused(clinic: Path, new: Path, run: Run, tmp_path: Path) -> None:
    new.write_text(new.read_text().replace("pulse", "heart_rate"))
    line = told(run("predict", clinic / "classifier", new, "-o", tmp_path / "p.csv", code=1))
    assert "it lacks 'pulse'" in line
    assert not (tmp_path / "p.csv").exists()


def test_evaluation_needs_known_answers(clinic: Path, new: Path, visits: Path, run: Run) -> None:
    assert "no target column 'outcome'" in told(run("evaluate", clinic / "classifier", new, code=1))
    visits.write_text(VISITS.replace("well", "fine"))
    words = "class 'fine', which the model does not know"
    assert words in run("evaluate", clinic / "classifier", visits, code=3).stderr
    assert words in told(run("evaluate", clinic / "classifier", visits, "--strict", code=1))
    visits.write_text(VISITS.replace("well", "fine").replace("ill", "worse"))
    assert "which the model does not know" in told(run("evaluate", clinic / "classifier", visits, code=1))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("patient,sick\nann,1\nann,0\n", "several rows for series 'ann'"),
        ("patient,sick\nann,1\n", "'bob' has no target"),
        ("patient,sick,days\nann,1,2\n", "sick, days; name those to learn (target=..., --target)"),
        ("person,sick\nann,1\n", "Known: person, sick"),
        ("patient,pulse\nann,1\n", "in both tables"),
    ],
)
def test_targets_that_do_not_fit_the_table_are_refused(
    visits: Path, run: Run, tmp_path: Path, content: str, words: str
) -> None:
    (tmp_path / "targets.csv").write_text(content)
    options = [*COLUMNS, "--channels", "pulse", "--targets", tmp_path / "targets.csv", "--out", tmp_path / "m"]
    line = told(run("fit", visits, *options, code=2 if "Known" in words else 1))
    assert words in line


def test_another_run_in_the_checkpoint_folder_is_not_continued_until_told(
    visits: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["fit", visits, *COLUMNS, *SMALL, "--target", "outcome", "--static", "age", "--out", tmp_path / "m"]

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("denots.estimators.SeriesClassifier.save", full)
        assert "No space left on device" in run(*command, code=1).stderr
    assert not (tmp_path / "m").exists()
    other = run(*command, "--seed", "5", code=1)
    assert "other data or options" in other.stderr
    assert "continuing an interrupted run after epoch 2" in run(*command).stdout
    assert not (tmp_path / ".m.fit").exists()
    with monkeypatch.context() as patch:
        patch.setattr("denots.estimators.SeriesClassifier.save", full)
        run(*command, "--overwrite", code=1)
    assert "continuing" not in run(*command, "--overwrite", "--seed", "5", "--restart").stdout


def test_ctrl_c_says_how_to_go_on_and_exits_with_130(
    visits: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("denots.estimators.SeriesClassifier.fit", stop)
    result = run("fit", visits, *COLUMNS, *SMALL, "--target", "outcome", "--out", tmp_path / "m", code=130)
    assert "the same command goes on" in result.stderr


@pytest.mark.parametrize("place", [0, 3])
def test_debug_shows_the_traceback_wherever_it_stands(run: Run, tmp_path: Path, place: int) -> None:
    command = ["fit", tmp_path / "none.csv", "--out", tmp_path / "m"]
    assert "there is no file" in told(run(*command, code=1))
    command.insert(place, "--debug")
    with pytest.raises(InvalidTable):
        run(*command, code=None)


def test_debug_can_be_set_in_the_environment(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENOTS_DEBUG", "1")
    with pytest.raises(InvalidTable):
        run("fit", tmp_path / "none.csv", "--out", tmp_path / "m", code=None)


@pytest.mark.parametrize(("name", "words"), [("p.xls", "not a table file"), ("none/p.csv", "existing folder")])
def test_a_file_that_cannot_be_written_is_refused_before_any_work(
    clinic: Path, run: Run, tmp_path: Path, name: str, words: str
) -> None:
    absent = tmp_path / "absent.csv"
    assert words in told(run("predict", clinic / "classifier", absent, "-o", tmp_path / name, code=1))
    assert words in told(run("data", "export", "bump", "-o", tmp_path / name, code=1))


def test_predictions_never_replace_the_table_they_are_made_from(clinic: Path, new: Path, run: Run) -> None:
    before = new.read_text()
    line = told(run("predict", clinic / "classifier", new, "-o", new.parent / "." / new.name, code=2))
    assert "give another name" in line
    assert new.read_text() == before
