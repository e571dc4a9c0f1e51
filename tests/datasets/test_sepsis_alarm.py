"""The score of the sepsis challenge, against its definition hour by hour."""

import numpy as np
import pytest

from denots.data import SeriesSet
from denots.datasets.psv import CHANNELS
from denots.datasets.sepsis_alarm import Worth, hourly


def official(labels: np.ndarray, alarms: np.ndarray) -> float:
    """One patient, as the challenge words it."""
    if not labels.any():
        return -0.05 * alarms.sum()
    onset, total = int(np.argmax(labels)) + 6, 0.0
    for t, alarm in enumerate(alarms):
        if t > onset + 3:
            continue
        early = t <= onset - 6
        if alarm:
            total += max((t - onset + 12) / 6, -0.05) if early else (3 - (t - onset)) / 9
        elif not early:
            total += -2 * (t - onset + 6) / 9
    return total


def best_alarms(labels: np.ndarray) -> np.ndarray:
    alarms = np.zeros(len(labels), dtype=bool)
    if labels.any():
        onset = int(np.argmax(labels)) + 6
        alarms[max(0, onset - 12) : onset + 4] = True
    return alarms


def stays(seed: int = 0) -> list[np.ndarray]:
    rng, found = np.random.default_rng(seed), []
    for _ in range(60):
        hours = np.arange(rng.integers(1, 40))
        found.append((hours >= rng.integers(0, 40)).astype(float) if rng.random() < 0.6 else 0.0 * hours)
    return found


def packed(patients: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate(patients), np.cumsum([0, *map(len, patients)])


def test_the_published_example() -> None:
    worth = Worth.of(np.array([0.0, 0, 0, 0, 1, 1]), np.array([0, 6]))
    assert worth.total(np.array([0, 0, 1, 1, 1, 1], dtype=bool)) == pytest.approx(3.388888888888889)


def test_totals_and_the_normalised_score_are_those_of_every_patient_by_the_definition() -> None:
    patients = stays()
    labels, offsets = packed(patients)
    worth = Worth.of(labels, offsets)
    alarms = np.random.default_rng(1).random(len(labels)) < 0.3
    own = np.split(alarms, offsets[1:-1])
    observed = sum(map(official, patients, own))
    nothing = sum(official(one, np.zeros(len(one), dtype=bool)) for one in patients)
    best = sum(official(one, best_alarms(one)) for one in patients)
    assert worth.total(alarms) == pytest.approx(observed)
    assert worth.utility(alarms) == pytest.approx((observed - nothing) / (best - nothing))
    assert worth.utility(worth.ideal) == pytest.approx(1.0)
    np.testing.assert_array_equal(worth.ideal, np.concatenate([best_alarms(one) for one in patients]))


def test_the_label_of_each_hour_is_the_row_target_and_no_channel() -> None:
    rng = np.random.default_rng(0)
    values = [np.c_[rng.normal(size=(4, 34)), [0, 0, 1, 1]], np.c_[np.full((3, 34), np.nan), [0, 0, 0]]]
    hospital = SeriesSet.from_arrays(
        [np.arange(1.0, 5), np.arange(1.0, 4)], values, channels=(*CHANNELS, "SepsisLabel"), ids=["p1", "p2"]
    )
    found = hourly({"A": hospital})["A"]
    assert found.ids.tolist() == ["p1"]  # of the other nothing was ever measured
    assert found.channels == CHANNELS
    assert found.row_target.tolist() == [0, 0, 1, 1]
    assert found.start.tolist() == [0.0]
