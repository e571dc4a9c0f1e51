"""The adaptive loop in plain PyTorch, written to be read; the oracle for the native kernels.

Every series has its own time, step size and fate. A round advances the rows that are still
under way; finished and failed rows cost nothing and influence nobody. Steps land on the end of the
observations and on no other time: what is asked inside a step is read off its dense output, so that
no question changes the answer to another. Gradients are those of the accepted steps, with step sizes
as constants.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from denots.fields.field import AffineInputField, VectorField
from denots.ode.controller import SHRINK, first_step, scaled_error, step_ratio
from denots.ode.input_map import InputMap
from denots.ode.runge_kutta import combine, interpolate, step
from denots.ode.solution import Solution, Status
from denots.paths.path import Path
from denots.tableaus import Tableau


@dataclass(kw_only=True, eq=False)
class ReferenceRun:
    """One solve and its changing state: one entry a series in every tensor."""

    field: VectorField
    path: Path
    h: Tensor  # the initial states, then the current ones
    queries: Tensor
    table: Tableau
    rtol: float
    atol: float
    max_steps: int
    fixed_step: float | None
    input_map: InputMap | None
    land_on_knots: bool

    def __post_init__(self) -> None:
        n = len(self.h)
        self.t, self.last_query = self.path.t0.clone(), self.queries.amax(dim=1)
        self.stop = self._landing(torch.arange(n)) if self.land_on_knots else self.path.t1
        self.k, self.dt = torch.zeros_like(self.h), torch.zeros_like(self.t)
        self.status = torch.full((n,), Status.OK, dtype=torch.int64)
        self.evaluations, self.accepted, self.rejected = (torch.zeros(n, dtype=torch.int64) for _ in range(3))
        self.running = self.t < self.last_query
        self.found: list[tuple[Tensor, Tensor, Tensor]] = []  # (series, query, state) of each answered query

    def solve(self) -> Solution:
        self._start()
        while self.running.any():
            self._round(self.running.nonzero().flatten())
        return Solution(
            states=self._states(),
            status=self.status,
            evaluations=self.evaluations,
            accepted=self.accepted,
            rejected=self.rejected,
            reached=self.t,
            backend="reference",
        )

    def _slope(self, rows: Tensor, t: Tensor, h: Tensor) -> Tensor:
        # Before the stop rounding must not lead beyond it, where the path is held.
        t = torch.where(self.t[rows] < self.stop[rows], torch.minimum(t, self.stop[rows]), t)
        x = (self.path.value if self.field.reads == "value" else self.path.derivative)(t, rows)
        self.evaluations[rows] += 1
        if self.input_map is not None and isinstance(self.field, AffineInputField):
            return self.field.slope(self.input_map(x, rows), h)
        return self.field(t, x, h)

    def _start(self) -> None:
        """First slopes and first step sizes; a series that is not finite here fails here."""
        self._answer_queries_at_start()
        self._fail(torch.arange(len(self.h)), ~torch.isfinite(self.h).all(dim=1), Status.NOT_FINITE)
        rows = self.running.nonzero().flatten()
        if not len(rows):
            return
        k = self._slope(rows, self.t[rows], self.h[rows])
        finite = torch.isfinite(k).all(dim=1)
        self._fail(rows, ~finite, Status.NOT_FINITE)
        rows, k = rows[finite], k[finite]
        self.k = self.k.index_copy(0, rows, k)
        if self.fixed_step is not None:
            self.dt[rows] = self.fixed_step
        elif len(rows):
            with torch.no_grad():
                t, h = self.t[rows], self.h[rows]
                self.dt[rows] = first_step(
                    lambda t, h: self._slope(rows, t, h), t, h, k, self.table.order, self.rtol, self.atol
                )
        if self.land_on_knots:
            self._begin_leg(rows)

    def _round(self, rows: Tensor) -> None:
        """One attempted step of each of `rows`."""
        t, dt, remaining = self.t[rows], self.dt[rows], self.stop[rows] - self.t[rows]
        lands = (remaining > 0) & (dt >= remaining)
        dt = torch.where(lands, remaining, dt)
        reach = torch.where(lands, self.stop[rows], t + dt)
        h_new, slopes, error = self._attempt(rows, t, dt)
        finite = torch.isfinite(error)
        if not finite.all():
            # Autograd multiplies a zero gradient with an infinite derivative to NaN, which would
            # reach the weights and thus every other series: these rows must leave the graph.
            self._reject(rows[~finite], dt[~finite], SHRINK, Status.NOT_FINITE)
            rows, t, dt, reach = rows[finite], t[finite], dt[finite], reach[finite]
            if not len(rows):
                return
            self.evaluations[rows] -= len(slopes) - 1
            h_new, slopes, error = self._attempt(rows, t, dt)
        accept = error < 1.0
        ratio = torch.ones_like(dt)
        if self.table.error is not None:
            ratio = step_ratio(error, self.table.order, self.table.safety)
        self._accept(rows[accept], t[accept], dt[accept], reach[accept], h_new[accept], [k[accept] for k in slopes])
        planned = self.dt[rows]  # a step cut short at the stop does not shorten the one after it
        following = torch.where(dt < planned, torch.maximum(dt * ratio, planned), dt * ratio)
        self.dt[rows[accept]] = following[accept]
        if self.land_on_knots:
            self._begin_leg(rows[accept & (reach == self.stop[rows])])
        self._reject(rows[~accept], dt[~accept], ratio[~accept], Status.STEP_UNDERFLOW)

    def _attempt(self, rows: Tensor, t: Tensor, dt: Tensor) -> tuple[Tensor, list[Tensor], Tensor]:
        h, k = self.h[rows], self.k[rows]
        h_new, slopes = step(self.table, lambda t, h: self._slope(rows, t, h), t, dt, h, k)
        with torch.no_grad():
            error = torch.zeros_like(h_new[:, 0])
            if self.table.error is not None:
                estimate = dt.to(h.dtype)[:, None] * combine(self.table.error, slopes)
                error = scaled_error(estimate, h, h_new, self.rtol, self.atol)
            # An infinite state makes the tolerance infinite, too, and would pass for exact.
            error = torch.where(torch.isfinite(h_new).all(dim=1), error, torch.nan)
        return h_new, slopes, error

    def _accept(self, rows: Tensor, t: Tensor, dt: Tensor, reach: Tensor, h_new: Tensor, slopes: list[Tensor]) -> None:
        if not len(rows):
            return
        self._answer_queries(rows, t, dt, reach, h_new, slopes)
        self.h = self.h.index_copy(0, rows, h_new)
        self.t[rows] = reach
        self.accepted[rows] += 1
        self.running[rows] = reach < self.last_query[rows]
        on = rows[self.running[rows]]
        if self.table.reuses_last:
            self.k = self.k.index_copy(0, rows, slopes[-1])
        elif len(on):
            self.k = self.k.index_copy(0, on, self._slope(on, self.t[on], self.h[on]))
        self._fail(on, self.accepted[on] + self.rejected[on] >= self.max_steps, Status.MAX_STEPS)

    def _landing(self, rows: Tensor) -> Tensor:
        """The next knot of each series, or the end of its path."""
        after = self.path.next_knot(self.t[rows], rows)
        return torch.where(after.isinf(), self.path.t1[rows], after)

    def _begin_leg(self, rows: Tensor) -> None:
        """Try the whole way to the next knot at once; steps of a fixed size keep it."""
        self.stop[rows] = self._landing(rows)
        ahead = self.stop[rows] - self.t[rows]
        if self.fixed_step is None:
            self.dt[rows] = torch.where(ahead > 0, ahead, self.dt[rows])

    def _reject(self, rows: Tensor, dt: Tensor, ratio: Tensor | float, reason: Status) -> None:
        self.rejected[rows] += 1
        self.dt[rows] = dt * ratio
        t, stop = self.t[rows], self.stop[rows]
        stuck = t + self.dt[rows] <= t + 1e-15 * torch.where(t < stop, stop, t).abs()
        if self.table.error is None:
            stuck = torch.ones_like(stuck)
        self._fail(rows, stuck, reason)
        self._fail(rows, ~stuck & (self.accepted[rows] + self.rejected[rows] >= self.max_steps), Status.MAX_STEPS)

    def _fail(self, rows: Tensor, which: Tensor, reason: Status) -> None:
        self.status[rows[which]] = reason
        self.running[rows[which]] = False

    def _answer_queries_at_start(self) -> None:
        row, query = (self.queries <= self.t[:, None]).nonzero(as_tuple=True)
        self.found.append((row, query, self.h[row]))

    def _answer_queries(
        self, rows: Tensor, t: Tensor, dt: Tensor, reach: Tensor, h_new: Tensor, slopes: list[Tensor]
    ) -> None:
        """Queries inside this step are read off its dense output; those at its end are the new state."""
        asked = self.queries[rows]
        local, query = (asked == reach[:, None]).nonzero(as_tuple=True)
        self.found.append((rows[local], query, h_new[local]))
        local, query = ((asked > t[:, None]) & (asked < reach[:, None])).nonzero(as_tuple=True)
        if len(local):
            theta = (asked[local, query] - t[local]) / dt[local]
            state = interpolate(self.table, self.h[rows][local], dt[local], [k[local] for k in slopes], theta)
            self.found.append((rows[local], query, state))

    def _states(self) -> Tensor:
        """Scatter the answers; whatever a failed series found is replaced by NaN without gradient."""
        series, query = (torch.cat([part[i] for part in self.found]) for i in (0, 1))
        answers = torch.cat([part[2] for part in self.found])
        good = self.status[series] == Status.OK
        states = self.h.new_full((*self.queries.shape, self.h.shape[1]), torch.nan)
        return states.index_put((series[good], query[good]), answers[good])
