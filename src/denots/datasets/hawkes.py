"""Event times that come in bursts: a Hawkes process with exponential decay."""

import numpy as np

from denots.shapes import FloatArray, IntArray


def draw_hawkes(
    rng: np.random.Generator, *, rate: FloatArray, horizon: FloatArray, branching: float, minimum_gap: float
) -> tuple[FloatArray, IntArray]:
    """Sorted event times on (0, horizon) for n independent processes, packed, and the offsets [n + 1].

    The intensity is rate + branching * sum over past events s of exp(-(t - s)), with no
    event before 0. It is drawn in its cluster form: a Poisson number of first events,
    uniform in time; then every event has Poisson(branching) children, each after an
    Exp(1) delay, generation by generation until none falls inside the horizon. This is
    the same law as thinning, for all series at once.

    An event closer than `minimum_gap` to the one before it (or to 0) is dropped. At
    75 events a second and a gap of 1e-5 s that concerns fewer than one event in a thousand.

    Args:
        rate: first events per unit time [n].
        horizon: end of each process [n].
        branching: mean number of children, below 1.
    """
    owner = np.repeat(np.arange(len(rate)), rng.poisson(rate * horizon))
    times = rng.uniform(size=len(owner)) * horizon[owner]
    all_times, all_owners = [times], [owner]
    while len(times):
        children = rng.poisson(branching, size=len(times))
        times = np.repeat(times, children)
        times = times + rng.exponential(size=len(times))
        owner = np.repeat(owner, children)
        inside = times < horizon[owner]
        times, owner = times[inside], owner[inside]
        all_times.append(times)
        all_owners.append(owner)
    times, owner = np.concatenate(all_times), np.concatenate(all_owners)
    order = np.lexsort((times, owner))
    times, owner = times[order], owner[order]
    before = np.concatenate([[0.0], times[:-1]])
    before[np.flatnonzero(np.diff(owner, prepend=-1))] = 0.0
    apart = times - before >= minimum_gap
    return times[apart], offsets_of(owner[apart], len(rate))


def offsets_of(owner: IntArray, n: int) -> IntArray:
    """Where each of n series begins, given the sorted owner of every packed row."""
    return np.searchsorted(owner, np.arange(n + 1)).astype(np.int64)
