"""diffrax: the solve of one series, vmapped over the batch and compiled as a whole."""

import time
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.contenders.contender import Contender, Outcome
from benchmarks.contenders.torchode_splines import padded_cubics
from benchmarks.workloads import Workload

# What the automatic first step of the other contenders comes to, for a state of zero.
FIRST_STEP = 1e-4


class Diffrax(Contender):
    """Dopri5 with the default controller, which has the same error estimate and step factors as the
    others; `RecursiveCheckpointAdjoint` with its default number of checkpoints.
    """

    label = "diffrax, jit and vmap"

    def __init__(self, workload: Workload) -> None:
        super().__init__(workload)
        knots, coefficients = padded_cubics(workload)
        value, slope, second, third = (jnp.asarray(c) for c in np.moveaxis(coefficients, 2, 0))
        self.paths = (jnp.asarray(knots), (third, second, slope, value))
        self.ends = jnp.asarray(workload.series.ends * workload.depth, jnp.float32)
        self.weights = {name: jnp.asarray(weight.numpy()) for name, weight in workload.weights.items()}
        self.cotangent = jnp.asarray(workload.cotangent.numpy())
        self.compiled: tuple[Any, Any] | None = None

    def adjoint(self) -> diffrax.AbstractAdjoint:
        return diffrax.RecursiveCheckpointAdjoint()

    def max_steps(self) -> int:
        """diffrax's default, or more where the series are longer."""
        return max(4096, 2 * int(self.workload.series.lengths.max()))

    def compile(self) -> float:
        arguments = (self.weights, self.paths, self.ends, self.cotangent)
        started = time.perf_counter()
        forward = jax.jit(self._solve).lower(*arguments[:3]).compile()
        gradient = jax.jit(jax.value_and_grad(self._loss, has_aux=True)).lower(*arguments).compile()
        self.compiled = forward, gradient
        return time.perf_counter() - started

    def forward(self) -> None:
        jax.block_until_ready(self._programs()[0](self.weights, self.paths, self.ends))

    def forward_and_gradient(self) -> None:
        jax.block_until_ready(self._programs()[1](self.weights, self.paths, self.ends, self.cotangent))

    def outcome(self) -> Outcome:
        (_, (states, steps, accepted)), gradient = self._programs()[1](
            self.weights, self.paths, self.ends, self.cotangent
        )
        return Outcome(
            np.asarray(states, np.float64),
            {name: np.asarray(g, np.float64) for name, g in gradient.items()},
            2 + 6 * np.asarray(steps),
            np.asarray(accepted),
        )

    def _programs(self) -> tuple[Any, Any]:
        if self.compiled is None:
            self.compile()
        assert self.compiled is not None
        return self.compiled

    def _solve(self, weights: Any, paths: Any, ends: Any) -> tuple[Any, Any, Any]:
        """States [n, H], attempted and accepted steps of each series."""
        tolerance = self.workload.tolerance

        def one(knots: Any, coefficients: Any, end: Any) -> tuple[Any, Any, Any]:
            path = diffrax.CubicInterpolation(knots, coefficients)
            solution = diffrax.diffeqsolve(
                diffrax.ODETerm(lambda t, h, _: _gru_slope(weights, path.evaluate(jnp.maximum(t, knots[0])), h)),
                diffrax.Dopri5(),
                t0=0.0,
                t1=end,
                dt0=FIRST_STEP,
                y0=jnp.zeros(self.workload.states, jnp.float32),
                stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
                adjoint=self.adjoint(),
                max_steps=self.max_steps(),
            )
            return solution.ys[0], solution.stats["num_steps"], solution.stats["num_accepted_steps"]

        return jax.vmap(one)(*paths, ends)

    def _loss(self, weights: Any, paths: Any, ends: Any, cotangent: Any) -> tuple[Any, tuple[Any, Any, Any]]:
        found = self._solve(weights, paths, ends)
        return (found[0] * cotangent).sum(), found


class DiffraxTuned(Diffrax):
    """A checkpoint for every step, so that the gradient recomputes nothing; needs the step count beforehand."""

    label = "diffrax, as many checkpoints as steps"

    def __init__(self, workload: Workload) -> None:
        super().__init__(workload)
        plain = Diffrax(workload)
        _, steps, _ = jax.jit(plain._solve)(plain.weights, plain.paths, plain.ends)
        self.steps = int(np.asarray(steps).max())

    def adjoint(self) -> diffrax.AbstractAdjoint:
        return diffrax.RecursiveCheckpointAdjoint(checkpoints=self.steps + 1)

    def max_steps(self) -> int:
        return self.steps + 1


def _gru_slope(weights: Any, x: Any, h: Any) -> Any:
    """A GRU cell shown the mirrored state."""
    u_r, u_z, u_n = jnp.split(weights["weight_ih"] @ x + weights["bias_ih"], 3)
    v_r, v_z, v_n = jnp.split(weights["weight_hh"] @ -h + weights["bias_hh"], 3)
    n = jnp.tanh(u_n + jax.nn.sigmoid(u_r + v_r) * v_n)
    return n - jax.nn.sigmoid(u_z + v_z) * (h + n)
