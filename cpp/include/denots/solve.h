// Integrate dh/dt = f(x(t), h) for many series, each with its own adaptive steps, and pull
// gradients back through the accepted steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "denots/cpu.h"
#include "denots/tape.h"

namespace denots {

// Rows of the input matrix, of the state's own matrix, and of the outer layer where there is one.
struct Rows {
  std::int64_t drive, hidden, outer;
};

enum class Status : std::int64_t { ok = 0, max_steps = 1, step_underflow = 2, not_finite = 3 };

constexpr int max_stages = 7;

// An explicit Runge-Kutta method with an error estimate whose last stage is evaluated at the
// new state, so that it is the first stage of the next step.
struct Method {
  int stages, order, powers;
  const double* nodes;  // [stages]
  const double*
      weights;  // [stages, stages]; row s leads to the input of stage s, the last one to the new state
  const double* error;  // [stages]
  const double* dense;  // [stages, powers]: weight of stage i at fraction u is sum_p dense[i, p] u^(p + 1)
  double safety = 0.9;  // of the step that would just meet the tolerance, the share that is taken
};

// Series i owns the knots begins[i] .. ends[i] of the signal; several may own the same. Query times of a
// series ascend; the answer to query k goes to row positions[i, k] of its states.
template <class Real>
struct Problem {
  const char* field;  // the name of its kernel
  Method method;
  double rtol, atol;
  std::int64_t max_steps;
  std::int64_t series, channels, states, queries, bias_rows;
  std::int64_t knots;
  const std::int64_t *begins, *ends;
  const double* times;                // [knots]
  const Real *values, *slopes;        // [knots, channels]
  const double *start, *stop;         // [series]; a step lands on stop, and on knots where it is said so
  const double* query_times;          // [series, queries]
  const std::int64_t* positions;      // [series, queries]
  const Real* h0;                     // [series, states]
  const Real *weight_hh, *bias_hh;    // [hidden, states], [hidden]
  const Real* weight_in;              // [drive, channels]
  const Real* bias;                   // [bias_rows, drive]; one row serves all series
  const Real *weight_out, *bias_out;  // [outer, states], [outer]
  // Steps land on every knot and begin anew there, with the whole way to the next one: a state at a knot owes
  // nothing to what follows. The signal must not jump.
  bool land_on_knots = false;
};

// What a solve found; all arrays belong to the caller. Failed series get NaN states.
template <class Real>
struct Trajectory {
  Real* states;  // [series, queries, states]
  std::int64_t *status, *evaluations, *accepted, *rejected;
  double* reached;
};

// Gradients of a scalar, given its gradient with respect to the states found.
template <class Real>
struct Gradient {
  const Real* states;  // [series, queries, states]
  const std::int64_t *status, *accepted;
  Real *weight_hh, *bias_hh, *weight_in, *bias, *weight_out, *bias_out, *h0;  // shaped as in Problem
  Real *values, *slopes;  // shaped as in Problem; null where nobody asks for them
};

// The names of all fields that have a kernel, and the rows of one of them.
std::vector<std::string> field_names();
Rows rows_of(const std::string& field, std::int64_t states, std::int64_t channels);

// All throw std::invalid_argument for what cannot be done: a field without a kernel, a target that cannot
// run here, gradients of knots that several series share. These two also throw std::bad_alloc. A null tape
// records nothing; a gradient is pulled back on the target that recorded its tape.
template <class Real>
void solve(const Problem<Real>& problem, const Trajectory<Real>& found, Tape* tape, int threads,
           Target target);

template <class Real>
void pull_back(const Problem<Real>& problem, const Tape& tape, const Gradient<Real>& gradient, int threads);

}  // namespace denots
