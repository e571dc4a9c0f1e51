"""The routes of a server, and what lives as long as it does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from denots.errors import DenotsError, InvalidOption
from denots.server.body import write_body
from denots.server.desk import Desk
from denots.server.guard import Guard
from denots.server.keeper import Keeper
from denots.server.limits import Limits
from denots.server.live import Live, begin_stream
from denots.server.metrics import Measured, Metrics
from denots.server.openapi import DESCRIPTION, docs_page
from denots.server.page import SCRIPT, build_page
from denots.server.picture import draw_series, one_series
from denots.server.problem import Problem, tell_problem

CELL = 20  # bytes that a cell of an answer takes, about
PRIVATE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
PAGE = PRIVATE | {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}


def create_app(keeper: Keeper, limits: Limits, *, token: str | None = None, watch: float | None = None) -> Starlette:
    """The application that serves the model of a keeper.

    Args:
        token: what clients have to bring; None lets everyone ask.
        watch: seconds after which the folder of the model is looked at again and again; None waits to be told.
    """
    metrics = Metrics()
    keeper.tell = metrics.reloaded
    desk = Desk(keeper, limits, metrics)
    guarded, free = _guarded_routes(desk), _free_routes(desk)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(desk.batcher.run())]
        if watch is not None:
            tasks.append(asyncio.create_task(keeper.watch(watch)))
        yield
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        desk.close()

    app = Starlette(
        routes=[*guarded, *free],
        lifespan=lifespan,
        middleware=[
            Middleware(Measured, metrics, frozenset(route.path for route in (*guarded, *free))),
            Middleware(Guard, token, frozenset(route.path for route in free)),
        ],
        exception_handlers={DenotsError: tell_problem, HTTPException: tell_problem, Exception: tell_problem},
    )
    app.state.desk = desk
    return app


def _guarded_routes(desk: Desk) -> list[Route]:
    """What tells something of the model, and needs the token."""

    async def predict(request: Request) -> Response:
        served = desk.keeper.served
        asked = served.asked(request.query_params)
        async with desk.taken():
            told = await desk.answer(served, asked, await desk.read(request, served))
            accepted, size = request.headers.get("accept", ""), CELL * sum(map(len, told.columns.values()))
            content, media = await desk.aside(lambda: write_body(told, accepted), size)
        return Response(content, headers=PRIVATE | {"Denots-Model": served.digest}, media_type=media)

    async def picture(request: Request) -> Response:
        served, query = desk.keeper.served, dict(request.query_params)
        id = query.pop("series", None)
        if id is None:
            raise InvalidOption("say which series is to be drawn, such as ?series=ann.")
        asked = served.asked(query) if served.takes_times and (query or not served.asks_times) else None
        async with desk.taken():
            one = one_series(await desk.read(request, served), id)
            told = None if asked is None else await desk.answer(served, asked, one)
            frame = None if told is None else told.frame()
            content = await desk.aside(lambda: draw_series(one.series, frame))
        return Response(content, headers=PAGE, media_type="text/html")

    async def stream(request: Request) -> Live:
        served = desk.keeper.served
        return Live(desk, served, begin_stream(served, request))

    async def model(_: Request) -> Response:
        return JSONResponse(desk.keeper.served.describe(), headers=PRIVATE)

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(desk.metrics.registry), media_type=CONTENT_TYPE_LATEST)

    return [
        Route("/predict", predict, methods=["POST"]),
        Route("/picture", picture, methods=["POST"]),
        Route("/stream", stream, methods=["POST"]),
        Route("/model", model),
        Route("/metrics", metrics),
    ]


def _free_routes(desk: Desk) -> list[Route]:
    """What tells nothing of the model: whether the server lives, its page, and how it is used."""

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(_: Request) -> Response:
        if desk.full:
            raise Problem("not-ready", "as many requests as it takes at a time are being answered; ask again soon.")
        return JSONResponse({"status": "ok"})

    async def openapi(_: Request) -> Response:
        return JSONResponse(DESCRIPTION)

    async def docs(_: Request) -> Response:
        return Response(docs_page(), headers=PAGE, media_type="text/html")

    async def page(_: Request) -> Response:
        return Response(build_page(), headers=PAGE, media_type="text/html")

    async def script(_: Request) -> Response:
        return Response(SCRIPT, headers=PRIVATE, media_type="text/javascript")

    found = {"/health": health, "/ready": ready, "/openapi.json": openapi, "/docs": docs, "/": page, "/page.js": script}
    return [Route(path, handler) for path, handler in found.items()]
