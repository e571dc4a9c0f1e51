"""What Prometheus reads of a server."""

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from denots.server.told import Told

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
SERIES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


class Metrics:
    """Counts of requests, series and reloads, and how long answers take; the process tells its memory itself."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._requests = Counter(
            "denots_requests", "Requests by address and status.", ["path", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "denots_request_seconds", "From request to response.", ["path"], buckets=SECONDS, registry=self.registry
        )
        self._series = Counter("denots_series", "Series by what became of them.", ["status"], registry=self.registry)
        self._batch = Histogram(
            "denots_batch_series", "Series that one call answers.", buckets=SERIES, registry=self.registry
        )
        self._reloads = Counter("denots_reloads", "Attempts to reload the model.", ["outcome"], registry=self.registry)
        self._events = Counter("denots_stream_lines", "Lines of streams.", registry=self.registry)
        self.streams = Gauge("denots_streams", "Streams open now.", registry=self.registry)
        self.waiting = Gauge("denots_waiting_requests", "Requests read or answered now.", registry=self.registry)

    def answered(self, told: Told) -> None:
        statuses = told.statuses()
        failed = sum(status.startswith("not ") for status in statuses)
        unusual = sum(status.startswith("unusual") for status in statuses)
        usual = len(statuses) - failed - unusual
        for status, count in (("ok", usual), ("unusual", unusual), ("failed", failed)):
            self._series.labels(status).inc(count)

    def batch(self, series: int) -> None:
        self._batch.observe(series)

    def events(self, lines: int) -> None:
        self._events.inc(lines)

    def reloaded(self, well: bool) -> None:
        self._reloads.labels("done" if well else "refused").inc()

    def request(self, path: str, status: int, seconds: float) -> None:
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)


class Measured:
    """Counts every request under its address; unknown addresses share one name, or anybody could add names without end."""

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: frozenset[str]) -> None:
        self.app, self.metrics, self.paths = app, metrics, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            path = scope["path"] if scope["path"] in self.paths else "other"
            self.metrics.request(path, status, time.perf_counter() - started)
