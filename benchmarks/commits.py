"""This commit in times of an earlier one, in one run: `python -m benchmarks.commits COMMIT [--only WORKLOAD ...]`.

Both are built from clean checkouts with the same compiler and solve the same workloads in processes of their own,
which take turns; the best repeat of all turns counts.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measure import ROOT, wait_for_quiet, watched
from benchmarks.tables import console
from benchmarks.workloads import WORKLOADS

TURNS = 12
BURST = 0.5  # seconds a call and turn
CHILD = """
import json, sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "ScikitBuildRedirectingFinder" not in type(finder).__name__]
sys.path[:0] = [{package!r}, {root!r}]
import denots, torch
assert denots.__file__.startswith({package!r}), denots.__file__
from benchmarks.contenders.denots import NativeOneThread, NativeTwoThreads
from benchmarks.measure import Times, burst
from benchmarks.workloads import WORKLOADS
found = {{}}
for contender in (NativeOneThread, NativeTwoThreads):
    ready = contender(WORKLOADS[{workload!r}]())
    for what in ("forward", "forward_and_gradient"):
        times = Times()
        burst(getattr(ready, what), times, {budget})
        found[f"{{ready.threads}} {{what}}"] = 1e3 * min(times.seconds)
print(json.dumps(found))
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="This commit in times of an earlier one.")
    parser.add_argument("before", metavar="COMMIT", help="what to compare the last commit with")
    parser.add_argument("--only", nargs="+", choices=list(WORKLOADS), default=list(WORKLOADS))
    options = parser.parse_args(arguments)
    with built(options.before) as before, built("HEAD") as now, watched() as others:
        console.print("| workload | threads | what | before, ms | now, ms | now / before |\n|---|---|---|---|---|---|")
        for workload in options.only:
            best: dict[str, dict[Path, float]] = {}
            for turn in range(TURNS):
                for package in (before, now) if turn % 2 else (now, before):
                    wait_for_quiet(60)
                    for name, found in measured(package, workload).items():
                        slot = best.setdefault(name, {})
                        slot[package] = min(found, slot.get(package, found))
            for name, by in best.items():
                threads, what = name.split()
                numbers = f"{by[before]:.2f} | {by[now]:.2f} | {by[now] / by[before]:.2f}"
                console.print(f"| {workload} | {threads} | {what.replace('_', ' ')} | {numbers} |")
    console.print(f"other programs used {others.share:.0%} of the processor")


@contextmanager
def built(commit: str) -> Iterator[Path]:
    """A folder with the package as it was at a commit."""
    with tempfile.TemporaryDirectory() as place:
        tree, package = Path(place, "tree"), Path(place, "package")
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", tree, commit], cwd=ROOT, check=True)
        try:
            install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps"]
            subprocess.run([*install, "--target", package, tree], check=True)
            yield package
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)


def measured(package: Path, workload: str) -> dict[str, float]:
    code = CHILD.format(package=str(package), root=str(ROOT), workload=workload, budget=BURST)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    main()
