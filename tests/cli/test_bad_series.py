"""Series that cannot be read, or are unlike the training data, on the command line."""

import json
from pathlib import Path

import pandas as pd

from cli.conftest import NEW, VISITS, Run, frame


class TestBadSeries:
    """One series that cannot be read never keeps the others from their answers."""

    BAD = NEW + "kay,2024-05-01T00:00:00,50,,\nleo,2024-05-02T00:00:00,50,80,37\nleo,2024-05-01T00:00:00,50,80,37\n"

    def test_the_others_are_answered_as_if_it_were_not_there(
        self, clinic: Path, new: Path, run: Run, tmp_path: Path
    ) -> None:
        run("predict", clinic / "classifier", new, "-o", tmp_path / "good.csv")
        new.write_text(self.BAD)
        command = ["predict", clinic / "classifier", new, "-o", tmp_path / "all.csv"]
        result = run(*command, "--max-failed", "0.4")
        good, found = (pd.read_csv(tmp_path / name, dtype={"patient": str}) for name in ("good.csv", "all.csv"))
        pd.testing.assert_frame_equal(found[:3].astype(good.dtypes), good)
        assert list(found["patient"]) == ["ida", "jon", "007", "kay", "leo"]
        assert found["prediction"][3:].isna().all()
        assert found["p_ill"][3:].isna().all()
        assert "no observed value" in found["status"][3]
        assert found["status"][4].startswith("not read: ")
        assert "'kay'" in result.stderr
        assert "'leo'" in result.stderr
        assert "2 of 5 series without an answer" in result.stdout
        assert "more than --max-failed 0.1" in run(*command, code=3).stderr
        refused = run(*command, "--strict", code=1).stderr
        assert "'kay'" in refused
        assert "'leo'" in refused

    def test_evaluation_counts_it_and_judges_the_others(self, clinic: Path, visits: Path, run: Run) -> None:
        plain = json.loads(run("evaluate", clinic / "classifier", visits, "--json").stdout)
        visits.write_text(VISITS + "kay,2024-05-01T00:00:00,50,,,ill\n")
        found = json.loads(run("evaluate", clinic / "classifier", visits, "--json", "--max-failed", "0.2").stdout)
        assert (found["series"], found["failed"]) == (9, 1)
        assert found["metrics"] == plain["metrics"]
        run("evaluate", clinic / "classifier", visits, code=3)
        assert "'kay'" in run("evaluate", clinic / "classifier", visits, "--strict", code=1).stderr

    def test_evaluation_leaves_out_and_names_a_series_of_a_class_that_the_model_does_not_know(
        self, clinic: Path, visits: Path, run: Run, tmp_path: Path
    ) -> None:
        command = ("evaluate", clinic / "classifier", visits)
        plain = json.loads(run(*command, "--json").stdout)
        first = frame(VISITS).query("patient == 'ann'").assign(patient="kay", outcome="dead")
        pd.concat([frame(VISITS), first]).to_csv(visits, index=False)
        shown = run(*command, "--json", "--max-failed", "0.2", "--series", tmp_path / "each.csv")
        found = json.loads(shown.stdout)
        assert (found["series"], found["failed"]) == (9, 1)
        assert found["metrics"] == plain["metrics"]
        reason = "series 'kay': the target holds the class 'dead', which the model does not know"
        assert "1 of 9 series are left out" in shown.stderr
        assert reason[6:] in " ".join(shown.stderr.split())
        status = pd.read_csv(tmp_path / "each.csv").set_index("patient")["status"]
        assert status["kay"].startswith(f"not judged: {reason}")
        assert json.loads(run(*command, "--json", "--max-failed", "1", "--by", "age").stdout)["failed"] == 1
        run(*command, code=3)
        refused = " ".join(run(*command, "--strict", code=1).stderr.split())
        assert reason in refused
        assert "leave the series out" in refused

    def test_a_forecast_asked_too_early_is_empty_and_says_so(
        self, clinic: Path, new: Path, run: Run, tmp_path: Path
    ) -> None:
        shown = run("predict", clinic / "forecaster", new, "--at", "-1,24", "-o", tmp_path / "f.csv").stdout
        assert "; 3 of them empty, asked before the first observation (see the column status)" in shown
        found = pd.read_csv(tmp_path / "f.csv")
        assert found["pulse"].isna().tolist() == [True, False] * 3
        early = found["status"].str.startswith("asked before its first observation")
        assert early.tolist() == [True, False] * 3
        assert set(found["status"][~early]) == {"ok"}

    def test_a_question_asked_too_early_hides_no_remark_on_the_series(
        self, clinic: Path, new: Path, run: Run, tmp_path: Path
    ) -> None:
        odd = frame(NEW)
        odd.loc[odd["patient"] == "ida", "pulse"] = 1e6
        odd.to_csv(new, index=False)
        shown = run("predict", clinic / "forecaster", new, "--at", "-1,24", "-o", tmp_path / "f.csv")
        status = pd.read_csv(tmp_path / "f.csv").query("patient == 'ida'")["status"].tolist()
        assert [words.partition(" ")[0] for words in status] == ["asked", "unusual:"]
        assert "1 unlike the training data" in shown.stdout

    def test_a_clock_in_another_unit_is_noticed(self, clinic: Path, run: Run, tmp_path: Path) -> None:
        stretched = frame(NEW)
        start = pd.to_datetime(stretched["when"])
        first = start.groupby(stretched["patient"]).transform("first")
        stretched["when"] = (first + 60 * (start - first)).dt.strftime("%Y-%m-%dT%H:%M:%S")
        stretched.to_csv(tmp_path / "slow.csv", index=False)
        result = run("predict", clinic / "classifier", tmp_path / "slow.csv", "-o", tmp_path / "p.csv")
        status = pd.read_csv(tmp_path / "p.csv", dtype={"patient": str}).set_index("patient")["status"]
        assert status["ida"].startswith("unusual: ")
        assert "minutes" in status["ida"]
        assert "unlike the training data" in result.stderr
