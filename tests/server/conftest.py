"""A ward with two fitted models, and servers that tests start and stop themselves."""

import asyncio
import http.client
import json
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import uvicorn

from denots import SeriesClassifier, SeriesForecaster, SeriesSet
from denots.estimators import RowPredictor
from denots.server.app import create_app
from denots.server.keeper import Keeper
from denots.server.limits import Limits

CHANNELS = ["pulse", "temperature"]


def drawn_ward(patients: int, seed: int) -> pd.DataFrame:
    """Patients some of whom have a fever; what is measured when is up to chance."""
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(patients):
        ill = k % 3 == 0
        for hour in np.sort(rng.uniform(0, 48, rng.integers(5, 12))):
            pulse, temperature = 75 + 15 * ill + rng.normal(0, 5), 36.8 + 1.5 * ill + rng.normal(0, 0.2)
            seen = pulse if rng.random() < 0.8 else np.nan
            rows.append((f"p{k:03d}", hour, 20 + k % 60, seen, temperature, "fever" if ill else "home"))
    return pd.DataFrame(rows, columns=["patient", "hour", "age", *CHANNELS, "outcome"])


@pytest.fixture(scope="session")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a classifier, another one, a forecaster and a model of rows, to be read only."""
    folder = tmp_path_factory.mktemp("ward")
    table = drawn_ward(60, seed=0)
    series = SeriesSet.from_frame(table, id="patient", time="hour", target="outcome", static="age", time_unit="h")
    SeriesClassifier("summary", random_state=0).fit(series).save(folder / "classifier")
    SeriesClassifier("summary", random_state=0).fit(series[:40]).save(folder / "other")
    rows = table.assign(hot=(table.temperature > 38).astype(float)).drop(columns="outcome")
    hourly = SeriesSet.from_frame(rows, id="patient", time="hour", row_target="hot", static="age", time_unit="h")
    RowPredictor("running-trees", random_state=0).fit(hourly).save(folder / "rows")
    channels = SeriesSet.from_frame(table, id="patient", time="hour", values=CHANNELS, time_unit="h")
    SeriesForecaster("last-value", random_state=0).fit(channels).save(folder / "forecaster")
    return folder


@pytest.fixture(scope="session")
def new() -> pd.DataFrame:
    return drawn_ward(12, seed=1).drop(columns="outcome")


class Response(NamedTuple):
    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)


class Client:
    """One connection for each request, so that any number of threads may ask."""

    def __init__(self, port: int) -> None:
        self.port = port

    def __call__(
        self, method: str, path: str, body: bytes | None = None, media: str = "text/csv", **headers: str
    ) -> Response:
        told = {"Content-Type": media} if body is not None else {}
        told |= {name.replace("_", "-"): of for name, of in headers.items()}
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, path, body, told)
            answer = connection.getresponse()
            return Response(answer.status, {name.lower(): of for name, of in answer.getheaders()}, answer.read())


@contextmanager
def served(folder: Path, limits: Limits | None = None, **options: Any) -> Iterator[tuple[Client, Keeper]]:
    """A server on a free port in a thread; it has ended when the block ends."""
    keeper = Keeper(folder)
    app = create_app(keeper, limits or Limits(), **options)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, ws="none", timeout_graceful_shutdown=5))
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_for(lambda: server.started or not thread.is_alive())
    try:
        yield Client(server.servers[0].sockets[0].getsockname()[1]), keeper
    finally:
        server.handle_exit(signal.SIGINT, None)
        thread.join(20)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def classifier(ward: Path) -> Iterator[Client]:
    with served(ward / "classifier") as (client, _):
        yield client


def wait_for(event: Callable[[], Any], seconds: float = 30) -> None:
    patience = time.monotonic() + seconds
    while not event():
        assert time.monotonic() < patience
        time.sleep(0.01)


def as_csv(table: pd.DataFrame) -> bytes:
    return table.to_csv(index=False).encode()


def finished(work: Coroutine[Any, Any, None]) -> None:
    """Run it to its end in a thread, because the one of the tests may have a loop already, that of the browser."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()
