"""What a coarse tolerance costs on rough signals."""

import numpy as np


def coarse_error(depth: float = 1.0) -> tuple[float, float]:
    """Largest relative error of the last state at tolerance 1e-3 against 1e-8, and field calls, for random walks of 60 points."""
    import torch

    from denots.data.series import SeriesSet
    from denots.fields import AntiFeedbackGRU
    from denots.ode import solve
    from denots.paths import NaturalCubic

    walks = np.random.default_rng(0).normal(size=(32, 1, 60)).cumsum(axis=2)
    series = SeriesSet.from_numpy(walks / walks.std(), np.linspace(0, 1, 60))
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        field = AntiFeedbackGRU(1, 32).double()
        path = NaturalCubic.fit(series, torch.float64).scale_time(depth)
        loose, tight = (solve(field, path, torch.zeros(32, 32).double(), rtol=tol, atol=tol) for tol in (1e-3, 1e-8))
    errors = (loose.states - tight.states).norm(dim=2) / tight.states.norm(dim=2)
    return float(errors.max()), float(loose.evaluations.double().mean())
