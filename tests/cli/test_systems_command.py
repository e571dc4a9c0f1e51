"""The table of systems: sizes of built models beside the published ones."""

from cli.conftest import Run
from denots.experiments import published
from denots.systems import SYSTEMS


def rows(text: str) -> dict[str, list[str]]:
    table = (line.split() for line in text.splitlines() if line.startswith("  "))
    return {cells[0]: cells[1:] for cells in table if cells and cells[0] in SYSTEMS}


def test_every_system_has_a_row_and_odes_say_what_solves_them(run: Run) -> None:
    table = rows(run("systems").stdout)
    assert set(table) == set(SYSTEMS)
    assert {name for name, cells in table.items() if cells[0] == "native"} == {
        *("denots", "gru-ode", "none", "relu", "sync", "tanh"),
        *("neural-cde", "neural-rde", "latent-ode"),
    }


def test_published_sizes_are_met_but_for_the_known_misprints(run: Run) -> None:
    table = rows(run("systems").stdout)
    differ = {name for name, cells in table.items() if any("(" in cell and "(=)" not in cell for cell in cells)}
    assert differ == {"neural-cde", "roformer", "tempformer"}
    assert "".join(table["denots"]).count("(=)") == len(published.PARAMETERS)


def test_an_unknown_protocol_is_refused(run: Run) -> None:
    assert "protocol is one of paper, fair; got 'nice'" in run("systems", "--protocol", "nice", code=2).stderr
