"""`denots serve`: a model behind HTTP."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from denots.cli.messages import complain, say
from denots.errors import MissingExtra

LIMITS = "Limits"
NEEDED = ("starlette", "uvicorn", "prometheus_client")
LOCAL = ("127.0.0.1", "::1", "localhost")


def serve(
    model: Annotated[Path, typer.Argument(help="Model folder of `denots fit` or of save().", show_default=False)],
    host: Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0 is every one of this machine.")] = LOCAL[0],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8000,
    token_file: Annotated[
        Path | None, typer.Option(help="File with the token that clients bring. Default: DENOTS_TOKEN, if it is set.")
    ] = None,
    watch: Annotated[
        float | None,
        typer.Option(min=0.1, help="Look at the model folder every so many seconds, and reload it when it changed."),
    ] = None,
    max_bytes: Annotated[int, typer.Option(min=1, help="Of one request.", rich_help_panel=LIMITS)] = 16_000_000,
    max_rows: Annotated[
        int,
        typer.Option(min=1, help="Of the table of one request, or remembered by one stream.", rich_help_panel=LIMITS),
    ] = 100_000,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds that one request may take.", rich_help_panel=LIMITS)
    ] = 30.0,
    max_waiting: Annotated[
        int, typer.Option(min=1, help="Requests at a time; more are turned away.", rich_help_panel=LIMITS)
    ] = 64,
    window: Annotated[
        float,
        typer.Option(
            min=0, help="Milliseconds for which a request waits for others to be answered with.", rich_help_panel=LIMITS
        ),
    ] = 2.0,
    max_streams: Annotated[
        int, typer.Option(min=1, help="Streams at a time; more are turned away.", rich_help_panel=LIMITS)
    ] = 16,
    idle: Annotated[
        float,
        typer.Option(min=0.1, help="Seconds for which nothing may come on a stream.", rich_help_panel=LIMITS),
    ] = 600.0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Keep at most so many processors busy. Default: all.")] = None,
) -> None:
    r"""Answer requests over HTTP with a fitted model (pip install 'denots\[serve]').

    POST /predict takes a table as CSV, JSON or lines of JSON and answers for
    each series like `denots predict`, with a status. POST /stream takes rows
    as they come, like `denots stream`. GET / is a page to try the model,
    /docs tells how programs ask, /metrics is for Prometheus.
    SIGHUP reloads the model folder: the old model answers until the new one
    is checked. SIGTERM and Ctrl-C finish what is being answered.

      denots serve model
      curl --data-binary @new.csv -H 'Content-Type: text/csv' localhost:8000/predict
      denots serve model --host 0.0.0.0 --token-file token.txt --watch 10
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingExtra(f"a server needs {', '.join(missing)}; install it with: pip install 'denots[serve]'.")
    from denots.processors import limited_to
    from denots.server.guard import read_token
    from denots.server.limits import Limits
    from denots.server.run import serve as run

    token = read_token(token_file)
    if token is None and host not in LOCAL:
        complain(
            "warning", f"whoever reaches {host} may ask the model; --token-file would prevent that.", "bold yellow"
        )
    limits = Limits(
        bytes=max_bytes,
        rows=max_rows,
        seconds=timeout,
        waiting=max_waiting,
        window=window / 1000,
        streams=max_streams,
        idle=idle,
    )
    with limited_to(jobs):
        run(
            model,
            host=host,
            port=port,
            limits=limits,
            token=token,
            watch=watch,
            started=lambda address: say(f"serving {model} at {address}; Ctrl-C ends"),
        )
