"""What all estimators share: the system, the validation split, the search for a depth, answers with their fate."""

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from denots.data.inputs import (
    as_series_set,
    check_row_length,
    column_names,
    is_table,
    match_columns,
    read_target,
    scan_series,
)
from denots.data.ranges import Ranges
from denots.data.reading import Reading
from denots.data.reject import joint_error
from denots.data.remarks import check_magnitudes
from denots.data.schema import TableSchema
from denots.data.series import SeriesSet, target_names
from denots.data.shards import ShardedSet
from denots.errors import InvalidOption, InvalidTarget, SolverWarning
from denots.estimators.answers import Answers, give_answers
from denots.estimators.checkpoints import claim
from denots.estimators.conformal import Calibration, limits
from denots.estimators.from_shards import fit_shards
from denots.estimators.per_series import read_groups, read_weights
from denots.estimators.validation import check_serves, validation_split, weigh_classes
from denots.inference.answering import tell_of_failures, tell_of_unusual
from denots.shapes import BoolArray, FloatArray
from denots.systems import SYSTEMS, Problem, System, TrainedModel
from denots.systems.held_out import standard_error, unseen
from denots.systems.tolerance import eased
from denots.tasks import Part, Scores, Task
from denots.training.progress import Progress, Several, shown

if TYPE_CHECKING:
    import pandas as pd

    from denots.theory.certificate import Certificate

DEPTHS = (1.0, 3.0, 10.0, 30.0)


