"""Answers over HTTP are those of the model, to the last bit, whoever else asks."""

import io
import json
import math
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from prometheus_client.parser import text_string_to_metric_families

import denots
from denots import SeriesClassifier, SeriesSet
from denots.server.asked import Asked
from denots.server.limits import Limits
from denots.server.served import Served
from server.conftest import Client, as_csv, drawn_ward, served


def alone(folder: Path, table: pd.DataFrame, **asked: Any) -> list[dict[str, Any]]:
    """What the model says without a server, NaN as None."""
    found = loaded(folder).predict_table(table, **asked).to_dict("records")
    return [
        {name: None if isinstance(cell, float) and not math.isfinite(cell) else cell for name, cell in row.items()}
        for row in found
    ]


@cache
def loaded(folder: Path) -> Any:
    return denots.load(folder)


def sample(client: Client, name: str) -> float:
    families = text_string_to_metric_families(client("GET", "/metrics").content.decode())
    return sum(one.value for family in families for one in family.samples if one.name == name)


def in_json(table: pd.DataFrame) -> list[dict[str, Any]]:
    return json.loads(table.to_json(orient="records", double_precision=15))


def test_every_form_of_a_table_gets_the_answers_of_the_model(classifier: Client, ward: Path, new: pd.DataFrame) -> None:
    rows = in_json(new.round(6))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    expected = alone(ward / "classifier", new.round(6))
    bodies = {
        "text/csv": as_csv(new.round(6)),
        "text/tab-separated-values": new.round(6).to_csv(index=False, sep="\t").encode(),
        "application/json; charset=utf-8": json.dumps(rows).encode(),
        "application/json": json.dumps(columns).encode(),
        "application/x-ndjson": "\n".join(map(json.dumps, rows)).encode(),
    }
    for media, body in bodies.items():
        found = classifier("POST", "/predict", body, media)
        assert found.status == 200, found.content
        assert found.json["answers"] == expected, media
    assert {row["status"] for row in expected} == {"ok"}
    assert {"prediction", "p_fever", "p_home"} < set(expected[0])


def test_answers_come_as_json_lines_or_csv_as_the_client_accepts(
    classifier: Client, ward: Path, new: pd.DataFrame
) -> None:
    expected = alone(ward / "classifier", new)
    lines = classifier("POST", "/predict", as_csv(new), Accept="application/x-ndjson")
    assert [json.loads(line) for line in lines.content.splitlines()] == expected
    table = classifier("POST", "/predict", as_csv(new), Accept="text/csv")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    pd.testing.assert_frame_equal(pd.read_csv(io.BytesIO(table.content)), pd.DataFrame(expected))


def test_requests_at_the_same_time_are_answered_together_with_the_same_bits(ward: Path, new: pd.DataFrame) -> None:
    parts = [own for _, own in new.groupby("patient")]
    expected = [alone(ward / "classifier", own) for own in parts]
    with served(ward / "classifier", Limits(window=0.3)) as (client, _), ThreadPoolExecutor(len(parts)) as pool:
        found = list(pool.map(lambda own: client("POST", "/predict", as_csv(own)).json["answers"], parts))
        calls, series = sample(client, "denots_batch_series_count"), sample(client, "denots_batch_series_sum")
    assert found == expected
    assert series == len(parts)
    assert calls < len(parts) / 2


def test_requests_may_name_their_series_alike_and_ask_for_different_things(ward: Path, new: pd.DataFrame) -> None:
    parts = [own.assign(patient="same") for _, own in new.groupby("patient")]
    asked: list[dict[str, Any]] = [{}, {"coverage": 0.9}, {"coverage": 0.8}] * 4
    expected = [alone(ward / "classifier", own, **words) for own, words in zip(parts, asked, strict=True)]
    paths = ["/predict" + (f"?coverage={words['coverage']}" if words else "") for words in asked]
    with served(ward / "classifier", Limits(window=0.2)) as (client, _), ThreadPoolExecutor(len(parts)) as pool:
        found = list(pool.map(lambda path, own: client("POST", path, as_csv(own)).json["answers"], paths, parts))
    assert found == expected
    assert "set" in expected[1][0]


