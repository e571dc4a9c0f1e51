"""How time, memory and disturbance are measured."""

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.contenders import Contender

ROOT = Path(__file__).parents[1]
QUIET = 0.1  # share of the processor that others may use in an undisturbed measurement


@dataclass
class Disturbance:
    """Share of the processor that other programs used meanwhile; filled when the block ends."""

    share: float = 0.0


@contextmanager
def watched() -> Iterator[Disturbance]:
    """Compare the busy time of the machine with that of this process and its children."""
    found = Disturbance()
    busy, own, started = _machine_seconds(), _own_seconds(), time.perf_counter()
    yield found
    others = (_machine_seconds() - busy) - (_own_seconds() - own)
    found.share = max(0.0, others / ((time.perf_counter() - started) * (os.cpu_count() or 1)))


def _machine_seconds() -> float:
    """Busy seconds of all cores since boot; 0 where the system does not tell."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return 0.0
    user, nice, system, _, _, irq, softirq, steal = map(int, stat.read_text().split("\n", 1)[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@dataclass
class Times:
    """Every repeat of one call: seconds by the clock, of processor time over all threads, and the
    share of the processor that others had meanwhile.

    The best repeat is what the code can do, the rest is other programs. Processor time suffers less
    from them and serves as a check.
    """

    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    others: list[float] = field(default_factory=list)

    @property
    def disturbed(self) -> bool:
        """Whether no repeat had the machine for itself."""
        return not self.others or min(self.others) > QUIET

    def summary(self) -> dict[str, float]:
        ordered = sorted(zip(self.seconds, self.others, strict=True))
        return {
            "best_ms": 1e3 * ordered[0][0],
            "median_ms": 1e3 * ordered[len(ordered) // 2][0],
            "best_processor_ms": 1e3 * min(self.processor),
            "repeats": len(ordered),
            "others_share_of_cpu": ordered[0][1],
        }


def burst(call: Callable[[], None], times: Times, budget: float) -> None:
    """Warm up once, then repeat for about `budget` seconds, at least twice and at most 50 times."""
    gc.collect()
    started = time.perf_counter()
    call()
    warm = time.perf_counter() - started
    seconds = []
    with watched() as others:
        for _ in range(max(2, min(50, int(budget / max(warm, 1e-6))))):
            started, processor = time.perf_counter(), time.process_time()
            call()
            seconds.append(time.perf_counter() - started)
            times.processor.append(time.process_time() - processor)
    times.seconds += seconds
    times.others += [others.share] * len(seconds)


def choose_threads(contender: Contender) -> None:
    """Give a peer whichever of one and two threads makes its forward pass faster."""
    if not contender.free_threads:
        return
    found = {}
    for threads in (1, 2):
        contender.threads = threads
        contender.forward()
        started = time.perf_counter()
        contender.forward()
        found[threads] = time.perf_counter() - started
    contender.threads = min(found, key=lambda threads: found[threads])


def wait_for_quiet(patience: float) -> float:
    """Sleep until other programs leave the processor alone; returns the seconds of patience that are left."""
    while patience > 0:
        with watched() as others:
            time.sleep(0.3)
        if others.share < QUIET:
            break
        patience -= 0.3
    return patience


def peak_memory(workload: str, contender: str, threads: int) -> float | None:
    """Megabytes that one forward + gradient adds to the resident memory, in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.memory", workload, contender, str(threads)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    megabytes: float | None = json.loads(done.stdout.splitlines()[-1])["megabytes"]
    return megabytes
