"""The table of systems: sizes of built models beside the published ones."""

from cli.conftest import Run
from denots.experiments import published
from denots.systems import SYSTEMS


def rows(text: str) -> dict[str, list[str]]:
    table = (line.split() for line in text.splitlines() if line.startswith("  "))
    return {cells[0]: cells[1:] for cells in table if cells and cells[0] in SYSTEMS}


def test_every_system_has_a_row_and_odes_say_what_solves_them(run: Run) -> None:
    table = rows(run("systems", "--sizes").stdout)
    assert set(table) == set(SYSTEMS)
    assert {name for name, cells in table.items() if cells[0] == "native"} == {
        *("denots", "gru-ode", "none", "relu", "sync", "tanh"),
        *("neural-cde", "neural-rde", "latent-ode", "running-denots"),
    }


def test_published_sizes_are_met_but_for_the_known_misprints(run: Run) -> None:
    table = rows(run("systems", "--sizes").stdout)
    differ = {name for name, cells in table.items() if any("(" in cell and "(=)" not in cell for cell in cells)}
    assert differ == {"neural-cde", "roformer", "tempformer"}
    assert "".join(table["denots"]).count("(=)") == len(published.PARAMETERS)


def test_an_unknown_protocol_is_refused(run: Run) -> None:
    assert (
        "protocol is one of paper, fair, best; got 'nice'"
        in run("systems", "--sizes", "--protocol", "nice", code=2).stderr
    )


def test_every_system_is_listed_within_eighty_columns(run: Run) -> None:
    shown = run("systems").stdout
    assert max(map(len, shown.splitlines())) <= 80
    listed = {line.split()[0] for line in shown.splitlines() if line.startswith("  ") and not line.startswith("   ")}
    assert set(SYSTEMS) <= listed


def test_the_options_of_a_system_are_shown_with_their_values(run: Run) -> None:
    shown = dict(line.split(None, 1) for line in run("systems", "denots").stdout.splitlines()[1:])
    assert shown["field"] == "anti"
    assert shown["batches_per_epoch"] == "none"
    assert shown["depth"].startswith(f"{SYSTEMS['denots'].options['depth']} (tune: ")
    assert "Did you mean 'denots'" in run("systems", "denot", code=2).stderr
