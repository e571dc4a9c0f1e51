"""What the server takes and gives, for programs (OpenAPI 3.1) and as a page for people."""

from html import escape
from typing import Any

from denots import __version__
from denots.pages.document import document, scrolled, table
from denots.server.asked import PARAMETERS
from denots.server.body import CSV, JSON, NDJSON, TSV
from denots.server.live import RULES
from denots.server.problem import KINDS
from denots.server.problem import MEDIA as PROBLEM

_ROWS = {
    "type": "array",
    "description": "A row for each observation.",
    "items": {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Cell"}},
}
SCHEMAS: dict[str, Any] = {
    "Cell": {"type": ["string", "number", "boolean", "null"], "description": "null: nothing was observed."},
    "Table": {
        "description": "Rows or columns, with the names that GET /model tells.",
        "oneOf": [
            _ROWS,
            {
                "type": "object",
                "description": "A list for each column, all of one length.",
                "additionalProperties": {"type": "array", "items": {"$ref": "#/components/schemas/Cell"}},
            },
        ],
    },
    "Answers": {
        "type": "object",
        "required": ["answers"],
        "properties": {"answers": {"type": "array", "items": {"$ref": "#/components/schemas/Answer"}}},
    },
    "Answer": {
        "type": "object",
        "description": "What is told of one series, or of one time of a forecast: its id, the answer, the probability of each "
        "class (p_...), the set or the ends of the interval (low_..., high_...; null without end), and its status.",
        "required": ["status"],
        "properties": {
            "status": {
                "type": "string",
                "description": "ok; unusual: what is unlike the training data; not read or not solved: why there is no answer.",
            }
        },
        "additionalProperties": {"$ref": "#/components/schemas/Cell"},
    },
    "Model": {
        "type": "object",
        "required": ["name", "digest", "loaded", "task", "columns", "takes_times", "asks_times", "example"],
        "properties": {
            "name": {"type": "string"},
            "digest": {"type": "string", "description": "Tells this model from any other."},
            "loaded": {"type": "string", "format": "date-time"},
            "task": {"type": "string"},
            "takes_times": {"type": "boolean", "description": "Whether a request may have ?at=..."},
            "asks_times": {"type": "boolean", "description": "Whether it needs them."},
            "columns": {"type": "object", "description": "The part that each column of a table plays."},
            "example": {"type": "string", "description": "A table that can be sent, as CSV."},
        },
    },
    "State": {"type": "object", "required": ["status"], "properties": {"status": {"const": "ok"}}},
    "Problem": {
        "type": "object",
        "description": "Why there is no answer (RFC 9457).",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"enum": [f"/docs#{kind}" for kind in KINDS]},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string", "description": "What was found, what was expected and what to do."},
            "series": {
                "type": "array",
                "description": "The series that are to blame, if all of them are.",
                "items": {
                    "type": "object",
                    "required": ["id", "reason"],
                    "properties": {"id": {"type": ["string", "integer"]}, "reason": {"type": "string"}},
                },
            },
        },
    },
}
_TOKEN: list[dict[str, list[str]]] = [{"token": []}, {}]
_ASKING = (400, 401, 408, 413, 415, 422, 429, 500, 504)


def _query(parameters: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "query", "required": False, "description": words, "schema": {"type": "string"}}
        for name, words in parameters.items()
    ]


_ID = {"name": "series", "in": "query", "required": True, "description": "its id", "schema": {"type": "string"}}


def _schema(name: str) -> dict[str, Any]:
    return {"schema": {"$ref": f"#/components/schemas/{name}"}}


def _text(words: str) -> dict[str, Any]:
    return {"schema": {"type": "string", "description": words}}


_TABLE: dict[str, Any] = {
    "required": True,
    "description": "A table with the columns of the model.",
    "content": {
        JSON: _schema("Table"),
        NDJSON: _text("A JSON object a line, each a row."),
        CSV: _text("As `denots predict` reads it."),
        TSV: _text("The same with tabs."),
    },
}


def _operation(
    summary: str, content: dict[str, Any], problems: tuple[int, ...] = (), *, open: bool = False, **more: Any
) -> dict[str, Any]:
    responses: dict[str, Any] = {"200": {"description": "As asked.", "content": content}}
    titles = {status: title for status, title in KINDS.values()}
    for status in problems:
        responses[str(status)] = {"description": f"{titles[status]}.", "content": {PROBLEM: _schema("Problem")}}
    return {"summary": summary, "security": [] if open else _TOKEN, **more, "responses": responses}


