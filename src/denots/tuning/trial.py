"""One trial: the estimator fitted with some options, told of every epoch, ended early where others were better."""

import math
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sklearn.base import clone

from denots.errors import DenotsError, OutOfTime
from denots.estimators import SeriesEstimator
from denots.progress import LINE_SECONDS
from denots.training.progress import Plan, Progress, shown
from denots.tuning.study import TRIALS, open_study, optuna_library, rehearsal, resumed

if TYPE_CHECKING:
    from optuna import Study
    from optuna.trial import FrozenTrial, Trial


@dataclass(frozen=True)
class Work:
    """What all trials of a search share.

    deadline: a time (as of `time.time()`) after which a run stops at the end of its epoch, to be continued later.
    verbose: show how a trial that takes long goes on.
    """

    folder: Path
    estimator: SeriesEstimator
    X: Any
    y: Any
    fit_params: dict[str, Any]
    deadline: float | None = None
    verbose: bool = False

    def place(self, number: int) -> Path:
        """Where a trial keeps its checkpoint."""
        return self.folder / TRIALS / f"{number:04d}"

    def candidate(self, number: int, options: dict[str, Any]) -> SeriesEstimator:
        """The estimator with the options of a trial, unfitted."""
        estimator = with_options(clone(self.estimator), options)
        return estimator.set_params(checkpoint_dir=str(self.place(number)), verbose=False)


def with_options(estimator: SeriesEstimator, options: dict[str, Any]) -> SeriesEstimator:
    """Set options of the system, which some estimators spell out as arguments."""
    if "options" in estimator.get_params(deep=False):
        return estimator.set_params(options={**(estimator.options or {}), **options})
    return estimator.set_params(**options)


def run_trial(work: Work, number: int) -> None:
    """Fit a trial that has begun and write into the journal how it ended; out of time it stays to be continued."""
    study = open_study(work.folder)
    _fit(work, study, study.get_trials(deepcopy=False)[number], number)


class Begun(NamedTuple):
    """A trial for a process that does not see the journal, and those that had ended when it began."""

    trial: "FrozenTrial"
    ended: "list[FrozenTrial]"


@dataclass(frozen=True)
class Elsewhere:
    """Fits a trial in a process that does not see the journal, and tells all that is to be written there."""

    work: Work

    def __call__(self, begun: Begun) -> "FrozenTrial":
        study = rehearsal()
        study.add_trials([*begun.ended, begun.trial])
        _fit(self.work, study, study.get_trials(deepcopy=False)[-1], begun.trial.number)
        return study.get_trials(deepcopy=False)[-1]


def write_down(study: "Study", number: int, found: "FrozenTrial") -> None:
    """Write into the journal what another process told of a trial."""
    known = study.get_trials(deepcopy=False)[number]
    trial = resumed(study, known)
    for epoch in sorted(set(found.intermediate_values) - set(known.intermediate_values)):
        trial.report(found.intermediate_values[epoch], epoch)
    for name, value in found.user_attrs.items():
        trial.set_user_attr(name, value)
    if found.state.name == "COMPLETE":
        study.tell(trial, found.value)
    elif found.state.is_finished():
        study.tell(trial, state=found.state)


def _fit(work: Work, study: "Study", begun: "FrozenTrial", number: int) -> None:
    optuna = optuna_library()
    state = optuna.trial.TrialState
    trial = resumed(study, begun)
    estimator = work.candidate(number, trial.params)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the best trial is fitted again, and then they are heard
            told = [shown(work.verbose, first=LINE_SECONDS), _Report(trial, work.deadline)]
            estimator.fit(work.X, work.y, callbacks=told, **work.fit_params)
    except optuna.TrialPruned:
        study.tell(trial, state=state.PRUNED)
        return
    except OutOfTime:
        return
    except DenotsError as error:
        _fail(trial, str(error))
        study.tell(trial, state=state.FAIL)
        return
    fitted = estimator.fitted_
    if math.isnan(fitted.loss):
        _fail(trial, "its loss on held-out series is no number")
        study.tell(trial, state=state.FAIL)
        return
    trial.set_user_attr("score", estimator.validation_score_)
    trial.set_user_attr("spread", estimator.validation_spread_)
    trial.set_user_attr("seconds", fitted.seconds)
    study.tell(trial, fitted.loss)


def _fail(trial: "Trial", reason: str) -> None:
    trial.set_user_attr("reason", reason)


class _Report(Progress):
    """Writes the validation loss of each epoch into the journal; of several runs, as folds are, nothing is known early."""

    def __init__(self, trial: "Trial", deadline: float | None) -> None:
        self.trial, self.deadline = trial, deadline

    def start(self, plan: Plan, rows: list[dict[str, float]]) -> None:
        super().start(plan, rows)
        self.told = set(self.trial.storage.get_trial(self.trial._trial_id).intermediate_values)
        for row in rows:
            self._report(row)

    def epoch(self, rows: list[dict[str, float]]) -> None:
        super().epoch(rows)
        self._report(rows[-1])
        if self.name == "run" and self.trial.should_prune():
            raise optuna_library().TrialPruned
        if self.deadline is not None and time.time() > self.deadline:
            raise OutOfTime("the budget of the search is over.")

    def _report(self, row: dict[str, float]) -> None:
        if self.name == "run" and int(row["epoch"]) not in self.told:
            self.trial.report(row["val_loss"], int(row["epoch"]))
