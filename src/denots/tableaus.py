"""Explicit Runge-Kutta methods as tables: what to evaluate, how to combine, how to interpolate."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Tableau:
    """One method. `error` is the weight difference to the embedded method; None: fixed steps.

    `dense[i]` are the coefficients of theta, theta^2, ... in the weight of stage i, so that
    h(t + theta dt) = h + dt * sum_i w_i(theta) k_i. When the last stage of a step is the first
    stage of the next one (`reuses_last`), a step costs one evaluation less. Of the step that would
    just meet the tolerance the share `safety` is taken: where the signal bends at every knot, an
    estimate says little about the next step, and hope is paid for with rejected attempts.
    """

    order: int
    nodes: tuple[float, ...]
    stages: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    error: tuple[float, ...] | None
    dense: tuple[tuple[float, ...], ...]
    safety: float = 0.9

    @property
    def reuses_last(self) -> bool:
        return (
            len(self.stages) > 1 and self.nodes[-1] == 1.0 and self.stages[-1] == self.weights[: len(self.stages[-1])]
        )


def _hermite(weights: Sequence[float], first: int = 0, last: int = -1) -> tuple[tuple[float, ...], ...]:
    """Cubic dense output from both end slopes and the step itself."""
    rows = np.outer(weights, [0.0, 3.0, -2.0])
    rows[first] += [1.0, -2.0, 1.0]
    rows[last] += [0.0, -1.0, 1.0]
    return tuple(map(tuple, rows.tolist()))


def _roots(lead: float, *factors: Sequence[float]) -> tuple[float, ...]:
    """Coefficients of theta .. theta^4 of a product of polynomials in theta."""
    product = np.array([lead])
    for factor in factors:
        product = np.convolve(product, factor)
    return (*product[1:5].tolist(), *[0.0] * (5 - len(product)))


_DOPRI5_WEIGHTS = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0)
_DOPRI5_MIDDLE = (  # weights of the state half-way through the step (Shampine 1986)
    6025192743 / 60171106304,
    0.0,
    51252292925 / 130801643196,
    -2691868925 / 90256659456,
    187940372067 / 3189068634112,
    -1776094331 / 39487288512,
    11237099 / 470086768,
)


def _dopri5_dense() -> tuple[tuple[float, ...], ...]:
    """The quartic through both ends with their slopes, and through the middle."""
    end, middle = np.array(_DOPRI5_WEIGHTS), np.array(_DOPRI5_MIDDLE)
    rows = np.outer(end, [0.0, -5.0, 14.0, -8.0]) + np.outer(middle, [0.0, 16.0, -32.0, 16.0])
    rows[0] += [1.0, -4.0, 5.0, -2.0]
    rows[6] += [0.0, 1.0, -3.0, 2.0]
    return tuple(map(tuple, rows.tolist()))


DOPRI5 = Tableau(
    order=5,
    nodes=(0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
    stages=(
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        _DOPRI5_WEIGHTS[:6],
    ),
    weights=_DOPRI5_WEIGHTS,
    # The embedded weights end in 1/60, not in Dormand and Prince's 1/40: this is the estimate
    # that the PyTorch solvers of the field use, so evaluation counts compare.
    error=tuple(2 / 3 * e for e in (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)),
    dense=_dopri5_dense(),
)

TSIT5 = Tableau(
    order=5,
    nodes=(0.0, 0.161, 0.327, 0.9, 0.9800255409045097, 1.0, 1.0),
    stages=(
        (),
        (0.161,),
        (-0.008480655492356989, 0.335480655492357),
        (2.8971530571054935, -6.359448489975075, 4.3622954328695815),
        (5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525),
        (5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383),
        (0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081, 2.324710524099774),
    ),
    weights=(
        0.09646076681806523,
        0.01,
        0.4798896504144996,
        1.379008574103742,
        -3.290069515436081,
        2.324710524099774,
        0.0,
    ),
    error=(
        -0.00178001105222577714,
        -0.0008164344596567469,
        0.007880878010261995,
        -0.1447110071732629,
        0.5823571654525552,
        -0.45808210592918697,
        1 / 66,
    ),
    dense=(
        _roots(
            -1.0530884977290216, [0.0, 1.0], [-1.3299890189751412, 1.0], [0.7139816917074209, -1.4364028541716351, 1.0]
        ),
        _roots(0.1017, [0.0, 0.0, 1.0], [1.2949852507374631, -2.1966568338249754, 1.0]),
        _roots(2.490627285651252793, [0.0, 0.0, 1.0], [1.57803468208092486, -2.38535645472061657, 1.0]),
        _roots(-16.54810288924490272, [0.0, 0.0, 1.0], [-1.21712927295533244, 1.0], [-0.61620406037800089, 1.0]),
        _roots(47.37952196281928122, [0.0, 0.0, 1.0], [-1.203071208372362603, 1.0], [-0.658047292653547382, 1.0]),
        _roots(-34.87065786149660974, [0.0, 0.0, 1.0], [-1.2, 1.0], [-0.666666666666666667, 1.0]),
        _roots(2.5, [0.0, 0.0, 1.0], [-1.0, 1.0], [-0.6, 1.0]),
    ),
)

_OWRENZEN4_WEIGHTS = (1697 / 18876, 0.0, 50653 / 116160, 299693 / 1626240, 3375 / 11648, 0.0)

# Owren and Zennaro (1992), with their dense output, the only one of fourth order throughout the step. Their error
# estimate is a third difference of the slopes at 0, 11/37, 11/17 and 13/15: it does not see the last part of a step,
# where a signal may jump. This is the mean of theirs and the same difference with 1 for 13/15.
OWRENZEN4 = Tableau(
    order=4,
    nodes=(0.0, 1 / 6, 11 / 37, 11 / 17, 13 / 15, 1.0),
    stages=(
        (),
        (1 / 6,),
        (44 / 1369, 363 / 1369),
        (3388 / 4913, -8349 / 4913, 8140 / 4913),
        (-36764 / 408375, 767 / 1125, -32708 / 136125, 210392 / 408375),
        _OWRENZEN4_WEIGHTS[:5],
    ),
    weights=_OWRENZEN4_WEIGHTS,
    error=(-553 / 3146, 0.0, 483257 / 1006720, -1666663 / 3252480, 3375 / 23296, 79 / 1248),
    dense=(
        (1.0, -104217 / 37466, 1806901 / 618189, -866577 / 824252),
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 861101 / 230560, -2178079 / 380424, 12308679 / 5072320),
        (0.0, -63869 / 293440, 6244423 / 5325936, -7816583 / 10144640),
        (0.0, -1522125 / 762944, 982125 / 190736, -624375 / 217984),
        (0.0, 165 / 131, -461 / 131, 296 / 131),
    ),
    safety=0.7,
)

BOSH3 = Tableau(
    order=3,
    nodes=(0.0, 1 / 2, 3 / 4, 1.0),
    stages=((), (1 / 2,), (0.0, 3 / 4), (2 / 9, 1 / 3, 4 / 9)),
    weights=(2 / 9, 1 / 3, 4 / 9, 0.0),
    error=(-5 / 72, 1 / 12, 1 / 9, -1 / 8),
    dense=_hermite((2 / 9, 1 / 3, 4 / 9, 0.0)),
)

RK4 = Tableau(
    order=4,
    nodes=(0.0, 1 / 2, 1 / 2, 1.0),
    stages=((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)),
    weights=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
    error=None,
    dense=((1.0, -3 / 2, 2 / 3), (0.0, 1.0, -2 / 3), (0.0, 1.0, -2 / 3), (0.0, -1 / 2, 2 / 3)),
)

EULER = Tableau(order=1, nodes=(0.0,), stages=((),), weights=(1.0,), error=None, dense=((1.0,),))

METHODS = {
    "dopri5": DOPRI5,
    "tsit5": TSIT5,
    "owrenzen4": OWRENZEN4,
    "bosh3": BOSH3,
    "rk4": RK4,
    "euler": EULER,
}
