"""`denots compete`: systems and their peers against each other on the same sets, with the same gaps."""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denots.cli.learning import names
from denots.cli.messages import complain, out, say
from denots.cli.where import Place, say_where
from denots.errors import InvalidOption
from denots.progress import spoken, tell

if TYPE_CHECKING:
    from denots.competition.match import MatchRecord
    from denots.competition.standings import Standings


def compete(
    sets: Annotated[
        list[str] | None,
        typer.Option(help="Data sets: a,b; uea is all imported sets of the archive. Default: all.", show_default=False),
    ] = None,
    systems: Annotated[
        list[str] | None,
        typer.Option(
            help="Systems and peers: a,b. Default: all; `denots compete --list` names them.", show_default=False
        ),
    ] = None,
    gaps: Annotated[str, typer.Option(help="Shares of the time steps to drop from sets of the archive.")] = (
        "0,0.3,0.5,0.8"
    ),
    draws: Annotated[int, typer.Option(min=1, help="Of the gaps, each with another seed.")] = 5,
    resamples: Annotated[int, typer.Option(min=0, help="Further splits, beside the official one.")] = 0,
    learn: Annotated[
        int | None,
        typer.Option(min=2, help="Learn from so many series, drawn at random. Default: all.", show_default=False),
    ] = None,
    budget: Annotated[float | None, typer.Option(help="Stop after so many minutes; the next call goes on.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Keep at most so many processors busy. Default: all.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Play again what other code has recorded.")] = False,
    place: Place = "local",
    show: Annotated[bool, typer.Option("--show", help="Play nothing, only show what is recorded.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Name systems and peers.")] = False,
    page: Annotated[
        Path | None, typer.Option(help="Write the standings as Markdown, with diagrams.", show_default=False)
    ] = None,
    records: Annotated[Path, typer.Option(help="File of the records.")] = Path("results/competition.jsonl"),
) -> None:
    """Let systems and their peers compete on gappy series.

    Every match is a line in the file of records and is never played again;
    stopped or killed, the same command goes on where it was. Peers come with
    the extra `bench` of the package.

      denots compete --list
      denots compete --sets uea --systems trees,minirocket --gaps 0.5 --draws 5
      denots compete --sets pendulum,sepsis --systems denots,trees --draws 3
      denots compete --sets physionet-2012 --systems auto,logistic --learn 400
      denots compete --budget 60
      denots compete --show --page docs/competition.md
    """
    from denots.cluster.workers import workers_on
    from denots.competition.contender import houses
    from denots.competition.contest import chosen_sets
    from denots.competition.match import MatchStore
    from denots.competition.page import write_page
    from denots.competition.peers import PEERS
    from denots.competition.standings import all_standings
    from denots.competition.tournament import Tournament, hold, recorded
    from denots.processors import limited_to

    if listed:
        _list()
        return
    if budget is not None and not budget > 0:
        raise InvalidOption(f"--budget is a positive number of minutes; got {budget}.")
    store = MatchStore(records)
    if show:
        found = list(store.records().values())
    else:
        chosen, absent = chosen_sets(None if sets is None else names(sets, "--sets"))
        if absent:
            complain("note", f"not imported, so not played: {', '.join(absent)}.", "bold yellow")
        wanted = names(systems, "--systems") or (*houses(), *PEERS)
        tournament = Tournament(tuple(chosen), tuple(dict.fromkeys(wanted)), _shares(gaps), draws, resamples, learn)
        deadline = None if budget is None else time.monotonic() + 60 * budget
        with limited_to(jobs):
            workers = workers_on(place, tell=say_where)
            left = hold(tournament, store, deadline=deadline, again=again, workers=workers, tell=_tell())
        if left:
            complain("note", f"time is up; {len(left)} matches are left, and the same command goes on.", "bold yellow")
        found = recorded(list(store.records().values()), tournament)
    if not found:
        raise InvalidOption(f"{records} has no match to show; play some first.")
    for standings in all_standings(found):
        _show(standings)
    for file in [] if page is None else write_page(found, page):
        say(f"wrote {file}")
    if any(record.error is not None for record in found):
        _name_failures(found)
        raise typer.Exit(1)


def _list() -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from denots.competition.contender import houses
    from denots.competition.peers import PEERS

    table = Table("name", "what it is", box=SIMPLE_HEAD)
    for name, system in houses().items():
        table.add_row(name, system.description)
    for name, peer in PEERS.items():
        table.add_row(name, peer.description)
    out.print(table)


def _shares(text: str) -> tuple[float, ...]:
    try:
        return tuple(dict.fromkeys(float(word) for word in text.split(",")))
    except ValueError as error:
        raise InvalidOption(f"--gaps are numbers with commas between, such as 0,0.5; got {text!r}.") from error


def _tell() -> "Callable[[int, int, MatchRecord], None]":
    """Says how each match ended, and how long the others may take at the pace so far."""
    started = time.monotonic()

    def tell_of(number: int, total: int, record: "MatchRecord") -> None:
        match = record.match
        gap = "its own gaps" if match.gap is None else f"gap {match.gap:g}"
        found = f"{record.metric} {record.score:.4f}" if record.error is None else f"failed: {record.error}"
        took, left = sum(record.seconds.values()), (time.monotonic() - started) / number * (total - number)
        tell(
            f"{number}/{total} {match.dataset}, {gap}, draw {match.draw}: {match.system} {found} ({took:.1f} s); "
            f"about {spoken(left)} left"
        )

    return tell_of


def _show(standings: "Standings") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from denots.competition.page import score_rows
    from denots.competition.standings import title_of

    table = Table("set", box=SIMPLE_HEAD, title=title_of(standings), title_justify="left")
    for system in standings.systems:
        table.add_column(system, justify="right")
    for label, cells in score_rows(standings):
        table.add_row(label, *cells)
    out.print(table)
    best = standings.systems[0]
    for other in standings.systems[1:]:
        tally = standings.tally(best, other)
        say(f"{best} against {other}: {tally} (wins / ties / losses)")
    lost = [name for name in standings.systems if not math.isfinite(standings.ranks.get(name, math.nan))]
    if lost:
        say(f"not ranked, because a set is missing or was failed: {', '.join(lost)}")


def _name_failures(records: "list[MatchRecord]") -> None:
    for record in records:
        if record.error is not None:
            complain("failed", f"{record.match.system} on {record.match.dataset}: {record.error}", "bold red")
