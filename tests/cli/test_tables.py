"""From a CSV to a model, to predictions, to metrics; judged by the estimators, pandas and scikit-learn."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import log_loss, mean_absolute_error, r2_score, roc_auc_score, root_mean_squared_error

import denots
from cli.conftest import COLUMNS, NEW, SMALL, VISITS, Run, frame
from denots import SeriesSet


def series(text: str, **options) -> SeriesSet:
    roles = {"id": "patient", "time": "when", "time_unit": "h", "static": "age"}
    return SeriesSet.from_frame(frame(text), **(roles | {"values": ["pulse", "temperature"]} | options))


class TestClassification:
    def test_predictions_are_those_of_the_estimator(self, clinic: Path, new: Path, run: Run, tmp_path: Path) -> None:
        run("predict", clinic / "classifier", new, "-o", tmp_path / "p.csv")
        found = pd.read_csv(tmp_path / "p.csv", dtype={"patient": str}, float_precision="round_trip")
        estimator = denots.load(clinic / "classifier")
        assert list(found.columns) == ["patient", "prediction", "p_ill", "p_well", "status"]
        assert list(found["patient"]) == ["ida", "jon", "007"]
        np.testing.assert_array_equal(found[["p_ill", "p_well"]], estimator.predict_proba(series(NEW)))
        np.testing.assert_array_equal(found["prediction"], estimator.predict(series(NEW)))

    def test_metrics_and_baseline_are_those_of_scikit_learn(
        self, clinic: Path, visits: Path, run: Run, tmp_path: Path
    ) -> None:
        labels = frame(VISITS).groupby("patient", sort=False)["outcome"].first()
        test = tmp_path / "test.csv"
        kept = frame(VISITS)[lambda table: table["patient"].isin(["ann", "bob", "dee", "eve", "gus"])]
        kept.to_csv(test, index=False)
        truth = labels[list(kept["patient"].unique())]
        found = json.loads(run("evaluate", clinic / "classifier", test, "--json").stdout)["metrics"]
        run("predict", clinic / "classifier", test, "-o", tmp_path / "p.csv")
        shares = pd.read_csv(tmp_path / "p.csv")[["p_ill", "p_well"]].to_numpy()
        prior = DummyClassifier(strategy="prior").fit(labels, labels)
        trivial = prior.predict_proba(truth)
        classes = np.array(["ill", "well"])
        for part, told in (("model", shares), ("baseline", trivial)):
            right = (classes[told.argmax(axis=1)] == truth.to_numpy()).mean()
            assert found["accuracy"][part] == pytest.approx(right)
            assert found["AUROC"][part] == pytest.approx(roc_auc_score(truth == "well", told[:, 1]))
            assert found["log loss"][part] == pytest.approx(log_loss(truth, told, labels=classes))
        assert found["accuracy"]["baseline"] == pytest.approx(prior.score(truth, truth))

    def test_the_screen_shows_model_and_baseline(self, clinic: Path, visits: Path, run: Run) -> None:
        shown = run("evaluate", clinic / "classifier", visits).stdout
        for word in ("accuracy", "AUROC", "log loss", "class shares", "8 series, 0 without an answer"):
            assert word in shown

    def test_one_class_only_leaves_auroc_undefined(self, clinic: Path, run: Run, tmp_path: Path) -> None:
        frame(VISITS)[lambda table: table["outcome"] == "ill"].to_csv(tmp_path / "ill.csv", index=False)
        found = json.loads(run("evaluate", clinic / "classifier", tmp_path / "ill.csv", "--json").stdout)
        assert found["metrics"]["AUROC"] == {"model": None, "baseline": None}
        assert found["series"] == 4

    def test_a_series_that_cannot_be_solved_gets_empty_cells_and_is_named(
        self, clinic: Path, run: Run, tmp_path: Path
    ) -> None:
        model = denots.load(clinic / "classifier")
        model.system_ = model.system_.with_options(max_steps=2)  # enough for a single observation, not for many
        model.save(tmp_path / "model")
        one = NEW + "kay,2024-05-01T00:00:00,50,80,37.0\n"
        (tmp_path / "new.csv").write_text(one)
        command = ["predict", tmp_path / "model", tmp_path / "new.csv", "-o", tmp_path / "p.csv"]
        result = run(*command, code=3)
        rows = dict(line.split(",", 1) for line in (tmp_path / "p.csv").read_text().splitlines())
        assert rows["ida"].startswith(',,,"not solved: could not be integrated')
        assert rows["kay"].split(",")[0] in ("ill", "well")
        assert result.stderr.startswith("warning: ")
        assert "'ida'" in result.stderr
        assert "more than --max-failed 0.1" in result.stderr
        run(*command, "--max-failed", "1")
        assert "'ida'" in run(*command, "--strict", code=1).stderr


def test_a_regressor_takes_its_targets_from_a_second_table(visits: Path, run: Run, tmp_path: Path) -> None:
    names = list(frame(VISITS)["patient"].unique())
    truth = np.array([1.5, 8.25, 6.0, 2.0, 3.5, 9.0, 1.0, 7.5])
    targets = tmp_path / "stays.csv"
    # In another order, and with an id that the visits do not have.
    lines = [f"{name},{days}" for name, days in zip(names, truth, strict=True)][::-1]
    targets.write_text("\n".join(["patient,days", "zoe,4.5", *lines]) + "\n")
    signals = ["--channels", "pulse,temperature"]
    fitted = run(
        "fit",
        visits,
        *COLUMNS,
        *SMALL,
        *signals,
        "--targets",
        targets,
        "--start",
        "when0",
        "--out",
        tmp_path / "m",
        code=2,
    )
    assert "start column 'when0'" in fitted.stderr
    fitted = run("fit", visits, *COLUMNS, *SMALL, *signals, "--targets", targets, "--out", tmp_path / "m")
    assert "task: regression ('days' holds decimal numbers)" in fitted.stdout
    direct = denots.DeNOTSRegressor(
        depth=2.0, state_size=4, max_epochs=2, batches_per_epoch=2, learning_rate=0.02, random_state=0
    ).fit(series(VISITS, static=()), truth)
    run("predict", tmp_path / "m", visits, "-o", tmp_path / "p.parquet")
    answers = pd.read_parquet(tmp_path / "p.parquet")
    np.testing.assert_array_equal(answers["prediction"], direct.predict(series(VISITS, static=())))

    found = json.loads(run("evaluate", tmp_path / "m", visits, "--targets", targets, "--json").stdout)["metrics"]
    trivial = DummyRegressor().fit(truth, truth).predict(truth)
    for part, told in (("model", answers["prediction"]), ("baseline", trivial)):
        assert found["R2"][part] == pytest.approx(r2_score(truth, told))
        assert found["MAE"][part] == pytest.approx(mean_absolute_error(truth, told))
        assert found["RMSE"][part] == pytest.approx(root_mean_squared_error(truth, told))


class TestForecast:
    def test_answers_are_those_of_the_estimator_at_times_of_the_clock(
        self, clinic: Path, new: Path, run: Run, tmp_path: Path
    ) -> None:
        run("predict", clinic / "forecaster", new, "--at", "24,30.5", "-o", tmp_path / "f.csv")
        found = pd.read_csv(tmp_path / "f.csv", dtype={"patient": str}, float_precision="round_trip")
        expected = denots.load(clinic / "forecaster").predict(series(NEW), [24, 30.5])
        assert list(found.columns) == ["patient", "when", "pulse", "temperature", "status"]
        assert list(found["patient"]) == ["ida", "ida", "jon", "jon", "007", "007"]
        assert list(found["when"]) == [24, 30.5] * 3
        np.testing.assert_array_equal(found[["pulse", "temperature"]], expected.reshape(-1, 2))

    def test_dates_are_counted_from_the_first_observation(
        self, clinic: Path, new: Path, run: Run, tmp_path: Path
    ) -> None:
        questions = tmp_path / "questions.csv"
        questions.write_text(
            "patient,when\n007,2024-04-05T11:30:00\nida,2024-04-02T08:00:00\n007,2024-04-04T05:00:00\n"
        )
        run("predict", clinic / "forecaster", new, "--at-table", questions, "-o", tmp_path / "q.csv")
        asked = pd.read_csv(tmp_path / "q.csv", dtype={"patient": str}, float_precision="round_trip")
        assert list(asked["patient"]) == ["007", "ida", "007"]
        assert list(pd.to_datetime(asked["when"]).dt.day) == [5, 2, 4]
        estimator = denots.load(clinic / "forecaster")
        last, first = estimator.predict(series(NEW).select([2, 0]), [np.array([54.5, 24.0]), np.array([24.0])])
        np.testing.assert_array_equal(asked[["pulse", "temperature"]], [last[0], first[0], last[1]])

    def test_r2_is_the_score_of_the_estimator_and_the_baseline_carries_the_last_value_on(
        self, clinic: Path, visits: Path, run: Run
    ) -> None:
        found = json.loads(run("evaluate", clinic / "forecaster", visits, "--json").stdout)
        estimator = denots.load(clinic / "forecaster")
        data = series(VISITS)
        assert found["metrics"]["R2"]["model"] == pytest.approx(estimator.score(data), abs=1e-5)

        centre, spread = np.array(estimator.task_.scale.centre), np.array(estimator.task_.scale.spread)
        truth, told = [], []
        for one in data:
            half = max(len(one.times) // 2, 1)
            last = np.full(2, np.nan)
            for k, row in enumerate(one.values):
                if k < half and k % 2 == 0:
                    last = np.where(np.isnan(row), last, row)
                    continue
                guess = np.where(np.isnan(last), centre, last)
                seen = ~np.isnan(row)
                truth += list(((row - centre) / spread)[seen])
                told += list(((guess - centre) / spread)[seen])
        assert found["metrics"]["R2"]["baseline"] == pytest.approx(r2_score(truth, told))

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            ([], "needs times"),
            (["--at", "1,two"], "numbers separated by commas"),
            (["--at", ","], "names no time"),
            (["--at", "1", "--at-table", "q.csv"], "either --at"),
        ],
    )
    def test_a_forecast_without_clear_times_is_refused(
        self, clinic: Path, new: Path, run: Run, tmp_path: Path, options: list[str], words: str
    ) -> None:
        result = run("predict", clinic / "forecaster", new, *options, "-o", tmp_path / "f.csv", code=2)
        assert words in result.stderr
        assert not (tmp_path / "f.csv").exists()

    def test_a_question_about_an_unknown_series_is_refused(
        self, clinic: Path, new: Path, run: Run, tmp_path: Path
    ) -> None:
        (tmp_path / "q.csv").write_text("patient,when\nzoe,3\n")
        result = run(
            "predict", clinic / "forecaster", new, "--at-table", tmp_path / "q.csv", "-o", tmp_path / "f.csv", code=1
        )
        assert "asks about series 'zoe'" in result.stderr


def test_a_long_table_gives_the_same_model_as_a_wide_one(
    clinic: Path, visits: Path, new: Path, run: Run, tmp_path: Path
) -> None:
    def melt(text: str, **more: str) -> pd.DataFrame:
        fixed = [name for name in ("patient", "when", "age", "outcome") if name in frame(text)]
        return frame(text).assign(**more).melt(fixed, var_name="sign", value_name="reading").dropna(subset="reading")

    melt(VISITS, noise="1").to_csv(tmp_path / "long.csv", index=False)
    melt(NEW, noise="1").to_csv(tmp_path / "long_new.csv", index=False)
    form = ["--variable", "sign", "--value", "reading", "--static", "age", "--target", "outcome", "--quiet"]
    picked = ["--channels", "pulse,temperature"]
    run("fit", tmp_path / "long.csv", *COLUMNS, *SMALL, *form, *picked, "--out", tmp_path / "long")
    weights = [(folder / "arrays.safetensors").read_bytes() for folder in (clinic / "classifier", tmp_path / "long")]
    assert weights[0] == weights[1]
    run("predict", tmp_path / "long", tmp_path / "long_new.csv", "-o", tmp_path / "a.csv")
    run("predict", clinic / "classifier", new, "-o", tmp_path / "b.csv")
    a, b = (pd.read_csv(tmp_path / name).sort_values("patient", ignore_index=True) for name in ("a.csv", "b.csv"))
    pd.testing.assert_frame_equal(a, b)


def test_fit_tells_what_it_did_and_leaves_nothing_but_the_model(visits: Path, run: Run, tmp_path: Path) -> None:
    result = run("fit", visits, *COLUMNS, *SMALL, "--static", "age", "--target", "outcome", "--out", tmp_path / "m")
    assert "task: classification ('outcome' holds text, 2 classes)" in result.stdout
    lines = {line[:18].strip(): line[18:].strip() for line in result.stdout.splitlines()[1:]}
    assert lines["series"] == "8, with 2 to 5 rows"
    missing = frame(VISITS)[["pulse", "temperature"]].isna().to_numpy().mean()
    assert lines["channels"] == f"pulse, temperature ({missing:.1%} of the values missing)"
    learnt = json.loads((tmp_path / "m" / "model.json").read_text())["learnt"]
    score = f"{learnt['validation_score_']:.4f} ± {learnt['validation_spread_']:.4f}"
    assert lines["validation AUROC"] == f"{score}, on 2 series"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "visits.csv"]
    assert "epoch 1/2" in result.stderr


def test_quiet_prints_nothing(visits: Path, run: Run, tmp_path: Path) -> None:
    result = run("fit", visits, *COLUMNS, *SMALL, "--target", "outcome", "--quiet", "--out", tmp_path / "m")
    assert result.output == ""


def test_a_fitted_model_is_replaced_whole(visits: Path, run: Run, tmp_path: Path) -> None:
    fit = ["fit", visits, *COLUMNS, *SMALL, "--quiet", "--channels", "pulse", "--out", tmp_path / "m"]
    run(*fit, "--target", "outcome")
    refused = run(*fit, "--target", "outcome", code=1)
    assert "holds a finished model; give --overwrite to replace it" in refused.stderr
    run(*fit, "--target", "age", "--task", "classification", "--overwrite", code=1)  # cem has no age
    assert denots.load(tmp_path / "m").schema_.target == "outcome"
    run(*fit, "--system", "denots", "--overwrite")
    assert denots.load(tmp_path / "m").schema_.target is None


def test_without_a_target_the_departure_from_simple_forecasts_is_learnt_and_shown_beside_them(
    visits: Path, run: Run, tmp_path: Path
) -> None:
    fit = ["fit", visits, *COLUMNS, "--channels", "pulse", "--set", "questions=400", "--set", "rounds=3"]
    run(*fit, "--out", tmp_path / "m")
    assert denots.load(tmp_path / "m").system_.name == "forecast"
    told = run("evaluate", tmp_path / "m", visits).stdout
    assert "RMSE pulse beyond" in told
    found = json.loads(run("evaluate", tmp_path / "m", visits, "--json").stdout)["metrics"]["R2 beyond"]
    assert {"model", "baseline", "running mean", "damped trend", "mean of the last eight"} <= set(found)


def test_a_model_fitted_in_python_gives_the_same_bits_on_the_command_line(new: Path, run: Run, tmp_path: Path) -> None:
    learnt = series(VISITS, target="outcome")
    for name, system, options in (("a", "gru", {"max_epochs": 2}), ("b", "trees", {"rounds": 5})):
        model = denots.SeriesClassifier(system, options=options, random_state=0).fit(learnt)
        model.save(tmp_path / name)
        run("predict", tmp_path / name, new, "-o", tmp_path / f"{name}.csv")
        found = pd.read_csv(tmp_path / f"{name}.csv", dtype={"patient": str}, float_precision="round_trip")
        np.testing.assert_array_equal(found[["p_ill", "p_well"]], model.predict_proba(frame(NEW)))
        pd.testing.assert_frame_equal(found, model.predict_table(frame(NEW)), check_dtype=False)
        assert json.loads(run("evaluate", tmp_path / name, tmp_path / "new.csv", code=1).stdout or "null") is None


def test_a_model_fitted_on_arrays_reads_tables_by_the_names_of_its_channels(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    cube = rng.normal(size=(12, 2, 5))
    model = denots.SeriesRegressor("trees", options={"rounds": 5}, random_state=0).fit(cube, rng.normal(size=12))
    model.save(tmp_path / "m")
    table = pd.DataFrame({"id": np.repeat(np.arange(12), 5), "time": np.tile(np.arange(5.0), 12)})
    table[["x0", "x1"]] = cube.transpose(0, 2, 1).reshape(-1, 2)
    table.to_csv(tmp_path / "t.csv", index=False)
    run("predict", tmp_path / "m", tmp_path / "t.csv", "-o", tmp_path / "p.csv")
    found = pd.read_csv(tmp_path / "p.csv", float_precision="round_trip")
    np.testing.assert_array_equal(found["prediction"], model.predict(cube))


def test_repeated_options_accumulate(visits: Path, run: Run, tmp_path: Path) -> None:
    table = frame(VISITS).fillna({"age": 50})
    table["weight"] = table["age"] + 10
    table.to_csv(visits, index=False)
    once = ["--static", "age,weight", "--channels", "pulse,temperature", "--out", tmp_path / "once"]
    twice = ["--static", "age", "--static", "weight", "--channels", "pulse", "--channels", "temperature"]
    for options in (once, [*twice, "--out", tmp_path / "twice"]):
        run("fit", visits, *COLUMNS, "--system", "trees", "--target", "outcome", "--quiet", *options)
    schemas = [denots.load(tmp_path / name).schema_ for name in ("once", "twice")]
    assert schemas[0] == schemas[1]
    assert schemas[0].static == ("age", "weight")
    assert schemas[0].channels == ("pulse", "temperature")


def test_two_values_are_two_classes_however_they_are_written(visits: Path, run: Run, tmp_path: Path) -> None:
    for number, pair in enumerate((("0.0", "1.0"), ("1", "2"), ("True", "False"), ("no", "yes"))):
        visits.write_text(VISITS.replace("ill", pair[0]).replace("well", pair[1]))
        options = ["--system", "trees", "--channels", "pulse", "--target", "outcome", "--out", tmp_path / str(number)]
        assert "task: classification" in run("fit", visits, *COLUMNS, *options).stdout
