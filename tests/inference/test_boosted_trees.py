"""Trees are read and summed as LightGBM does itself, bit for bit."""

import lightgbm
import numpy as np
import pytest

from denots.inference.boosted_trees import BoostedTrees


def table(n: int, seed: int) -> np.ndarray:
    """Numbers, holes, zeros, numbers that are nearly zero, and one column without any hole."""
    rng = np.random.default_rng(seed)
    found = rng.normal(size=(n, 6))
    found[:, :5][rng.random((n, 5)) < 0.2] = np.nan
    found[:, 1:3][rng.random((n, 2)) < 0.3] = 0.0
    found[:, 2][rng.random(n) < 0.1] = 1e-36
    found[:, 3] *= 1e30
    return found


@pytest.mark.parametrize("objective", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("missing", [{}, {"zero_as_missing": True}, {"use_missing": False}])
def test_sums_have_the_bits_of_lightgbm(objective: str, missing: dict[str, bool]) -> None:
    learnt, rng = table(400, 0), np.random.default_rng(1)
    signal = np.nan_to_num(learnt[:, 0]) + (learnt[:, 1] == 0) + np.isnan(learnt[:, 2]) + learnt[:, 5] ** 2
    noisy = signal + 0.3 * rng.normal(size=400)
    target = (
        noisy
        if objective == "regression"
        else np.digitize(noisy, [0.5, 2.0])
        if objective == "multiclass"
        else noisy > 1
    )
    settings = {"objective": objective, "num_leaves": 15, "min_data_in_leaf": 3, "verbosity": -1, **missing}
    if objective == "multiclass":
        settings["num_class"] = 3
    text = lightgbm.train(settings, lightgbm.Dataset(learnt, target), 25).model_to_string()
    booster, trees = lightgbm.Booster(model_str=text), BoostedTrees.read(text)
    for asked in (table(333, 2), table(333, 2).astype(np.float32), np.full((3, 6), np.nan), np.zeros((2, 6))):
        wanted = np.asarray(booster.predict(asked, raw_score=True)).reshape(len(asked), -1)
        np.testing.assert_array_equal(trees.sums(asked), wanted)
    assert trees.leaves == sum(tree["num_leaves"] for tree in booster.dump_model()["tree_info"])


def test_a_forest_of_constants_is_read() -> None:
    settings = {"objective": "regression", "min_data_in_leaf": 50, "verbosity": -1}
    text = lightgbm.train(settings, lightgbm.Dataset(np.zeros((60, 2)), np.arange(60.0)), 3).model_to_string()
    wanted = lightgbm.Booster(model_str=text).predict(np.zeros((1, 2)), raw_score=True)
    np.testing.assert_array_equal(BoostedTrees.read(text).sums(np.zeros((1, 2)))[:, 0], wanted)


def grown() -> str:
    rng = np.random.default_rng(0)
    data = lightgbm.Dataset(rng.normal(size=(100, 2)), rng.normal(size=100))
    return lightgbm.train({"objective": "regression", "verbosity": -1}, data, 2).model_to_string()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("end of trees", "", "cut short"),
        ("num_cat=0", "num_cat=1", "categories"),
        ("max_feature_idx=1", "max_feature_idx=0", "no such column"),
        ("leaf_value=", "leaf_value=1 ", "not as many nodes"),
        ("left_child=", "left_child=99 ", "not as many nodes"),
        ("threshold=", "threshold=x ", "could not convert"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=3", "cut short"),
    ],
)
def test_a_changed_text_is_refused(old: str, new: str, message: str) -> None:
    text = grown()
    assert old in text
    with pytest.raises(ValueError, match=message):
        BoostedTrees.read(text.replace(old, new))


def test_children_that_lead_back_are_refused() -> None:
    lines = grown().split("\n")
    at = next(k for k, line in enumerate(lines) if line.startswith("left_child="))
    lines[at] = "left_child=0 " + lines[at].partition(" ")[2]
    with pytest.raises(ValueError, match="leads out of it or back"):
        BoostedTrees.read("\n".join(lines))
