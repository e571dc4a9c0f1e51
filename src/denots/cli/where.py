"""The option that says where work is done."""

from typing import Annotated

import typer

from denots.cli.messages import err

Place = Annotated[
    str,
    typer.Option(
        "--on", help="Where to work: local, ray (the Ray cluster that runs here) or ray=ADDRESS; none is started."
    ),
]

Members = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        help="On a cluster: processes that train one model together, whose number the result depends on. "
        "Default: as many as there is room for.",
        show_default=False,
    ),
]


def say_where(words: str) -> None:
    """What is asked of a cluster, on stderr."""
    err.print(words, markup=False, highlight=False, soft_wrap=True)
