"""How the cost of the native solver grows: `python -m benchmarks.scaling [--quick]`.

Forward + gradient, against the number of series n, their length L, the depth D, states H,
channels C and threads. Long series go on for longer, at the same density, so the work per
observation stays the same.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from rich.progress import track

from benchmarks import machine, results
from benchmarks.contenders import contender
from benchmarks.figures import draw_scaling
from benchmarks.measure import Times, burst, wait_for_quiet, watched
from benchmarks.tables import console
from benchmarks.workloads import Workload, build, pendulum
from denots import kernels
from denots.data import SeriesSet

PATIENCE = 20.0  # seconds that a point may wait for other programs to be quiet


def noise(n: int = 128, points: int = 300, channels: int = 2) -> SeriesSet:
    """Noise at one observation per unit of time: twice the points are twice the work."""
    rng = np.random.default_rng(5)
    times = [np.cumsum(rng.uniform(0.5, 1.5, points)) for _ in range(n)]
    return SeriesSet.from_arrays(times, [rng.normal(size=(points, channels)) for _ in range(n)], start=0.0)


def of_length(points: int) -> Workload:
    return build("length", "length", noise(32, points), depth=points / 30)


def of_channels(channels: int) -> Workload:
    return build("channels", "channels", noise(channels=channels), depth=10, time_differences=False)


def of_states(states: int) -> Workload:
    return build("states", "states", pendulum(), depth=10, states=states)


def of_depth(depth: float) -> Workload:
    return build("depth", "depth", pendulum(), depth=depth)


def of_series(n: int) -> Workload:
    return build("series", "series", pendulum(n), depth=10)


AXES: dict[str, tuple[str, Callable[[int], Workload], tuple[int, ...]]] = {
    "n": ("series", of_series, (8, 16, 32, 64, 128, 256, 512, 1024, 2048)),
    "L": ("observations per series", of_length, (30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)),
    "D": ("depth", of_depth, (1, 2, 5, 10, 20, 30, 50, 100)),
    "H": ("states", of_states, (1, 2, 4, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)),
    "C": ("channels", of_channels, (1, 2, 4, 8, 16, 32, 64, 128)),
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="How the cost of the native solver grows.")
    parser.add_argument("--quick", action="store_true", help="few points, nothing stored")
    parser.add_argument("--only", nargs="+", choices=list(AXES), default=list(AXES))
    options = parser.parse_args(arguments)
    earlier = results.read(results.file_of_today()).get("scaling", {}).get("axes", {})
    found: dict[str, Any] = {"machine": machine.describe(), "axes": earlier}
    for name in options.only:
        label, make, sizes = AXES[name]
        chosen = sizes[::4] if options.quick else sizes
        with watched() as others:
            points = [
                measure(partial(make, size), size, 0.0 if options.quick else PATIENCE)
                for size in track(chosen, f"{name}: {label}", console=console)
            ]
        found["axes"][name] = {"label": label, "points": points, "others_share_of_cpu": others.share}
        for point in points:
            console.print(describe(name, point))
        found["load_average_after"] = machine.load_average()
        if not options.quick:
            console.print(f"stored in {results.store('scaling', found)}")
    if not options.quick:
        console.print(f"drawn in {draw_scaling(found)}")


def measure(make: Callable[[], Workload], size: int, patience: float) -> dict[str, Any]:
    """Best times with one and two threads, evaluations, and what the gradient had to keep."""
    workload = make()
    point: dict[str, Any] = {"size": size, "threads": {}}
    for threads in (1, 2):
        who = contender("native-2")(workload)
        who.threads = threads
        forward, gradient = Times(), Times()
        patience = wait_for_quiet(patience)
        burst(who.forward, forward, budget=0.5)
        burst(who.forward_and_gradient, gradient, budget=1.0)
        point["threads"][str(threads)] = {"forward": forward.summary(), "gradient": gradient.summary()}
    with tape_sizes() as sizes:
        counts = who.outcome()
    assert counts.evaluations is not None
    assert counts.accepted is not None
    observations = int(workload.series.lengths.sum())
    return {
        **point,
        "evaluations": int(counts.evaluations.sum()),
        "accepted_steps": int(counts.accepted.sum()),
        "observations": observations,
        "tape_bytes": max(sizes, default=0),
    }


@contextmanager
def tape_sizes() -> Iterator[list[int]]:
    """Bytes of every tape that is recorded meanwhile."""
    sizes: list[int] = []
    plain = kernels.solve

    def solve(problem: Any, *, record: bool, **found: Any) -> Any:
        tape = plain(problem, record=record, **found)
        if tape is not None:
            sizes.append(tape.bytes)
        return tape

    kernels.solve = solve
    try:
        yield sizes
    finally:
        kernels.solve = plain


def describe(axis: str, point: dict[str, Any]) -> str:
    one, two = (point["threads"][threads]["gradient"]["best_ms"] for threads in ("1", "2"))
    return (
        f"{axis} = {point['size']:>6}: {one:10.2f} ms with 1 thread, {two:10.2f} ms with 2; "
        f"{one * 1e6 / point['evaluations']:8.1f} ns per evaluation, tape {point['tape_bytes'] / 2**20:7.1f} MB"
    )


if __name__ == "__main__":
    main()
