"""Measure all contenders on all workloads: `python -m benchmarks.solver [--quick] [--only WORKLOAD ...]`.

Everything happens in one run and one process, one contender after the other; only the memory is
measured in processes of their own. Agreement is checked before anything is timed.
"""

import argparse
import datetime
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks import machine, results
from benchmarks.agreement import (
    NOT_WORSE_THAN,
    Difference,
    Disagreement,
    apart,
    check_agreement,
    difference,
    exact,
    rival,
)
from benchmarks.contenders import CONTENDERS, Contender, Outcome, contender
from benchmarks.measure import Times, burst, choose_threads, peak_memory, wait_for_quiet, watched
from benchmarks.tables import console, show_agreement, show_peak, show_workload
from benchmarks.workloads import QUICK, WORKLOADS, Workload

VARIANTS = {"paper-trained", "diffrax-tuned"}  # other settings of a peer: measured on one workload, as a check
SLOW = 0.5  # seconds of a call that needs no second round, unless it was disturbed
VARIANTS_ON = "pendulum-10"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure all contenders on all workloads.")
    parser.add_argument("--quick", action="store_true", help="two workloads, few repeats, no memory; nothing stored")
    parser.add_argument(
        "--only", nargs="+", choices=list(WORKLOADS), help="these workloads, the others as stored today"
    )
    parser.add_argument(
        "--patience", type=float, default=60.0, help="seconds that a workload may wait for other programs to be quiet"
    )
    parser.add_argument("--fresh", action="store_true", help="measure what is stored for this commit once more")
    parser.add_argument("--contenders", nargs="+", choices=list(CONTENDERS), default=list(CONTENDERS))
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", message=".*searchsorted.*")
    chosen = options.only or (QUICK if options.quick else list(WORKLOADS))
    if not (options.fresh or options.quick):
        chosen = missing(chosen)
    if not chosen:
        console.print("all of it is stored for this commit; --fresh measures it once more")
        return
    for measured in run(chosen, options.contenders, options.quick, options.patience):
        if not options.quick:
            store(measured)


def missing(wanted: Sequence[str]) -> list[str]:
    """Workloads that are not stored for the code of today; uncommitted code is always measured."""
    commit = machine.commit()
    stored = results.read(results.file_of_today()).get("solver", {}).get("workloads", {})
    return [name for name in wanted if " " in commit or stored.get(name, {}).get("commit") != commit]


def store(measured: dict[str, Any]) -> None:
    """Beside the workloads that were measured earlier today; a run that is cut short keeps what it has."""
    earlier = results.read(results.file_of_today()).get("solver", {})
    before = earlier.get("workloads", {})
    together = {**before, **{name: remember(row, before.get(name)) for name, row in measured["workloads"].items()}}
    ordered = {name: together[name] for name in WORKLOADS if name in together}
    agreement = {**earlier.get("agreement", {}), **measured["agreement"]}
    where = results.store("solver", {**measured, "workloads": ordered, "agreement": agreement})
    console.print(f"stored in {where}")


def remember(row: dict[str, Any], before: dict[str, Any] | None) -> dict[str, Any]:
    """The measurement with the ratios of those that it replaces: a repeat must not hide what came out before."""
    if before is None:
        return row
    known = before.get("earlier", [])
    if before.get("measured") == row["measured"]:
        return {**row, "earlier": known}
    ratios = {
        name: {what: contender[what]["ratio"] for what in ("forward", "gradient")}
        for name, contender in before["contenders"].items()
    }
    return {**row, "earlier": [*known, ratios]}


def run(workloads: Sequence[str], names: Sequence[str], quick: bool, patience: float) -> Iterator[dict[str, Any]]:
    """The measurement as JSON, growing by one workload at a time."""
    found: dict[str, Any] = {
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine.describe(),
        "load_average_before": machine.load_average(),
        "fma_peak_gflops": machine.fma_peak(0.0 if quick else min(patience, 30.0)),
    }
    show_peak(found)
    found["agreement"] = check_agreement(list(names))
    show_agreement(found["agreement"])
    found["workloads"] = {}
    for name in workloads:
        workload = WORKLOADS[name]()
        able = [who for who in names if contender(who).can_solve(workload)]
        chosen = [who for who in able if who not in VARIANTS or name == VARIANTS_ON]
        found["workloads"][name] = measure(workload, chosen, found["fma_peak_gflops"], quick, patience)
        show_workload(found["workloads"][name])
        found["load_average_after"] = machine.load_average()
        yield found


