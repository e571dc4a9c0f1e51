"""How a damped pendulum swings: theta'' = -damping theta' - (g / length) sin theta."""

from dataclasses import dataclass

import numpy as np

from denots.shapes import FloatArray, IntArray

GRAVITY = 9.81  # m / s^2


@dataclass(frozen=True, slots=True)
class Pendulums:
    """n pendulums of mass 1, each described at the time when it is let go."""

    length: FloatArray  # [n] metres
    angle: FloatArray  # [n] radians, 0 = hanging
    velocity: FloatArray  # [n] radians / s
    damping: FloatArray  # [n] 1 / s


def angles_at(pendulums: Pendulums, elapsed: FloatArray, offsets: IntArray, *, steps: int) -> FloatArray:
    """The unwrapped angle at packed times since release [N]; pendulum i owns rows offsets[i]:offsets[i + 1].

    Classical Runge-Kutta of order 4 in equal steps up to the pendulum's own last time, and
    cubic Hermite interpolation between them. The data sets choose `steps` so that angles
    are right to 1e-6; the published data came from a solver at a relative tolerance of 1e-3.
    """
    last = elapsed[offsets[1:] - 1]
    step = np.where(last > 0, last, 1.0) / steps
    angle, velocity = _swing(pendulums, step, steps)
    owner = np.repeat(np.arange(len(step)), np.diff(offsets))
    dt = step[owner]
    knot = np.minimum((elapsed / dt).astype(np.int64), steps - 1)
    s = elapsed / dt - knot
    a0, a1 = angle[knot, owner], angle[knot + 1, owner]
    v0, v1 = velocity[knot, owner] * dt, velocity[knot + 1, owner] * dt
    result: FloatArray = a0 + s * (v0 + s * (3 * (a1 - a0) - 2 * v0 - v1 + s * (2 * (a0 - a1) + v0 + v1)))
    return result


def _swing(pendulums: Pendulums, dt: FloatArray, steps: int) -> tuple[FloatArray, FloatArray]:
    """Angles and velocities on the grid, [steps + 1, n] each."""
    angle = np.empty((steps + 1, len(dt)))
    velocity = np.empty_like(angle)
    angle[0], velocity[0] = pendulums.angle, pendulums.velocity
    brake, pull = -pendulums.damping, GRAVITY / pendulums.length

    def acceleration(a: FloatArray, v: FloatArray) -> FloatArray:
        return brake * v - pull * np.sin(a)

    half, sixth = dt / 2, dt / 6
    for k in range(steps):
        a, v1 = angle[k], velocity[k]
        k1 = acceleration(a, v1)
        v2 = v1 + half * k1
        k2 = acceleration(a + half * v1, v2)
        v3 = v1 + half * k2
        k3 = acceleration(a + half * v2, v3)
        v4 = v1 + dt * k3
        k4 = acceleration(a + dt * v3, v4)
        angle[k + 1] = a + sixth * (v1 + 2 * (v2 + v3) + v4)
        velocity[k + 1] = v1 + sixth * (k1 + 2 * (k2 + k3) + k4)
    return angle, velocity
