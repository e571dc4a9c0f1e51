"""Plans: what is run, what is left out, and which records count."""

from dataclasses import replace

import pytest

from denots.errors import InvalidOption
from denots.experiments import EXPERIMENTS, Request
from denots.experiments.main_table import JUDGED_ON, PLANNED
from denots.experiments.runs import PROFILES, Plan, is_system, most_telling, profile_of, score_cell
from denots.runs.words import read_run

from run_records import record, spec


@pytest.mark.parametrize("system", ["tanh", "gru-ode", "denots", "mamba2", "neural-cde", "trees"])
def test_the_paper_profile_is_what_train_would_run(system: str) -> None:
    for protocol in ("paper", "fair", "best"):
        told = read_run(["dataset=sine-2", f"backbone={system}", f"protocol={protocol}"])
        assert spec("sine-2", system, profile="paper", protocol=protocol) == told


@pytest.mark.parametrize("protocol", ["paper", "best"])
@pytest.mark.parametrize("profile", PROFILES)
def test_every_planned_run_tells_its_profile(profile, protocol) -> None:
    for experiment in EXPERIMENTS.values():
        for run in experiment.plan(Request(profile, protocol)).runs:
            assert profile_of(run) == profile, (experiment.name, run)


def test_nobody_is_tuned_where_all_have_the_best_recipe() -> None:
    request = Request("paper", "best", datasets=("pendulum",))
    runs = EXPERIMENTS["main"].plan(request).runs
    assert len(runs) == 3 * len(PLANNED)
    made = [record(run, 0.9 if is_system(record(run, 0.0), "gru-ode") else 0.5) for run in runs if run.seed == 0]
    main = EXPERIMENTS["main"].exhibits([replace(r, metrics={**r.metrics, "val": r.metrics["test"]}) for r in made])[0]
    cells = {name.split(" ")[0]: cells[JUDGED_ON.index("pendulum")] for name, cells in main.rows}
    assert (cells["gru-ode"].values, cells["sync"].values, cells["denots"].values) == ((0.9,), (0.5,), (0.5,))


def test_a_run_of_no_profile_is_an_error() -> None:
    odd = spec("bump", "tanh")
    for changed in (
        replace(odd, dataset=replace(odd.dataset, size=77)),
        replace(odd, train=replace(odd.train, max_epochs=13)),
        replace(odd, train=replace(odd.train, patience=4)),
    ):
        with pytest.raises(InvalidOption, match="is of no profile"):
            profile_of(changed)


def test_what_cannot_run_here_is_left_out_with_a_reason() -> None:
    plan = Plan(Request("smoke"))
    plan.add("no-such-set", "denots", [0])
    plan.add("bump", "no-such-system", [0, 1])
    plan.add("bump", "denots", [0])
    assert len(plan.runs) == 1
    assert plan.left_out == [
        "no-such-set is not a data set of this version",
        "no-such-system is not a backbone of this version",
    ]


def test_seeds_asked_for_replace_those_of_the_profile() -> None:
    runs = EXPERIMENTS["overfitting"].plan(Request("paper", seeds=(7,))).runs
    assert {run.seed for run in runs} == {7}


def test_data_sets_and_systems_asked_for_are_the_only_ones() -> None:
    request = Request("paper", datasets=("pendulum", "bump"), systems=("denots", "gru"))
    found = {(run.dataset.name, run.backbone.name) for run in EXPERIMENTS["main"].plan(request).runs}
    assert found == {("pendulum", "denots"), ("pendulum", "gru")}


def test_unknown_profiles_are_refused() -> None:
    with pytest.raises(InvalidOption, match="profile is one of smoke, quick, paper"):
        Request("fast")  # type: ignore[arg-type]


def test_of_each_system_only_the_largest_profile_counts() -> None:
    smoke, quick = record(spec("bump", "tanh", profile="smoke"), 0.1), record(spec("bump", "tanh"), 0.5)
    paper = record(spec("bump", "tanh", profile="paper"), 0.9)
    other = record(spec("bump", "relu", profile="smoke"), 0.2)
    assert most_telling([smoke, quick, other]) == [quick, other]
    assert most_telling([smoke, paper, quick]) == [paper]
    fair = record(spec("bump", "tanh", protocol="fair"), 0.6)
    assert most_telling([fair, paper, quick]) == [fair, paper]


@pytest.mark.parametrize(
    ("protocol", "profile", "agrees"), [("paper", "paper", False), ("fair", "paper", None), ("paper", "quick", None)]
)
def test_only_full_runs_under_the_published_rules_are_held_against_the_paper(protocol, profile, agrees) -> None:
    made = record(spec("bump", "tanh", profile=profile, protocol=protocol), 0.5)
    assert score_cell([made], (0.9, 0.01)).agrees is agrees


def test_gru_ode_is_the_synchronous_field_at_depth_one() -> None:
    assert is_system(record(spec("bump", "sync", depth=1.0), 0.0), "gru-ode")
    assert not is_system(record(spec("bump", "sync", depth=5.0), 0.0), "gru-ode")
