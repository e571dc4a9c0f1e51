"""Search options in the manner of scikit-learn's searches: `fit`, and then `best_estimator_`."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from denots.cluster.workers import Workers, workers_on
from denots.data.inputs import as_series_set
from denots.data.store import content_hash
from denots.errors import InvalidOption, OutOfTime
from denots.estimators import SeriesEstimator
from denots.folders import expanded
from denots.options import Range
from denots.processors import check_jobs, limited_to
from denots.progress import spoken, tell
from denots.tuning.space import Space, distributions, space_of
from denots.tuning.study import begin, begun, complete, locked, next_trial, optuna_library
from denots.tuning.trial import Work
from denots.tuning.workers import make_trials

if TYPE_CHECKING:
    import pandas as pd
    from optuna import Study
    from optuna.trial import FrozenTrial


def _best_has(name: str) -> Callable[[Any], bool]:
    def check(search: "SeriesSearch") -> bool:
        getattr(search.estimator, name)
        return True

    return check


class SeriesSearch(MetaEstimatorMixin, BaseEstimator):
    """Fit an estimator with many options, keep the best (Optuna's TPE, unpromising trials are ended early).

    A trial is worth its loss on the series that `fit` holds back anyway; they choose among trials, too, so the score of
    the best is a little too good. The first trial has the options of the estimator.

    Args:
        estimator: any of this package, such as `SeriesClassifier("denots")`; options that it sets are not searched.
        search: where to look, by option: a `Range`, a list of values, or None for where the option says itself. By default
            all options that say so; `denots systems NAME` shows them.
        n_trials: in all, those of an earlier call with the same `study` included.
        timeout: seconds after which no trial is begun and those that run stop to be continued; None waits for all.
        n_jobs: processors to keep busy, by as many processes; trials then depend on which ends first. None is one trial at a
            time on all processors.
        on: "local", or "ray" (the cluster that runs here) or "ray=ADDRESS": trials are tasks of it, with `n_jobs` processors each,
            or as many as a run here would use; as many at a time as there is room for.
        study: a folder in which the search can go on after an interruption; one trial at a time, it ends as if it had
            not been interrupted.
        random_state: seed of what is tried, and of the estimator where it has none.
        verbose: tell of each trial on stderr.

    Attributes:
        best_estimator_: fitted with the best options.
        best_params_, best_score_, best_index_: the options found, their metric on the held-out series, their trial.
        trials_: a table with a row for each trial: how it ended, loss, score and its standard error over series, options.
    """

    def __init__(
        self,
        estimator: SeriesEstimator,
        search: Mapping[str, Any] | None = None,
        *,
        n_trials: int = 30,
        timeout: float | None = None,
        n_jobs: int | None = None,
        on: str = "local",
        study: str | os.PathLike[str] | None = None,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.estimator = estimator
        self.search = search
        self.n_trials = n_trials
        self.timeout = timeout
        self.n_jobs = n_jobs
        self.on = on
        self.study = study
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags, own = super().__sklearn_tags__(), self.estimator.__sklearn_tags__()
        tags.estimator_type, tags.input_tags = own.estimator_type, own.input_tags
        tags.classifier_tags, tags.regressor_tags, tags.target_tags = (
            own.classifier_tags,
            own.regressor_tags,
            own.target_tags,
        )
        return tags

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Search, then fit the best on X; further arguments are those of the estimator's own `fit`."""
        optuna_library()
        self._check()
        with limited_to(self.n_jobs):
            workers = workers_on(self.on, tell if self.verbose else lambda words: None)
        system, options = self.estimator._chosen()
        settable = set(self.estimator.get_params(deep=False))
        settable = set(system.options) if "options" in settable else settable
        fixed = options if "options" in self.estimator.get_params(deep=False) else ()
        space = space_of(system, self.search, fixed, settable)
        if options.get("depth") == "auto" and "depth" not in space:
            raise InvalidOption("depth 'auto' tries several depths by itself; leave it out, and depth is searched.")
        seed = int(check_random_state(self.random_state).randint(2**31))
        estimator = clone(self.estimator)
        if estimator.random_state is None:
            estimator.set_params(random_state=seed)
        first = _defaults(space, {**system.options, **options})
        identity = {
            "estimator": type(estimator).__name__,
            "system": system.name,
            "options": repr(options),
            "search": {name: str(among) for name, among in space.items()},
            "seed": seed,
            "estimator seed": repr(estimator.random_state),
            "split": estimator.validation_fraction,
            "class weight": repr(getattr(estimator, "class_weight", None)),
            "data": _data_hash(estimator, X, y, fit_params),
        }
        place = nullcontext(self.study) if self.study is not None else tempfile.TemporaryDirectory()
        with place as named, locked(folder := expanded(Path(named))):
            study = begin(folder, identity)
            deadline = None if self.timeout is None else time.time() + self.timeout
            work = Work(folder, estimator, X, y, fit_params, deadline, self.verbose)
            self._make(study, work, distributions(system, space), first, seed, workers)
            self._keep(study, work)
        return self

    @available_if(_best_has("predict"))
    def predict(self, X: Any, *arguments: Any, **options: Any) -> Any:
        """As the best estimator does."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X, *arguments, **options)

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Any, **options: Any) -> np.ndarray:
        """As the best estimator does."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X, **options)

    @available_if(_best_has("score"))
    def score(self, X: Any, y: Any = None) -> float:
        """As the best estimator does."""
        check_is_fitted(self)
        return float(self.best_estimator_.score(X, y))

    @property
    def classes_(self) -> np.ndarray:
        """The classes of the best estimator."""
        return self.best_estimator_.classes_

    def _check(self) -> None:
        if isinstance(self.n_trials, bool) or not isinstance(self.n_trials, int) or self.n_trials < 1:
            raise InvalidOption(f"trials are counted from 1; got {self.n_trials!r}.")
        if self.timeout is not None and not self.timeout > 0:
            raise InvalidOption(f"a budget of time is a positive number; got {self.timeout!r}.")
        check_jobs(self.n_jobs, "n_jobs")

    def _make(
        self,
        study: "Study",
        work: Work,
        among: Mapping[str, Any],
        first: Mapping[str, Any],
        seed: int,
        workers: Workers,
    ) -> None:
        """Make the trials that are left, those that were interrupted first."""
        running = optuna_library().trial.TrialState.RUNNING
        interrupted = [complete(study, trial, among) for trial in begun(study) if trial.state == running]

        def upcoming() -> int | None:
            if interrupted:
                return interrupted.pop(0)
            return next_trial(study, among, first, seed) if len(begun(study)) < self.n_trials else None

        left, started = self.n_trials - len(begun(study)) + len(interrupted), time.monotonic()
        for done, number in enumerate(make_trials(work, upcoming, max(1, left), self.n_jobs, workers)):
            trials = study.get_trials(deepcopy=False)
            _tidy(work, trials)
            if self.verbose:
                ahead = (time.monotonic() - started) / (done + 1) * (left - done - 1)
                ahead = ahead if work.deadline is None else min(ahead, work.deadline - time.time())
                tell(f"{_told(trials[number], self.n_trials)}; about {spoken(max(0.0, ahead))} left")

    def _keep(self, study: "Study", work: Work) -> None:
        """Fit the best trial again, from its checkpoint where it has one, and remember the others."""
        trials = begun(study)
        best = _best(trials)
        self.trials_ = _table(trials)
        if best is None:
            reasons = [trial.user_attrs["reason"] for trial in trials if "reason" in trial.user_attrs]
            if not reasons:
                raise OutOfTime(
                    "no trial was finished in time; a further call with the same study goes on, or allow more time."
                )
            raise InvalidOption(f"all {len(reasons)} trials failed; the first one: {reasons[0]}")
        self.best_index_, self.best_params_ = best.number, dict(best.params)
        with limited_to(self.n_jobs):
            fitted = work.candidate(best.number, best.params).fit(work.X, work.y, **work.fit_params)
        own = self.estimator.get_params(deep=False)
        self.best_estimator_ = fitted.set_params(checkpoint_dir=own["checkpoint_dir"], verbose=own["verbose"])
        self.best_score_ = fitted.validation_score_


def _defaults(space: Space, options: Mapping[str, Any]) -> dict[str, Any]:
    """The values that searched options have, where the search could find them."""

    def inside(name: str) -> bool:
        among, value = space[name], options[name]
        if isinstance(among, Range):
            return isinstance(value, int | float) and among.low <= value <= among.high
        return value in among.values

    return {name: options[name] for name in space if inside(name)}


def _data_hash(estimator: SeriesEstimator, X: Any, y: Any, fit_params: Mapping[str, Any]) -> str:
    """Of the series, their target, and what else `fit` is given."""
    import joblib

    series = estimator._to_learn(X, y) if estimator.task_type.needs_target else as_series_set(X)
    return f"{content_hash(series.with_target(None))} {joblib.hash((series.target, dict(fit_params)))}"


def _best(trials: "list[FrozenTrial]") -> "FrozenTrial | None":
    """The completed trial with the lowest loss; the earliest among equals."""
    complete = optuna_library().trial.TrialState.COMPLETE
    ended = [trial for trial in trials if trial.state == complete]
    return min(ended, key=lambda trial: float(trial.value or 0.0), default=None)


def _tidy(work: Work, trials: "list[FrozenTrial]") -> None:
    """Remove the checkpoints of trials that have ended, but for the best so far."""
    best = _best(trials)
    for trial in trials:
        if trial.state.is_finished() and trial is not best:
            shutil.rmtree(work.place(trial.number), ignore_errors=True)


def _told(trial: "FrozenTrial", total: int) -> str:
    options = ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in trial.params.items()
    )
    ends = {
        "COMPLETE": "" if trial.value is None else f"loss {trial.value:.4f}",
        "PRUNED": f"ended early, after {len(trial.intermediate_values)} epochs",
        "FAIL": f"failed: {trial.user_attrs.get('reason')}",
        "RUNNING": "interrupted",
    }
    return f"trial {trial.number + 1} of {total} ({options}): {ends[trial.state.name]}"


STATES = {"COMPLETE": "complete", "PRUNED": "ended early", "FAIL": "failed", "RUNNING": "interrupted"}


def _table(trials: "list[FrozenTrial]") -> "pd.DataFrame":
    import pandas as pd

    rows = [
        {
            "trial": trial.number,
            "state": STATES[trial.state.name],
            "loss": float("nan") if trial.value is None else trial.value,
            **{name: trial.user_attrs.get(name, float("nan")) for name in ("score", "spread", "seconds")},
            "epochs": len(trial.intermediate_values),
            "reason": trial.user_attrs.get("reason", ""),
            **{f"param_{name}": value for name, value in trial.params.items()},
        }
        for trial in trials
    ]
    return pd.DataFrame(rows)
