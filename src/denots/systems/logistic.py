"""Statistics of each channel and a multinomial logistic regression on top: what clinicians use."""

import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from denots.features import NormalScores
from denots.heads.logistic import fit_logistic
from denots.heads.ridge import Ridge
from denots.inference.linear_model import table_of
from denots.systems.linear import Linear, LinearModel, judged
from denots.systems.system import Problem, Shape
from denots.tasks import Task
from denots.training.progress import Progress


@dataclass(frozen=True)
class Logistic(Linear):
    """Answers with classes, once a series; the penalty is chosen by what is held back."""

    holds_out, weighs = True, False

    def serves(self, task: type[Task]) -> bool:
        return task.learns == "classes" and super().serves(task)

    def fit(
        self,
        problem: Problem,
        *,
        seed: int,
        folder: Path | None = None,
        progress: Progress | bool = False,
        deadline: float | None = None,
    ) -> LinearModel:
        started = time.perf_counter()
        task, train, val = problem.task, problem.train, problem.held_back(self.name)
        self.check(task, Shape.of(train.series))
        features = self.config.build(len(train), seed).fit(train.series)
        static = None if train.series.static is None else NormalScores().fit(train.series.static)
        weight, bias = fit_logistic(
            table_of(features, static, train.series),
            train.target.numpy(),
            table_of(features, static, val.series),
            val.target.numpy(),
            classes=max(2, task.outputs),
        )
        model = LinearModel(
            task=task,
            parameters=weight.size + bias.size,
            features=features,
            static=static,
            ridge=Ridge(weight.astype(np.float32), bias.astype(np.float32), np.zeros((0, task.outputs))),
            factor=1.0,
            shift=np.zeros(task.outputs),
        )
        return replace(judged(model, problem), seconds=time.perf_counter() - started)
