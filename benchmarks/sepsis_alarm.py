"""The official task of the PhysioNet/CinC Challenge 2019, an alarm an hour: `python -m benchmarks.sepsis_alarm FOLDER`.

The data are those of `denots data import sepsis`. Each system learns whether an alarm is worth more than silence in each hour,
which counts by how much it is (row classification), from the patients of one hospital to be tested on those of the other, and in
five folds of both.
A seventh of the training patients is held back: it ends the training and says of which score on an alarm is worth more
than silence. Of patients without sepsis a part of the hours is learnt from, each counting for as many more (`--thin`). `blend`
weighs all systems by their loss on what was held back, as `running-auto` does; some are in it with several seeds (`--seeds`),
each with other hours of the healthy. For another hospital it weighs them by what they say of patients who are measured in
another way than those they learnt from: those of one hospital are dealt into two groups by which channels were seen how
often, and each is told of by systems that have learnt from the other.

FOLDER keeps the scores of every finished training and a line of JSON for it in `records.jsonl`; started again, the same
command goes on with what is missing. `--keep` keeps the records in `benchmarks/results` and draws the page of the docs.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.cluster.vq import kmeans2
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from benchmarks.tables import console
from denots import RowPredictor, SeriesSet
from denots.data.join import joined
from denots.data.split import deal_folds, split_rows
from denots.datasets.imports import open_import
from denots.datasets.sepsis import CHALLENGE
from denots.datasets.sepsis_alarm import Worth, hourly
from denots.errors import UnusualSeries
from denots.folders import write_file_whole
from denots.heads.combine import calibrate, weigh
from denots.metrics import auroc
from denots.shapes import FloatArray, IntArray

TREES = "running-trees"
SYSTEMS = (TREES, "running-gru", "running-denots")
SEEDS = ("running-trees=2", "running-gru=2")
BLEND, BREAK_EVEN = "blend", "break-even"
HELD_BACK, FOLDS = 0.15, 5
RECORDS = Path(__file__).parent / "results" / "sepsis_alarm.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "sepsis-alarm.md"


class Split(NamedTuple):
    """A test and what may be learnt for it.

    rehearsals: such splits of what is known, each with its share of the patients and of the batches.
    """

    name: str
    train: SeriesSet
    val: SeriesSet
    test: SeriesSet
    rehearsals: "tuple[Split, ...]" = ()
    share: float = 1.0


class Scores(NamedTuple):
    """How likely an alarm seems worth it in every hour of the patients held back and of those tested."""

    val: FloatArray
    test: FloatArray
    seconds: float
    cpu_seconds: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="An alarm an hour.")
    parser.add_argument("folder", type=Path, help="keeps scores and records")
    parser.add_argument("--systems", nargs="*", default=SYSTEMS)
    parser.add_argument("--splits", nargs="*", help="by name, such as A-B, B-A, fold-0; default: all")
    parser.add_argument(
        "--thin", type=int, default=4, help="of patients without sepsis, learn from one hour of so many"
    )
    parser.add_argument("--set", nargs="*", default=[], help="options of systems, such as running-trees.rounds=200")
    parser.add_argument("--patients", type=int, help="so many of each hospital, for a quick look")
    parser.add_argument("--seeds", nargs="*", default=SEEDS, help="how often a system is in the blend, if not once")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="keep the records with the code, and draw their page")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", UnusualSeries)
    wanted = options.splits
    for split in splits(options.patients, options.seed):
        if wanted is not None and split.name not in wanted:
            continue
        found: dict[str, Scores] = {}
        for system in options.systems:
            found[system] = scored(split, system, options, options.seed)
            record(options.folder, split, system, found[system], options_of(system, options.set))
        if len(found) > 1:
            counts = dict(text.split("=") for text in options.seeds)
            members = [
                [scored(split, system, options, options.seed + number) for number in range(int(counts.get(system, 1)))]
                for system in found
            ]
            rehearsed = [[scored(part, system, options, options.seed) for system in found] for part in split.rehearsals]
            chosen = {"seeds": ", ".join(text.replace("=", " ") for text in options.seeds)}
            record(options.folder, split, BLEND, blended(split, members, rehearsed), chosen)
    lines = read(options.folder / "records.jsonl")
    if options.keep:
        write_file_whole(RECORDS, "".join(json.dumps(line) + "\n" for line in lines).encode())
        write_file_whole(PAGE, page(lines).encode())
    console.print(table(lines))


def splits(patients: int | None, seed: int) -> Iterator[Split]:
    """From one hospital to the other, then folds of both, in which as many are ill."""
    hospitals = hourly(open_import(CHALLENGE))
    if patients is not None:
        hospitals = {name: series.select(np.arange(patients)) for name, series in hospitals.items()}
    for here, there in (("A", "B"), ("B", "A")):
        name, known = f"{here}-{there}", hospitals[here]
        groups = by_habit(known, seed)
        rehearsals = [
            parted(f"{name}-{k}", known.select(groups != k), known.select(groups == k), seed)._replace(
                share=float((groups != k).mean())
            )
            for k in range(2)
        ]
        yield parted(name, known, hospitals[there], seed)._replace(rehearsals=tuple(rehearsals))
    both = joined([hospitals["A"], hospitals["B"]])
    every = np.arange(len(both))
    for k, held in enumerate(deal_folds(len(both), FOLDS, seed=seed, labels=ill(both))):
        yield parted(f"fold-{k}", both.select(np.setdiff1d(every, held)), both.select(held), seed)


def parted(name: str, known: SeriesSet, test: SeriesSet, seed: int) -> Split:
    train, val = split_rows(len(known), (1 - HELD_BACK, HELD_BACK), seed=seed, labels=ill(known))
    return Split(name, known.select(train), known.select(val), test)


def by_habit(series: SeriesSet, seed: int) -> IntArray:
    """Two groups of patients, by the share of hours in which each channel was seen."""
    seen = np.sqrt(np.add.reduceat(~np.isnan(series.values), series.offsets[:-1], axis=0) / series.lengths[:, None])
    spread = seen.std(axis=0)
    _, groups = kmeans2((seen - seen.mean(axis=0)) / np.where(spread > 0, spread, 1.0), 2, minit="++", seed=seed)
    return groups.astype(np.int64)


def ill(series: SeriesSet) -> IntArray:
    return np.fmax.reduceat(series.row_target, series.offsets[:-1]).astype(np.int64)


def worth(series: SeriesSet) -> Worth:
    return Worth.of(np.asarray(series.row_target), series.offsets)


def scored(split: Split, system: str, options: argparse.Namespace, seed: int) -> Scores:
    """Scores of a system, from the folder if they are there."""
    file = options.folder / f"{split.name}-{system}-{seed}.npz"
    if not file.exists():
        started, cpu = time.perf_counter(), time.process_time()
        model = learn(split, system, options, seed)
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
        parts = {"val": split.val, "test": split.test}
        told = {part: np.concatenate(model.predict_proba(series))[:, 1] for part, series in parts.items()}
        draft = file.with_suffix(".draft.npz")
        np.savez(draft, **told, seconds=seconds, cpu_seconds=cpu_seconds)
        draft.rename(file)
    with np.load(file) as kept:
        return Scores(kept["val"], kept["test"], float(kept["seconds"]), float(kept["cpu_seconds"]))


def learn(split: Split, system: str, options: argparse.Namespace, seed: int) -> RowPredictor:
    rng = np.random.default_rng(seed)
    healthy = ill(split.train) == 0
    of_healthy = np.repeat(healthy, split.train.lengths)
    left_out = of_healthy & (rng.random(len(split.train.times)) > 1 / options.thin)
    gain, held = worth(split.train).gain, worth(split.val).gain
    chosen = options_of(system, options.set)
    if "batches_per_epoch" in chosen:
        chosen["batches_per_epoch"] = max(1, round(split.share * chosen["batches_per_epoch"]))
    model = RowPredictor(system, task="row-classification", options=chosen, random_state=seed, verbose=True)
    return model.fit(
        replace(split.train, row_target=np.where(left_out, np.nan, gain > 0)),
        sample_weight=np.abs(gain) * np.where(of_healthy, options.thin, 1),
        validation=(replace(split.val, row_target=(held > 0).astype(np.float64)), np.abs(held)),
    )


def options_of(system: str, settings: Sequence[str]) -> dict[str, Any]:
    """What was set for a system, such as `running-trees.rounds=200`."""
    chosen: dict[str, Any] = {}
    for text in settings:
        name, _, value = text.partition("=")
        owner, _, option = name.partition(".")
        if owner == system:
            chosen[option] = json.loads(value)
    return chosen


def blended(split: Split, members: list[list[Scores]], rehearsed: list[list[Scores]]) -> Scores:
    """Departures from the trivial answer, the mean over seeds of each system, weighed by the loss where it has not learnt."""
    unseen = [(split, split.val, [[one.val for one in seeds] for seeds in members])]
    if rehearsed:
        parts = zip(split.rehearsals, rehearsed, strict=True)
        unseen = [(part, part.test, [[one.test] for one in scores]) for part, scores in parts]
    told = [torch.cat([departure(part, scores[k]) for part, _, scores in unseen])[:, None] for k in range(len(members))]
    gain = torch.cat([torch.from_numpy(worth(series).gain) for _, series, _ in unseen])
    base = torch.cat([torch.full((len(series.times),), trivial(part)) for part, series, _ in unseen])

    def loss(outputs: Tensor) -> Tensor:
        each = binary_cross_entropy_with_logits(outputs[:, 0] + base, (gain > 0).double(), reduction="none")
        return (each * gain.abs()).sum() / gain.abs().sum()

    weights = weigh(told, loss)
    console.print(f"{split.name} {BLEND}: weights {', '.join(f'{share:.2f}' for share in weights.tolist())}")
    val, test = (
        torch.sigmoid(
            torch.from_numpy(weights) @ torch.stack([departure(split, scores) for scores in part]) + trivial(split)
        )
        for part in (
            [[one.val for one in seeds] for seeds in members],
            [[one.test for one in seeds] for seeds in members],
        )
    )
    trainings = [one for scores in (*members, *rehearsed) for one in scores]
    seconds, cpu_seconds = (sum(times) for times in zip(*((m.seconds, m.cpu_seconds) for m in trainings), strict=True))
    return Scores(val.numpy(), test.numpy(), seconds, cpu_seconds)


def departure(split: Split, scores: list[FloatArray]) -> Tensor:
    """How far the mean of some scores is from the trivial answer, as log-odds."""
    return torch.logit(torch.from_numpy(np.stack(scores)).double(), eps=1e-6).mean(dim=0) - trivial(split)


def trivial(split: Split) -> float:
    """The log-odds of an alarm that is worth it, by what was held back."""
    gain = worth(split.val).gain
    return float(np.log(gain[gain > 0].sum() / -gain[gain < 0].sum()))


def record(folder: Path, split: Split, system: str, scores: Scores, chosen: dict[str, Any]) -> None:
    """One line for each split and system, the latest."""
    held, tested = worth(split.val), worth(split.test)
    threshold = break_even(held.gain, scores.val)
    labels = torch.from_numpy(np.asarray(split.test.row_target).astype(np.int64))
    line = {
        "split": split.name,
        "system": system,
        "options": chosen,
        "utility": tested.utility(scores.test >= threshold),
        "utility held back": held.utility(scores.val >= threshold),
        "AUROC of hours": float(auroc(torch.from_numpy(scores.test), labels)),
        "threshold": threshold,
        "alarm from": BREAK_EVEN,
        "patients": [len(split.train), len(split.val), len(split.test)],
        "seconds": round(scores.seconds, 1),
        "cpu_seconds": round(scores.cpu_seconds, 1),
    }
    file = folder / "records.jsonl"
    others = [known for known in read(file) if (known["split"], known["system"]) != (split.name, system)]
    write_file_whole(file, "".join(json.dumps(known) + "\n" for known in [*others, line]).encode())
    console.print(f"{split.name} {system}: utility {line['utility']:.4f}, {scores.seconds:.0f} s")


def break_even(gain: FloatArray, scores: FloatArray) -> float:
    """The score at which an alarm is worth as much as silence: calibrated scores say so, and a half is where they turn.

    The score that is best on a few thousand patients is a matter of chance; a factor and a shift are less so.
    """
    truth, weight = torch.from_numpy(gain > 0).double(), torch.from_numpy(np.abs(gain) / np.abs(gain).mean())
    logits = torch.logit(torch.from_numpy(scores).double(), eps=1e-6)[:, None]
    factor, shift = calibrate(
        logits, lambda outputs: binary_cross_entropy_with_logits(outputs[:, 0], truth, weight=weight)
    )
    return float(torch.sigmoid(torch.tensor(-shift[0] / factor)))


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def table(lines: Sequence[dict[str, Any]]) -> str:
    """Utilities of every system in every split, and the mean and spread over folds."""
    names = sorted({line["split"] for line in lines})
    rows = [f"| system | {' | '.join(names)} | folds | minutes |", f"|---|{'---:|' * (len(names) + 2)}"]
    for system in dict.fromkeys(line["system"] for line in lines):
        own = {line["split"]: line for line in lines if line["system"] == system}
        folds = [line["utility"] for name, line in own.items() if name.startswith("fold")]
        mean = f"{np.mean(folds):.3f} ± {np.std(folds):.3f} ({len(folds)})" if folds else ""
        cells = [f"{own[name]['utility']:.3f}" if name in own else "" for name in names]
        minutes = max(line["cpu_seconds"] for line in own.values()) / 60
        rows.append(f"| {system} | {' | '.join(cells)} | {mean} | {minutes:.1f} |")
    return "\n".join(rows)


def set_for(lines: Sequence[dict[str, Any]]) -> list[str]:
    """The options that were set for trainings, where there are any, and for which splits."""
    names: dict[tuple[str, str], list[str]] = {}
    for line in sorted(lines, key=lambda line: str(line["split"])):
        if line.get("options"):
            text = ", ".join(f"{k}={v}" for k, v in line["options"].items())
            names.setdefault((line["system"], text), []).append(line["split"])
    return [f"- {system}, {', '.join(of)}: {text}" for (system, text), of in names.items()]


def made_before(lines: Sequence[dict[str, Any]]) -> str:
    """What is to be known of records that older code has left."""
    names = sorted(line["split"] for line in lines if "forests" in line["options"])
    if not names:
        return ""
    return f"""
{", ".join(names)} were recorded by earlier code: the GRU did not read rows by their logarithm, and every forest had a weight of its own in
the blend.
"""


def page(lines: Sequence[dict[str, Any]]) -> str:
    return f"""# An alarm for sepsis, hour by hour

<!-- generated by `python -m benchmarks.sepsis_alarm` from benchmarks/results/sepsis_alarm.jsonl; do not edit -->

The task of the PhysioNet/CinC Challenge 2019 on its public patients, with its normalised utility: 0 for no alarm at all, 1 for the best
ones. Each system is trained on patients of one hospital and judged on those of the other (A-B, B-A), and in five folds of both. The
alarm rings where scores, calibrated on held-back training patients, say that it is worth more than silence; the blend weighs the systems by their loss there, as
`running-auto` does. For another hospital it weighs them by their loss on patients who are measured in another way than those they learnt from:
the training hospital is dealt into two groups, and each is told of by what has learnt from the other. Empty cells were not measured. Minutes are processor time of the longest training.

{table(lines)}
{made_before(lines)}
{chr(10).join(set_for(lines))}

`running-trees` is LightGBM on running summaries of every channel, `running-gru` a GRU that is told what was seen and how long ago,
`running-denots` DeNOTS, integrated from row to row. Options above were set with `--set SYSTEM.OPTION=VALUE`; those trainings are short, a few passes over
the patients.

```
denots data import sepsis FOLDER
python -m benchmarks.sepsis_alarm scores --keep
```
"""


if __name__ == "__main__":
    main()