def test_a_bad_series_has_its_reason_and_the_others_their_answers(
    classifier: Client, ward: Path, new: pd.DataFrame
) -> None:
    broken = new.astype({"pulse": object})
    broken.loc[broken.patient == "p002", "pulse"] = "fast"
    broken.loc[broken.patient == "p004", "hour"] = 3.0
    broken.loc[broken.patient == "p005", "temperature"] = 1e30
    found = classifier("POST", "/predict", as_csv(broken)).json["answers"]
    status = {row["patient"]: row["status"] for row in found}
    assert status["p002"].startswith("not read: ")
    assert "'fast'" in status["p002"]
    assert status["p004"].startswith("not read: ")
    assert status["p005"].startswith("unusual: ")
    others = [row for row in alone(ward / "classifier", new) if row["patient"] not in ("p002", "p004", "p005")]
    assert [row for row in found if row["patient"] not in ("p002", "p004", "p005")] == others
    assert found[2]["prediction"] is None


def test_infinite_values_and_nan_of_json_stay_with_their_series(classifier: Client) -> None:
    rows = [
        {"patient": 1, "hour": 0, "age": 50, "pulse": 71, "temperature": float("nan")},
        {"patient": 2, "hour": 0, "age": 50, "pulse": float("inf"), "temperature": 36.6},
    ]
    found = classifier("POST", "/predict", json.dumps(rows).encode(), "application/json").json["answers"]
    assert [row["patient"] for row in found] == [1, 2]
    assert found[0]["prediction"] in ("fever", "home")
    assert found[1]["status"].startswith("not read: ")


def test_forecasts_are_asked_by_their_times(ward: Path, new: pd.DataFrame) -> None:
    expected = alone(ward / "forecaster", new, times=(50.0, 60.5), coverage=0.8)
    with served(ward / "forecaster") as (client, _):
        found = client("POST", "/predict?at=50,60.5&coverage=0.8", as_csv(new))
        assert found.json["answers"] == expected
        assert "low_pulse" in expected[0]
        assert "?at=24,36,48" in client("POST", "/predict", as_csv(new)).json["detail"]


def test_a_model_of_rows_answers_for_each_row_or_when_asked(ward: Path, new: pd.DataFrame) -> None:
    broken = new.copy()
    broken.loc[broken.patient == "p002", "hour"] = 3.0
    with served(ward / "rows") as (client, _):
        found = client("POST", "/predict", as_csv(broken)).json["answers"]
        asked = client("POST", "/predict?at=20,30", as_csv(new)).json["answers"]
        drawn = client("POST", "/picture?series=p000", as_csv(new)).content.decode()
    good = new[new.patient != "p002"]
    assert [row for row in found if row["patient"] != "p002"] == alone(ward / "rows", good)
    assert [row["status"][:9] for row in found if row["patient"] == "p002"] == ["not read:"]
    assert asked == alone(ward / "rows", new, times=(20.0, 30.0))
    assert "What the model says" in drawn


@pytest.mark.parametrize(
    ("system", "options"),
    [
        ("denots", {"max_epochs": 1, "batches_per_epoch": 1, "state_size": 8}),
        ("trees", {}),
    ],
)
def test_a_joint_call_has_the_bits_of_single_ones_for_networks_and_trees(
    system: str, options: dict[str, Any], new: pd.DataFrame, tmp_path: Path
) -> None:
    series = SeriesSet.from_frame(drawn_ward(30, 0), id="patient", time="hour", target="outcome", static="age")
    SeriesClassifier(system, options=options, random_state=0).fit(series).save(tmp_path / "model")
    model = Served.load(tmp_path / "model")
    readings = [model.estimator.read(own) for _, own in new.groupby("patient")]
    together = model.answer(readings, Asked())
    for reading, found in zip(readings, together, strict=True):
        assert found.columns == model.estimator.predict_table(reading).to_dict("list")


@pytest.mark.parametrize("model", ["classifier", "forecaster", "rows"])
def test_the_example_that_a_model_gives_is_answered_by_it(ward: Path, model: str) -> None:
    with served(ward / model) as (client, _):
        told = client("GET", "/model").json
        asked = f"?at={told['example_at']}" if told["asks_times"] else ""
        found = client("POST", f"/predict{asked}", told["example"].encode())
    assert {row[told["columns"]["id"]] for row in found.json["answers"]} == {"first", "second"}
    assert [row["status"] for row in found.json["answers"]] == ["ok"] * len(found.json["answers"])


def test_a_picture_has_a_dot_for_each_observation(classifier: Client, new: pd.DataFrame) -> None:
    own = new[new.patient == "p003"]
    drawn = classifier("POST", "/picture?series=p003", as_csv(new)).content.decode()
    assert drawn.count("<circle") == own[["pulse", "temperature"]].notna().sum().sum() + 2  # two in the legends
    assert "Did you mean 'p003'" in classifier("POST", "/picture?series=p03", as_csv(new)).json["detail"]
