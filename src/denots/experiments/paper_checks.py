"""Statements of the paper that can be checked in a second, and what comes out."""

import math
from collections.abc import Callable

import numpy as np

from denots.datasets.sine import GRID, JOIN, SINE_MIX_SIZES, generate_sine_mix
from denots.experiments import published
from denots.experiments import theory_checks as theory
from denots.experiments.check import Check, judged
from denots.experiments.published import Pair
from denots.experiments.ranks import RUNS, ranks
from denots.shapes import FloatArray


def missing_share(length: int, share: float = 0.3) -> float:
    """Expected share of distinct rows among floor(share * length) drawn with replacement."""
    return 1 - (1 - 1 / length) ** math.floor(share * length)


def check_missing() -> Check:
    shares = [missing_share(length) for length in (315, 600)]
    return judged(
        "Missing values of UWGL and InsectSound",
        "30 % of the rows are removed",
        f"Rows are drawn with replacement, so {shares[0]:.1%} and {shares[1]:.1%} are removed.",
        holds=all(abs(share - 0.3) < 0.01 for share in shares),
        rule="both shares lie within 1 % of 30 %",
    )


def check_ranks() -> Check:
    datasets = list(published.RANKS["denots"])
    same = 0
    for dataset in datasets:
        found = ranks({name: scores[dataset] for name, scores in published.MAIN.items()})
        same += sum(found[name] == published.RANKS[name][dataset] for name in published.MAIN)
    total = len(datasets) * len(published.MAIN)
    return judged(
        "Table of ranks",
        "One-sided t-test on means and deviations, p < 0.1",
        f"{same} of {total} ranks follow from the main table, with pooled variance and three runs.",
        holds=same == total,
        rule="all ranks follow",
    )


def advantage(dataset: str) -> tuple[float, float]:
    """DeNOTS minus the best system that is no stretched ODE, and the one-sided p-value of that difference."""
    from scipy.stats import t

    others = [
        score
        for name, scores in published.MAIN.items()
        if name not in ("denots", "sync") and (score := scores[dataset])
    ]
    best: Pair = max(others)
    own = published.MAIN["denots"][dataset]
    assert own is not None
    error = math.sqrt((own[1] ** 2 + best[1] ** 2) / RUNS)
    return own[0] - best[0], float(t.sf((own[0] - best[0]) / error, 2 * RUNS - 2))


def _own(dataset: str) -> float:
    """The published metric of DeNOTS."""
    own = published.MAIN["denots"][dataset]
    assert own is not None
    return own[0]


def check_improvement() -> Check:
    found = {dataset: advantage(dataset) for dataset in published.RANKS["denots"]}
    words = "; ".join(f"{dataset} {gain:+.3f} (p = {p:.2f})" for dataset, (gain, p) in found.items())
    return judged(
        "Improvement over baselines",
        "Up to 20 % better",
        f"Over the best baseline of each data set, by the paper's own table: {words}.",
        holds=any(p < 0.1 and gain >= 0.2 * (_own(dataset) - gain) for dataset, (gain, p) in found.items()),
        rule="the lead on some data set is a fifth of the best baseline, with p < 0.1",
        otherwise="misleading",
    )


def transformer_parameters(channels: int) -> tuple[int, int]:
    """Parameters of the encoder layer alone, and with the input map and the class token."""
    from torch import nn

    layer = nn.TransformerEncoderLayer(32, 8, 2048)
    bare = sum(weight.numel() for weight in layer.parameters())
    return bare, bare + sum(weight.numel() for weight in nn.Linear(channels, 32).parameters()) + 32


def check_transformers() -> Check:
    bare, whole = transformer_parameters(4)
    return judged(
        "Parameters of TempFormer and RoFormer on UWGL",
        f"{published.PARAMETERS['uwgl']['tempformer']:,}",
        f"{whole:,}; the paper prints the encoder layer alone ({bare:,}).",
        holds=whole == published.PARAMETERS["uwgl"]["tempformer"],
        rule="the count is that of the module",
    )


def cde_parameters(channels: int) -> int:
    """Parameters of the published neural CDE, which reads so many channels, time among them."""
    return 1088 * (channels + 1)


def check_sepsis_cde() -> Check:
    fed, built = cde_parameters(35), cde_parameters(3500)
    return judged(
        "Parameters of the neural CDE on Sepsis",
        f"{published.PARAMETERS['sepsis']['neural-cde']:,}",
        f"{built:,} belong to 3,500 channels, but the model is fed 35 (34 values and time): {fed:,} can run.",
        holds=fed == published.PARAMETERS["sepsis"]["neural-cde"],
        rule="the count is that of a model of 35 channels",
    )


def expected_points(mean: float, horizon: float, branching: float = 0.5) -> float:
    """Mean number of events of the Hawkes process behind Pendulum's time stamps."""
    keep = 1 - branching
    rate = mean * keep / (horizon - 1)
    return rate * (horizon / keep - branching / keep**2 * (1 - math.exp(-keep * horizon)))


def check_lengths() -> Check:
    few, many = expected_points(100, 4), expected_points(300, 4)
    return judged(
        "Length of Pendulum series",
        "Median 315; the published generator asks for 100 points",
        f"100 gives {few:.0f} points in the median of 4 s, 300 gives {many:.0f}: the results need 300.",
        holds=abs(few / 315 - 1) < 0.1,
        rule="100 gives 315 points within 10 %",
    )


def first_frequency(late: FloatArray) -> FloatArray:
    """The first frequency of SineMix series, from their second half alone.

    Neighbours of a sampled sine add up to 2 cos(b step) times the middle one, which gives b; least
    squares give the phase, that is (a - b) times the time of the join, up to full turns.
    """
    step, join = GRID[1], GRID[JOIN]
    middle = late[:, 1:-1]
    b = np.arccos(((late[:, 2:] + late[:, :-2]) * middle).sum(axis=1) / (2 * (middle**2).sum(axis=1))) / step
    angle = b[:, None] * GRID[JOIN:]
    waves = np.stack([np.sin(angle), np.cos(angle)], axis=2)
    parts = np.stack([np.linalg.lstsq(wave, y, rcond=None)[0] for wave, y in zip(waves, late, strict=True)])
    a = b + np.arctan2(parts[:, 1], parts[:, 0]) / join
    return np.asarray(2 * np.pi + (a - 2 * np.pi) % (2 * np.pi / join))


def check_sine_mix() -> Check:
    train = generate_sine_mix(42, SINE_MIX_SIZES)["train"]
    assert train.target is not None
    late = train.values.astype(np.float64).reshape(len(train), len(GRID))[:, JOIN:]
    share = float(np.mean(np.abs(first_frequency(late) - train.target) < 0.05))
    return judged(
        "SineMix",
        "Trivial unless the model forgets the beginning of the sequence",
        f"The waves join without a jump, so frequency and phase of the second half give the first frequency of {share:.0%} "
        "of the series. See the experiment on SineMix for a set without this.",
        holds=share < 0.05,
        rule="the second half tells of less than 5 % of the series",
    )


CHECKS: tuple[Callable[[], Check], ...] = (
    theory.check_error_bound,
    theory.check_interval_bound,
    theory.check_spline_constant,
    theory.check_spline_bound,
    theory.check_jacobian_lemma,
    theory.check_zero_field,
    theory.check_scaling,
    theory.check_tolerance,
    check_improvement,
    check_ranks,
    check_missing,
    check_lengths,
    check_transformers,
    check_sepsis_cde,
    check_sine_mix,
)
