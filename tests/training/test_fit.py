"""Training: seeds fix everything, the best weights are kept, failures stay contained."""

import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from denots.errors import InvalidOption, OutOfTime
from denots.training.config import PUBLISHED, TrainConfig
from denots.training.examples import Examples
from denots.training.fit import History, fit
from denots.training.model import Model, run_model

from models import calibrated, make_model
from training_runs import SHORT, STEADY, examples, trained, waves


def test_training_lowers_the_loss_and_keeps_the_best_epoch() -> None:
    model, data = examples(waves())
    config = TrainConfig(learning_rate=3e-2, batch_size=8, batches_per_epoch=4, max_epochs=12)
    history = fit(model, data, data, config)
    assert history.rows[-1]["loss"] < 0.7 * history.rows[0]["loss"]
    outputs = run_model(model, data.inputs).outputs
    assert float(model.task.metric(outputs, data.target)) == pytest.approx(history.best["val_metric"], abs=1e-5)


def test_at_any_time_the_best_weights_so_far_are_the_answer_when_no_further_cycle_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = replace(SHORT, schedule="cycles", max_epochs=14)  # cycles of 2, 4 and 8 epochs
    for pace, epochs in ((1e9, 2), (1e3, 6)):
        monkeypatch.setattr(History, "seconds", property(lambda history, pace=pace: pace * len(history.rows)))
        model, data = examples(waves())
        history = fit(model, data, data, config, deadline=time.time() + 7e3, anytime=True)
        assert len(history.rows) == epochs
        outputs = run_model(model, data.inputs).outputs
        assert float(model.task.loss(outputs, data.target)) == pytest.approx(history.best["val_loss"], abs=1e-5)
    model, data = examples(waves())
    with pytest.raises(OutOfTime):
        fit(model, data, data, config, deadline=0.0, anytime=True)


def test_without_validation_the_last_weights_are_kept() -> None:
    model, data = examples(waves())
    history = fit(model, data, None, SHORT)
    assert len(history.rows) == SHORT.max_epochs
    last, other = examples(waves())
    fit(last, other, other, replace(SHORT, choose="loss"))
    rising = run_model(model, data.inputs).outputs, run_model(last, other.inputs).outputs
    torch.testing.assert_close(*rising)  # its loss falls to the end, so that the best epoch is the last one
    assert history.best is history.rows[-1]


def test_a_cycle_in_vain_ends_a_run_of_cycles() -> None:
    config = TrainConfig(schedule="cycles", max_epochs=14)  # 2, 4 and 8 epochs
    falling = [{"val_metric": 0.0, "val_loss": 1.0 - 0.1 * k} for k in range(14)]
    assert [History(falling[:k], "loss").ended(config) for k in range(15)] == [False] * 14 + [True]
    rising = [{"val_metric": 0.0, "val_loss": 1.0 + 0.1 * k} for k in range(14)]
    assert [History(rising[:k], "loss").ended(config) for k in range(7)] == [False] * 6 + [True]


def test_the_same_seed_gives_the_same_weights_and_another_seed_others() -> None:
    first, again, other = trained()[0], trained()[0], trained(seed=1)[0]
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["head.weight"], other["head.weight"])


def test_among_epochs_with_one_metric_the_lowest_validation_loss_is_best() -> None:
    rows = [
        {"epoch": 0, "val_metric": 1.0, "val_loss": 0.6},
        {"epoch": 1, "val_metric": 1.0, "val_loss": 0.2},
        {"epoch": 2, "val_metric": 0.9, "val_loss": 0.1},
    ]
    assert History(rows).best["epoch"] == 1


def test_the_validation_loss_is_that_of_the_task() -> None:
    model, data = examples(waves())
    history = fit(model, data, data, SHORT)
    loss = model.task.loss(run_model(model, data.inputs).outputs, data.target)
    assert float(loss) == pytest.approx(history.best["val_loss"], rel=1e-5)


def test_what_was_drawn_before_does_not_matter() -> None:
    torch.manual_seed(5)
    first = trained()[0]
    torch.manual_seed(6)
    state = torch.random.get_rng_state()
    second = trained()[0]
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_numbers_cannot_be_balanced() -> None:
    model, data = examples(waves())
    with pytest.raises(InvalidOption, match="balanced_sampling needs classes"):
        fit(model, data, data, TrainConfig(balanced_sampling=True))


def test_series_that_fail_to_solve_leave_the_others_their_gradient() -> None:
    series = waves(8)
    published = {"method": "dopri5", "tolerance": 1e-3, "predict_tolerance": None}
    model, data = examples(series, max_steps=10, **published)
    free, free_data = examples(series, **published)
    ok = run_model(model, data.inputs).ok
    assert 0 < ok.sum() < len(ok)
    history = fit(model, data, data, replace(STEADY, batches_per_epoch=1, max_epochs=1))
    assert history.rows[0]["failures"] == int((~ok).sum())
    assert all(weight.isfinite().all() for weight in model.parameters())
    kept = free_data.select(ok.nonzero().flatten())
    fit(free, kept, kept, replace(STEADY, batches_per_epoch=1, max_epochs=1))
    for name, value in free.backbone.field.state_dict().items():
        torch.testing.assert_close(model.backbone.field.state_dict()[name], value, rtol=1e-4, atol=1e-6)


