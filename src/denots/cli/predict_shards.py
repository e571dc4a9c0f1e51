"""`denots predict MODEL FOLDER`: answers for shards, a file each, made once."""

from pathlib import Path
from typing import Any

from denots.cli.messages import err, say
from denots.cli.where import say_where
from denots.errors import InvalidOption


def predict_folder(
    model: Path, folder: Path, out: Path, asked: dict[str, Any], *, strict: bool, place: str
) -> tuple[int, int]:
    """Answer for every shard that has no answers yet; tells how many series have none, and how many there are."""
    from denots.cluster.workers import workers_on
    from denots.data.shards import ShardedSet
    from denots.data.table_file import STANDARD, SUFFIXES
    from denots.estimators.partitions import Job, Piece, answer_piece

    if out == STANDARD or out.name.lower().endswith(SUFFIXES):
        raise InvalidOption(
            f"{folder} is a set of shards, whose answers are files in a folder; give --out a folder, not {out}."
        )
    if asked.get("times", ()) is None:
        raise InvalidOption("--at-table names series one by one; for a set of shards give --at.")
    shards = ShardedSet.open(folder)
    job = Job.begin(out, model, shards, asked)
    left = job.left
    if len(left) < shards.shards:
        say(f"continuing: {shards.shards - len(left)} of {shards.shards} shards have their answers")
    pieces = [Piece(str(model.resolve()), str(shards.folder), str(job.folder), k, strict) for k in left]
    for number, _ in enumerate(workers_on(place, tell=say_where).each(answer_piece, pieces), start=1):
        err.print(f"{number}/{len(left)} shards", highlight=False)
    tally = job.tally()
    words = [f"{tally.series} predictions in {out}"]
    words += [f"{tally.failed} series without an answer"] if tally.failed else []
    words += [f"{tally.unusual} unlike the training data"] if tally.unusual else []
    say("; ".join(words) + (" (see the column status)" if tally.failed or tally.unusual else ""))
    return tally.failed, tally.series