class SeriesEstimator(BaseEstimator):
    """Any system behind `fit`, `predict` and `save`.

    Args:
        system: a name that `denots systems` lists, or a system itself. "auto" tries several within a budget of
            time (options={"budget": seconds}) and blends them; `leaderboard_` has what each was worth.
        options: of the system, by name, such as {"state_size": 64}. Where a system has a depth,
            "auto" tries several and keeps the one with the best validation metric.
        validation_fraction: share of the series that is held back to choose by.
        random_state: seed of the split, of the initial weights and of the batches.
        checkpoint_dir: a folder in which the run can be resumed after an interruption.
        verbose: show progress on stderr: a bar on a terminal, else a line now and then.
    """

    task_type: ClassVar[type[Task]]

    def __init__(
        self,
        system: str | System = "auto",
        *,
        options: Mapping[str, Any] | None = None,
        validation_fraction: float = 0.15,
        random_state: Any = None,
        checkpoint_dir: str | os.PathLike[str] | None = None,
        verbose: bool = False,
    ) -> None:
        self.system = system
        self.options = options
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.checkpoint_dir = checkpoint_dir
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.three_d_array = True
        return tags

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write a model folder (JSON and safetensors, no pickle) that `denots.load` and `denots predict` read."""
        from denots.estimators.folder import save_estimator

        check_is_fitted(self)
        save_estimator(self, Path(folder))

    def table_schema(self) -> TableSchema:
        """How tables are read: as the one that the model was fitted on, or else by the names of its channels."""
        check_is_fitted(self)
        if self.schema_ is not None:
            return self.schema_
        return TableSchema(
            id="id", time="time", channels=self.channels_, static=self.static_names_, time_unit=self.time_unit_ or None
        )

    @property
    def leaderboard_(self) -> list[dict[str, Any]]:
        """Every system that was tried, with its score on series that it had not seen; empty where one was asked for."""
        check_is_fitted(self)
        return self.fitted_.leaderboard

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the channels; absent where rows of one array were fitted, whose columns are times."""
        if not hasattr(self, "channels_") or self.n_features_in_ != len(self.channels_):
            raise AttributeError("feature_names_in_ is known after fit, and where features are channels")
        return np.array(self.channels_, dtype=object)

    def _chosen(self) -> tuple[System, dict[str, Any]]:
        """The system and the options that were asked for."""
        return SYSTEMS.resolve(self.system), dict(self.options or {})

    def _candidates(self) -> dict[str, System]:
        """What is tried, by name: one system, or the same one at several depths."""
        system, options = self._chosen()
        if options.get("depth") == "auto" and "depth" in system.options:
            del options["depth"]
            return {f"depth-{depth:g}": system.with_options(**options, depth=depth) for depth in DEPTHS}
        chosen = system.with_options(**options)
        if isinstance(chosen.options.get("depth"), str):
            raise InvalidOption(f"depth is a positive number or 'auto'; got {chosen.options['depth']!r}.")
        return {"run": chosen}

    def _fit(
        self,
        series: SeriesSet | ShardedSet,
        *,
        class_weight: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        validation: Any = None,
        callbacks: Sequence[Progress] = (),
    ) -> Self:
        """Learn from series with their target; sets every attribute that prediction needs."""
        if isinstance(series, ShardedSet):
            others = {"sample_weight": sample_weight, "groups": groups, "validation": validation}
            fit_shards(self, series, class_weight=class_weight, callbacks=callbacks, **others)
            return self
        check_magnitudes(series)
        weight, members = self._weights(sample_weight, series), read_groups(groups, len(series))
        task = self.task_type.read(series)
        part = replace(task.pose(series), weight=None if weight is None else torch.from_numpy(weight), groups=members)
        if weight is not None:
            part = part.select(np.flatnonzero(weight.reshape(len(series), -1).any(axis=1)))
        task.check(part)
        seed = int(check_random_state(self.random_state).randint(2**31))
        candidates, folder = self._candidates(), None
        train, val = part, None
        if validation is not None:
            val = self._validation(task, validation, series)
        elif any(system.holds_out for system in candidates.values()):
            train_rows, val_rows = validation_split(task, part, self.validation_fraction, seed)
            train, val = part.select(train_rows), part.select(val_rows)
        task = task.calibrated(train)
        problem = weigh_classes(Problem(task, train, val), class_weight)
        for system in candidates.values():
            check_serves(system, problem, own_validation=validation is not None)
        if self.checkpoint_dir is not None:
            folder = Path(self.checkpoint_dir)
            claim(folder, type(self).__name__, self._identity(), part, None if validation is None else val)
        watcher, found = Several([shown(self.verbose), *callbacks]), {}
        for name, system in candidates.items():
            watcher.stage(name)
            place = None if folder is None else folder / name
            found[name] = system.fit(problem, seed=seed, folder=place, progress=watcher)
        best = max(found, key=lambda name: (found[name].score, -found[name].loss))
        self.system_, self.fitted_, self.task_ = candidates[best], found[best], problem.task
        if isinstance(self.fitted_, TrainedModel) and "predict_tolerance" not in self._chosen()[1]:
            self.fitted_ = eased(self.fitted_, train if val is None else val, seed)
        self.scores_ = {name: fitted.score for name, fitted in found.items()}
        self.channels_, self.static_names_, self.time_unit_ = series.channels, series.static_names, series.time_unit
        self.n_features_in_ = len(series.channels)
        self.schema_, self.ranges_, self.validation_score_ = series.schema, Ranges.of(series), found[best].score
        told = unseen(self.fitted_, problem)
        held = self.fitted_.held_out
        self.validation_size_ = len(train if val is None else val)
        if val is None and held is not None:
            self.validation_size_ = int((~held.flatten(1).isnan().any(dim=1)).sum())
        self.calibration_ = Calibration.of(problem.task, told)
        compared = self.fitted_.compared
        self.validation_spread_ = (
            float("nan")
            if told is None
            else standard_error(problem.task, told[1] if compared is None else compared, told[0].target)
        )
        self._warn_of_failures(len(train))
        return self

    def predict_table(
        self, X: Any, *, strict: bool = False, coverage: float | None = None, groups: str | None = None
    ) -> "pd.DataFrame":
        """Answers as a table: the id of each series, its answer, and a status.

        The status is "ok", what is unusual about the series, or why it has no answer; then its cells are empty.

        Args:
            coverage: adds the set or the interval that holds the truth for such a share of series
                (`denots.estimators.conformal` says what is guaranteed).
            groups: a static feature; the coverage then holds in each group of it.
        """
        import pandas as pd

        reading = self.read(X)
        answers = self._answers(reading, strict=strict)
        columns = self.task_.columns(answers.values)
        if coverage is not None:
            found = self.task_.region_columns(self._region(reading, answers, coverage, groups))
            columns |= {name: pd.Series(column).mask(answers.failed).to_numpy() for name, column in found.items()}
        return pd.DataFrame({self.table_schema().id: answers.ids, **columns, "status": answers.status})

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        *,
        by: Any = None,
        confidence: float | None = 0.95,
        coverage: float | None = None,
    ) -> Scores:
        """All metrics of the task on series with known answers, beside those of the trivial answer.

        Args:
            by: judge groups of series, too: a column of the table X, a static feature, or one value for each
                series. Numbers with many values make quarters.
            confidence: of the intervals, from series that are drawn again and again; None leaves them out.
            coverage: judge the sets or intervals of this coverage, too: how often they hold the truth, and their size.
        """
        from denots.estimators.evaluation import evaluate

        return evaluate(self, X, y, by, confidence, coverage)

    def read(self, X: Any, *, known: bool = False) -> Reading:
        """What can be read of X, in any form that `predict` takes, with channels and static features as fitted.

        Args:
            known: read the target, too, where X is a table that has its columns.
        """
        check_is_fitted(self)
        check_row_length(X, self.n_features_in_, len(self.channels_), type(self).__name__)
        schema = self.table_schema()
        if known and is_table(X) and schema.targets and set(schema.targets) <= column_names(X):
            X = schema.scan(X, target=schema.target)
        reading = X if isinstance(X, Reading) else scan_series(X, schema, len(self.channels_))
        series = match_columns(reading.series, self.channels_, self.static_names_)
        return replace(reading, series=series if self.task_.causal else series.without_row_target())

    def read_known(self, X: Any, y: Any = None) -> SeriesSet:
        """The series of X that can be read, with their known answers as target; y may be left out as in `fit`."""
        reading = self.read(X, known=y is None)
        if y is not None and reading.rejected:
            lost = {bad.id for bad in reading.rejected}
            kept = np.array([name not in lost for name in reading.ids.tolist()])
            y = _rows(y, kept) if len(y) == len(kept) else y
        return self._to_learn(reading.series, y)

    def certify(self, X: Any = None) -> "Certificate":
        """What can be proved of a model of system "denots", and what is measured along these series.

        Everything else is refused as NotCertifiable, with the reason. Without X, what is proved holds for any signal.
        """
        from denots.theory.certificate import certify

        check_is_fitted(self)
        if X is None:
            return certify(self.fitted_)
        reading = self.read(X)
        if reading.rejected:
            raise joint_error(list(reading.rejected))
        return certify(self.fitted_, reading.series)

    def _identity(self) -> dict[str, Any]:
        """The options that make a run another run."""
        system, options = self._chosen()
        kept = dict(options)
        if {**system.options, **options}.get("schedule") == "constant":
            kept.pop("max_epochs", None)  # a run may go on for longer
        return {"system": system.name, **kept, "split": self.validation_fraction, "seed": self.random_state}

    def _warn_of_failures(self, n: int) -> None:
        if self.fitted_.failures:
            warnings.warn(
                f"in its best epoch, training could not integrate a series {self.fitted_.failures} times; it has {n} "
                "series, each drawn several times an epoch. Lower depth, or use field 'anti'.",
                SolverWarning,
                stacklevel=4,
            )

    def _to_learn(self, X: Any, y: Any) -> Any:
        """Series with their target; every one that cannot be read is named."""
        if isinstance(X, ShardedSet) and y is None:
            return X
        series = as_series_set(X)
        target, names = (series.target, series.target_names) if y is None else (read_target(y), target_names(y))
        if target is None:
            raise InvalidTarget(
                "this estimator requires y to be passed, but the target y is None; give y, or a SeriesSet with a target."
            )
        if len(target) != len(series):
            raise InvalidTarget(f"{len(target)} targets for {len(series)} series; give one each.")
        return replace(series, target=target, target_names=names)

    def _weights(self, given: Any, series: SeriesSet) -> FloatArray | None:
        """How much each series counts; None where all count alike."""
        return read_weights(given, len(series))

    def _validation(self, task: Task, validation: Any, train: SeriesSet) -> Part:
        """What is chosen by, where it is given."""
        return task.pose(self._to_validate(validation, train))

    def _to_validate(self, validation: Any, train: SeriesSet) -> SeriesSet:
        """Series to choose by: a pair of series and target, or a SeriesSet with its target."""
        X, y = validation if isinstance(validation, tuple) else (validation, None)
        return match_columns(self._to_learn(X, y), train.channels, train.static_names)

    def _region(
        self, reading: Reading, answers: Answers, coverage: float, groups: str | None, at: FloatArray | None = None
    ) -> np.ndarray:
        """The set or interval around each answer."""
        return self.task_.region(answers.values, limits(self, reading, coverage, groups, at))

    def _answers(self, X: Any, at: FloatArray | None = None, *, strict: bool = False) -> Answers:
        """Outputs and answers for each series of X; series without one are named in a warning."""
        reading = self.read(X)
        answers = give_answers(self.fitted_, self.ranges_, reading, at)
        tell_of_failures(answers.ids, answers.status, answers.failed, strict)
        tell_of_unusual(answers.ids, answers.status)
        return answers


def _rows(y: Any, kept: BoolArray) -> Any:
    """Some of the answers; a table stays one, because its columns name them."""
    return y.loc[kept] if hasattr(y, "loc") else np.asarray(y)[kept]
