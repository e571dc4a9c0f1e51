"""A stream that is killed at random moments and started again, until that has happened often enough.

`python killed_often.py MODEL EVENTS FOLDER KILLS SEED` loads a model once and answers the lines of a file in processes forked from
this one, which is quicker than to start each anew. Each time that one gets to the end its answers stay in FOLDER, and another
stream begins.
"""

import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from denots import RowPredictor, load
from denots.stream.journal import Journal

LONGEST = 0.3  # seconds that a process lives at most, unless it comes to the end


def main(model: str, events: str, folder: str, kills: str, seed: str) -> None:
    estimator, chance, done, rounds = load(model), random.Random(int(seed)), 0, 0
    while done < int(kills):
        out, kept = Path(folder, f"{rounds}.ndjson"), Path(folder, f"{rounds}.state")
        while killed(estimator, Path(events), out, kept, chance, spare=done >= int(kills)):
            done += 1
        rounds += 1
    sys.stdout.write(f"{done} {rounds}\n")


def killed(estimator: RowPredictor, events: Path, out: Path, kept: Path, chance: random.Random, *, spare: bool) -> bool:
    """Whether the process was killed before it came to the end; one that is spared gets there."""
    child = os.fork()
    if child == 0:
        source = pieces(events.read_bytes().splitlines(), random.Random(chance.random()))
        Journal(estimator.stream(lag=1.0, expire=4.0), out=out, kept=kept, every=1).run(source)
        os._exit(0)
    if not spare:
        time.sleep(chance.uniform(0, LONGEST))
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status):
        raise SystemExit("a process failed")
    return os.WIFSIGNALED(status)


def pieces(lines: list[bytes], chance: random.Random) -> Iterator[list[bytes | None]]:
    while lines:
        count = chance.randint(1, 12)
        yield list(lines[:count])
        del lines[:count]


if __name__ == "__main__":
    main(*sys.argv[1:])
