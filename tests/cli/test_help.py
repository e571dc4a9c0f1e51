"""What `--help` says can be typed as it stands there."""

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from cli.conftest import Run
from denots.cli import app


def commands(group: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        yield (*names, name), command
        if hasattr(command, "commands"):
            yield from commands(command, *names, name)


ALL = {(): get_command(app), **dict(commands(get_command(app)))}


@pytest.mark.parametrize("names", list(ALL), ids=" ".join)
def test_examples_name_options_that_there_are(names: tuple[str, ...]) -> None:
    for line in (ALL[names].help or "").splitlines():
        words = shlex.split(line.split("   (")[0]) if line.strip().startswith("denots ") else []
        own = next((ALL[tuple(words[1:end])] for end in (3, 2) if tuple(words[1:end]) in ALL), None)
        known = {text for param in own.params for text in (*param.opts, *param.secondary_opts)} if own else set()
        assert {word for word in words if word.startswith("-") and len(word) > 1} <= known, line


@pytest.mark.parametrize("name", ["serve", "tune"])
def test_what_has_to_be_installed_is_named_whole(run: Run, name: str) -> None:
    assert f"pip install 'denots[{name}]'" in " ".join(run(name, "--help").stdout.split())
