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


def say_where(words: str) -> None:
    """What is asked of a cluster, on stderr."""
    err.print(words, markup=False, highlight=False, soft_wrap=True)
