"""Peak memory of one forward + gradient: `python -m benchmarks.memory WORKLOAD CONTENDER THREADS`.

Runs in a fresh process. Programs are compiled beforehand, or libraries loaded with a solve of two
series; then the kernel's high-water mark of the resident memory is reset, one batch is
solved, and the mark is read. Data, splines and weights are there before and do not count; what a
solver keeps for its gradient does. Linux only.
"""

import json
import sys
from pathlib import Path

from benchmarks.contenders import contender
from benchmarks.workloads import WORKLOADS


def main() -> None:
    name, who, threads = sys.argv[1:]
    workload = WORKLOADS[name]()
    kind = contender(who)
    full = kind(workload)
    full.threads = int(threads)
    if not full.compile():
        small = kind(workload.first(2))
        small.threads = int(threads)
        small.forward_and_gradient()
    megabytes = None
    if reset_peak():
        before = resident("VmRSS")
        full.forward_and_gradient()
        megabytes = (resident("VmHWM") - before) / 1024
    sys.stdout.write(json.dumps({"megabytes": megabytes}) + "\n")


def reset_peak() -> bool:
    """Let the high-water mark start anew; False where the system cannot."""
    switch = Path("/proc/self/clear_refs")
    if not switch.exists():
        return False
    switch.write_text("5")
    return True


def resident(key: str) -> int:
    """A line of the process status, in kilobytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1])
    raise KeyError(key)


if __name__ == "__main__":
    main()
