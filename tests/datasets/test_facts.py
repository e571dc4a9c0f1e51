"""Imported data against published facts; on the real data where DENOTS_TEST_DATA names their folder."""

import os
from pathlib import Path

import numpy as np
import pytest

from denots.datasets import DATASETS, DerivedRecipe, load
from denots.datasets.facts import FACTS, check_facts
from denots.datasets.imports import import_source, open_import

from published_files import gestures, hospitals, write_packed, write_patients

UWGL, SEPSIS = DATASETS["uwgl"], DATASETS["sepsis"]
assert isinstance(UWGL, DerivedRecipe)
assert isinstance(SEPSIS, DerivedRecipe)
FULL = gestures(120, 320, steps=315, channels=3, classes=8)


def wrong(recipe: DerivedRecipe) -> dict[str, str]:
    return {finding.fact: finding.found for finding in check_facts(recipe) if not finding.ok}


def test_every_real_data_set_has_facts() -> None:
    assert set(FACTS) == {name for name, recipe in DATASETS.items() if isinstance(recipe, DerivedRecipe)}


def test_data_of_the_published_shape_pass(tmp_path: Path) -> None:
    write_packed(tmp_path, "UWaveGestureLibrary", FULL)
    import_source(UWGL.source, [tmp_path])
    assert wrong(UWGL) == {}


def test_what_differs_is_named(tmp_path: Path) -> None:
    values, labels = (array[:-1].copy() for array in FULL["TRAIN"])
    values[0, :200] = np.nan
    write_packed(tmp_path, "UWaveGestureLibrary", {**FULL, "TRAIN": (values, labels)})
    import_source(UWGL.source, [tmp_path])
    found = wrong(UWGL)
    assert found["training series"] == "119"
    assert found["training series per class"] == "14 to 15"
    assert found["missing before removal"] == "0.1 %"
    assert found["train / val / test"] == "95 / 24 / 320"
    assert "test series" not in found


def test_a_small_challenge_is_measured_rightly(tmp_path: Path) -> None:
    patients = hospitals()
    write_patients(tmp_path / "challenge", patients)
    import_source(SEPSIS.source, [tmp_path / "challenge"])
    found = {finding.fact: finding.found for finding in check_facts(SEPSIS)}
    rows = np.concatenate([p.values for p in patients["A"]])
    assert found["hospital A: rows"] == str(len(rows))
    assert found["hospital A: missing"] == f"{100 * np.isnan(rows).mean():.1f} %"
    assert found["hospital A: EtCO2 missing"] == f"{100 * np.isnan(rows[:, 7]).mean():.1f} %"
    assert found["septic"] == str(sum(p.onset >= 0 for stays in patients.values() for p in stays))
    assert found["hours per patient"] == "9 to 90"
    assert found["rows seen"] == "9 to 71"


@pytest.mark.slow
@pytest.mark.skipif("DENOTS_TEST_DATA" not in os.environ, reason="DENOTS_TEST_DATA names no folder with the real data")
@pytest.mark.parametrize(
    ("name", "folder"),
    [("uwgl", "UWaveGestureLibrary"), ("sepsis", "physionet2019_sepsis"), ("physionet-2012", "physionet2012")],
)
def test_the_real_data_have_the_published_facts(name: str, folder: str) -> None:
    recipe = DATASETS[name]
    assert isinstance(recipe, DerivedRecipe)
    import_source(recipe.source, sorted((Path(os.environ["DENOTS_TEST_DATA"]) / folder).iterdir()))
    assert wrong(recipe) == {}
    splits = load(name).splits
    assert [len(splits.train), len(splits.val), len(splits.test)] == list(recipe.sizes)
    if name == "sepsis":
        assert wrong(DATASETS["sepsis-shift"]) == {}  # type: ignore[arg-type]
    elif name == "uwgl":
        raw = open_import(recipe.source)["train"].padded().values
        assert np.abs(raw.mean(axis=(0, 1))).max() < 1e-3
        assert raw.std(axis=(0, 1)) == pytest.approx(0.998, abs=1e-3)