_STREAM = (
    'A line {"id": "ann", "time": 9.5, "values": {"pulse": 84}} a row, with static and start for a new series, or '
    '{"now": 10}, which asks about all series, with ids about some.'
)
_STREAMED = (
    "A line for each answer: its number (answer), the line that it answers (event), id, time, what is told and a status; or "
    "error, where a line is wrong. A line with a problem is the last."
)
PATHS: dict[str, Any] = {
    "/predict": {
        "post": _operation(
            "Answers for the series of a table, each with a status; a series that cannot be read harms no other.",
            {JSON: _schema("Answers"), NDJSON: _text("An answer a line."), CSV: _text("A row for each answer.")},
            _ASKING,
            parameters=_query(PARAMETERS),
            requestBody=_TABLE,
        )
    },
    "/picture": {
        "post": _operation(
            "A picture of one series of a table, with its forecast if one is asked for.",
            {"text/html": _text("A part of a page, with charts as SVG.")},
            _ASKING,
            parameters=[_ID, *_query(PARAMETERS)],
            requestBody=_TABLE,
        )
    },
    "/stream": {
        "post": _operation(
            "Rows of any number of series as they come, over one connection, each answered at once by a model of rows.",
            {NDJSON: _text(_STREAMED)},
            (401, 415, 422, 429, 500),
            parameters=_query(RULES),
            requestBody={"required": True, "description": _STREAM, "content": {NDJSON: _text(_STREAM)}},
        )
    },
    "/model": {"get": _operation("The model: its columns, its task, an example.", {JSON: _schema("Model")}, (401,))},
    "/metrics": {
        "get": _operation("Counts and times for Prometheus.", {"text/plain": _text("Its text format.")}, (401,))
    },
    "/health": {"get": _operation("Whether the process lives.", {JSON: _schema("State")}, open=True)},
    "/ready": {"get": _operation("Whether it takes requests now.", {JSON: _schema("State")}, (503,), open=True)},
    "/openapi.json": {"get": _operation("This description.", {JSON: {"schema": {"type": "object"}}}, open=True)},
    "/docs": {"get": _operation("This description as a page.", {"text/html": _text("A page.")}, open=True)},
    "/": {"get": _operation("A page to try the model.", {"text/html": _text("A page.")}, open=True)},
}
DESCRIPTION: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {
        "title": "denots serve",
        "version": __version__,
        "description": "Answers of a fitted model for series that are irregular, ragged and full of holes.",
    },
    "paths": PATHS,
    "components": {
        "schemas": SCHEMAS,
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": "Where the server has one."}},
    },
}

_EXAMPLES = """curl --data-binary @visits.csv -H 'Content-Type: text/csv' ADDRESS/predict
curl --data-binary @visits.csv -H 'Content-Type: text/csv' -H 'Accept: text/csv' 'ADDRESS/predict?coverage=0.9'
curl --json '[{"patient": "ann", "when": 0, "pulse": 71}, {"patient": "ann", "when": 3.5, "pulse": 74}]' ADDRESS/predict
curl -NT - -X POST -H 'Content-Type: application/x-ndjson' 'ADDRESS/stream?lag=1' < events.ndjson
curl -H 'Authorization: Bearer TOKEN' ADDRESS/model"""


def docs_page() -> str:
    """The description as one page in the style of all pages."""
    parts = [
        "<style>th,td{text-align:left}td{white-space:normal}</style>"
        '<p><a href="/">Try the model</a> · <a href="/openapi.json">openapi.json</a></p>',
        f"<p>{escape(DESCRIPTION['info']['description'])}</p>",
        f"<pre>{escape(_EXAMPLES)}</pre>",
        "<h2>Addresses</h2>",
        '<p class="soft">Those marked with “token” need it, where the server has one.</p>',
        *(_address(path, method, told) for path, ways in PATHS.items() for method, told in ways.items()),
        "<h2>What a table may be</h2>",
        table(
            ("content type", "content"), [(media, _words(told)) for media, told in _TABLE["content"].items()], "tables"
        ),
        "<h2>What a request may ask</h2>",
        table(("parameter", "meaning"), list((PARAMETERS | RULES).items()), "parameters"),
        "<h2>Why there may be no answer</h2>",
        f'<p class="soft">As {PROBLEM}: type, title, status and detail; series, where they are to blame.</p>',
        scrolled(
            "<table><thead><tr><th>type</th><th>status</th><th>meaning</th></tr></thead><tbody>"
            + "".join(
                f'<tr id="{kind}"><td>/docs#{kind}</td><td>{status}</td><td>{escape(title)}</td></tr>'
                for kind, (status, title) in KINDS.items()
            )
            + "</tbody></table>",
            "problems",
        ),
    ]
    return document("denots serve", "".join(parts))


def _address(path: str, method: str, told: dict[str, Any]) -> str:
    token = "" if not told["security"] else ' <span class="soft">· token</span>'
    gives = ", ".join(told["responses"]["200"]["content"])
    words = f"{escape(told['summary'])} Gives {escape(gives)}."
    return f"<h3>{method.upper()} {escape(path)}{token}</h3><p>{words}</p>"


def _words(told: dict[str, Any]) -> str:
    schema = told["schema"]
    return str(schema.get("description") or SCHEMAS[schema["$ref"].rpartition("/")[2]]["description"])