def by_hand(model: Model, train: Examples, val: Examples, config: TrainConfig) -> tuple[dict, list[tuple]]:
    """What training means, in plain PyTorch: best weights, and metric and loss of every epoch."""
    kind = torch.optim.AdamW if config.weight_decay else torch.optim.Adam
    optimiser = kind(model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True)
    curve, best, score, waited = [], {}, -torch.inf, 0
    total, taken = config.max_epochs * config.batches_per_epoch, 0
    for epoch in range(config.max_epochs):
        seed = config.seed * 1_000_003 + epoch
        torch.manual_seed(seed)
        for _ in range(min(epoch, 1)):
            torch.randint(-(2**63), 2**63 - 1, ())
        order = torch.randperm(len(train), generator=torch.Generator().manual_seed(seed))
        model.train()
        for rows in order[: config.batches_per_epoch * config.batch_size].split(config.batch_size):
            optimiser.zero_grad()
            model.task.loss(model(train.select(rows).inputs).outputs, train.target[rows]).backward()
            if config.clip is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), config.clip)
            if config.schedule == "one-cycle":
                done = (taken + 0.5) / total
                share = 10 * done if done < 0.1 else 0.5 + 0.5 * np.cos(np.pi * (done - 0.1) / 0.9)
                optimiser.param_groups[0]["lr"] = config.learning_rate * share
            optimiser.step()
            taken += 1
        outputs = run_model(model, val.inputs).outputs
        metric = float(model.task.metric(outputs, val.target).float())
        curve.append((metric, float(model.task.loss(outputs, val.target))))
        order = [(metric if config.choose == "metric" else 0.0, -loss) for metric, loss in curve]
        if order.index(max(order)) == epoch:
            best = {name: value.clone() for name, value in model.state_dict().items()}
        score, waited = (metric, 0) if metric > score else (score, waited + 1)
        if waited == config.patience:
            break
    return best, curve


def beside_plain_torch(backbone: str, config: TrainConfig) -> tuple[list[tuple], list[tuple]]:
    """Learning curve and best weights of `fit`, and of the loop by hand."""
    series = waves(32)
    models = [make_model(backbone, {"state_size": 16}, "regression", 1, seed=1) for _ in range(2)]
    target = torch.from_numpy(series.target)[:, None]
    for model in models:
        calibrated(model, series, target)
    data = [Examples(model.backbone.prepare(series), target) for model in models]
    train, val = torch.arange(24), torch.arange(24, 32)
    history = fit(models[0], data[0].select(train), data[0].select(val), config)
    best, curve = by_hand(models[1], data[1].select(train), data[1].select(val), config)
    return [([(row["val_metric"], row["val_loss"]) for row in history.rows], models[0].state_dict()), (curve, best)]


BY_HAND = TrainConfig(learning_rate=3e-2, batch_size=8, batches_per_epoch=3, max_epochs=6, seed=11)


@pytest.mark.parametrize(("backbone", "patience"), [("denots", 10), ("denots", 1), ("gru", 2), ("tempformer", 3)])
def test_published_training_is_what_a_loop_in_plain_torch_does_to_the_last_bit(backbone: str, patience: int) -> None:
    (curve, weights), (expected, best) = beside_plain_torch(backbone, replace(BY_HAND, patience=patience, **PUBLISHED))
    assert curve == expected
    assert all(torch.equal(value, best[name]) for name, value in weights.items())


@pytest.mark.parametrize("clip", [None, 0.1])
def test_a_cycle_is_what_a_loop_in_plain_torch_does(clip: float | None) -> None:
    (curve, weights), (expected, best) = beside_plain_torch(
        "denots", replace(BY_HAND, schedule="one-cycle", clip=clip, weight_decay=0.1)
    )
    np.testing.assert_allclose(curve, expected, rtol=1e-5)
    for name, value in weights.items():
        torch.testing.assert_close(value, best[name], rtol=1e-5, atol=1e-7)


def test_a_metric_that_is_not_a_number_ends_a_run() -> None:
    config = TrainConfig(max_epochs=50, patience=20)
    assert History([{"val_metric": 0.5}, {"val_metric": float("nan")}]).ended(config)
    assert not History([{"val_metric": 0.5}, {"val_metric": 0.4}]).ended(config)


def test_a_classifier_is_as_sure_as_its_validation_part_allows() -> None:
    """Learnt by heart on labels that mean nothing, so that the best guess is hardly better than a coin."""
    rng = np.random.default_rng(3)
    series = waves(64)
    target = torch.from_numpy(rng.integers(0, 2, len(series)))
    model = make_model("denots", {"state_size": 16, "depth": 4.0}, "binary", 1, 0, 1, seed=0)
    calibrated(model, series, target)
    data = Examples(model.backbone.prepare(series), target)
    train, val = data.select(torch.arange(32)), data.select(torch.arange(32, 64))
    history = fit(model, train, val, TrainConfig(learning_rate=3e-2, batches_per_epoch=8, max_epochs=8))
    logits = run_model(model, val.inputs).outputs
    loss = float(model.task.loss(logits, val.target))
    assert loss == pytest.approx(history.best["val_loss"], rel=1e-3)
    assert all(float(model.task.loss(logits * k, val.target)) > loss - 1e-3 for k in (0.25, 0.5, 0.8, 1.25, 2.0))