def measure(
    workload: Workload, names: Sequence[str], peak: dict[str, float], quick: bool, patience: float
) -> dict[str, Any]:
    """One workload: check, time in rounds, weigh."""
    truth = exact(workload)
    ready: dict[str, Contender] = {}
    rows: dict[str, dict[str, Any]] = {}
    failed: dict[str, str] = {}
    with watched() as disturbance:
        for name in names:
            who = contender(name)(workload)
            compiling = who.compile()
            choose_threads(who)
            outcome = who.outcome()
            lost = int((~np.isfinite(outcome.states)).any(axis=-1).sum())
            if lost:
                failed[who.label] = f"returned states that are not finite for {lost} of {len(workload.series)} series"
                continue
            ready[name] = who
            rows[name] = {**describe(who, outcome, truth), "compile_seconds": compiling}
        check_accuracy(rows, workload.tolerance)
        for name, (forward, gradient) in time_in_rounds(ready, quick, 0.0 if quick else patience).items():
            rows[name].update(forward=forward.summary(), gradient=gradient.summary())
    for name, row in rows.items():
        row["peak_megabytes"] = None if quick else peak_memory(workload.name, name, row["threads"])
        derive(row, rows[rival(rows)], workload, peak)
    return {
        "title": workload.title,
        "rival": rival(rows),
        "commit": machine.commit(),
        "measured": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "series": len(workload.series),
        "median_points": float(np.median(workload.series.lengths)),
        "channels": workload.channels,
        "states": workload.states,
        "depth": workload.depth,
        "tolerance": workload.tolerance,
        "flops_per_evaluation": workload.flops,
        "load_average": machine.load_average(),
        "others_share_of_cpu": disturbance.share,
        "contenders": rows,
        "failed": failed,
    }


def describe(who: Contender, outcome: Outcome, truth: Outcome) -> dict[str, Any]:
    """What is known before timing: how exact, and at how many evaluations."""
    row: dict[str, Any] = {"label": who.label, "threads": who.threads, "backend": who.backend}
    if who.solves_the_same:
        found: Difference = difference(outcome, truth)
        row["error"] = {"typical_state": found.typical, "largest_state": found.states, "gradient": found.gradient}
    if outcome.evaluations is not None:
        row["evaluations"] = {
            "mean": float(outcome.evaluations.mean()),
            "max": int(outcome.evaluations.max()),
            "total": int(outcome.evaluations.sum()),
        }
    return row


def check_accuracy(rows: dict[str, dict[str, Any]], tolerance: float) -> None:
    """Nobody may be fast by being wrong: typical errors must be alike."""
    first = rival(rows)
    own = rows[first]["error"]
    for name, row in rows.items():
        for what in ("typical_state", "gradient"):
            if "error" in row and apart(row["error"][what], own[what], tolerance):
                raise Disagreement(
                    f"{name} has an error of {row['error'][what]:.2g} ({what}), {first} one of {own[what]:.2g}: "
                    f"more than a factor of {NOT_WORSE_THAN:g} apart, so they did not do the same work."
                )


def time_in_rounds(ready: dict[str, Contender], quick: bool, patience: float) -> dict[str, tuple[Times, Times]]:
    """Bursts of each contender in turn, several rounds: a passing disturbance cannot hit one of them alone.

    Who never had the machine for itself gets more rounds, as long as the patience lasts.
    """
    times = {name: (Times(), Times()) for name in ready}
    rounds = 1 if quick else 2
    while rounds > 0 or (patience > 0 and any(kind.disturbed for pair in times.values() for kind in pair)):
        for name, who in ready.items():
            for call, found, budget in zip(
                (who.forward, who.forward_and_gradient), times[name], (0.7, 1.0), strict=True
            ):
                slow = bool(found.seconds) and min(found.seconds) > SLOW
                if found.disturbed or (rounds > 0 and not slow):
                    patience = wait_for_quiet(patience)
                    burst(call, found, 0.3 if quick else budget)
        rounds -= 1
    return times


def derive(row: dict[str, Any], rival: dict[str, Any], workload: Workload, peak: dict[str, float]) -> None:
    """Ratios and rates, from the best times."""
    for what in ("forward", "gradient"):
        row[what]["ratio"] = row[what]["best_ms"] / rival[what]["best_ms"]
    if "evaluations" not in row:
        return
    total, seconds = row["evaluations"]["total"], row["forward"]["best_ms"] / 1e3
    row["ns_per_evaluation"] = {what: row[what]["best_ms"] * 1e6 / total for what in ("forward", "gradient")}
    row["fma_share"] = total * workload.flops / seconds / (peak[str(row["threads"])] * 1e9)


if __name__ == "__main__":
    main()
