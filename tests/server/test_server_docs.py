"""What the server says of itself is true."""

from pathlib import Path

import pandas as pd
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from denots.server.app import create_app
from denots.server.keeper import Keeper
from denots.server.limits import Limits
from denots.server.openapi import DESCRIPTION, SCHEMAS
from denots.server.problem import KINDS
from server.conftest import Client, as_csv
from server.test_server_answers import sample


def fits(content: object, name: str) -> None:
    Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": {"schemas": SCHEMAS}}).validate(content)


def test_the_description_is_openapi_and_names_every_address(classifier: Client, ward: Path) -> None:
    told = classifier("GET", "/openapi.json").json
    assert told == DESCRIPTION
    validate(told)
    app = create_app(Keeper(ward / "classifier"), Limits())
    routes = {(route.path, method.lower()) for route in app.routes for method in route.methods - {"HEAD"}}  # type: ignore[attr-defined]
    described = {(path, method) for path, ways in told["paths"].items() for method in ways}
    assert routes - described == {("/page.js", "get")}
    assert described <= routes


def test_bodies_have_the_form_that_is_described(classifier: Client, new: pd.DataFrame) -> None:
    fits(classifier("GET", "/model").json, "Model")
    fits(classifier("GET", "/health").json, "State")
    fits(classifier("GET", "/ready").json, "State")
    fits(classifier("POST", "/predict?coverage=0.8", as_csv(new)).json, "Answers")


def test_every_problem_has_its_place_on_the_page(classifier: Client) -> None:
    page = classifier("GET", "/docs").content.decode()
    for kind in KINDS:
        assert f'id="{kind}"' in page
    assert page.count("<h3>") == len(DESCRIPTION["paths"])


def test_metrics_count_requests_and_series_and_know_no_foreign_names(classifier: Client, new: pd.DataFrame) -> None:
    before = {name: sample(classifier, name) for name in ("denots_series_total", "denots_requests_total")}
    classifier("POST", "/predict", as_csv(new))
    classifier("GET", "/made-up-address")
    assert sample(classifier, "denots_series_total") == before["denots_series_total"] + new.patient.nunique()
    assert sample(classifier, "denots_requests_total") == before["denots_requests_total"] + 4
    text = classifier("GET", "/metrics").content.decode()
    assert 'denots_requests_total{path="other",status="404"}' in text
    assert "made-up" not in text
    assert "process_resident_memory_bytes" in text
