// Integrate dh/dt = f(x(t), h) for many series, each with its own adaptive steps, and pull
// gradients back through the accepted steps.
#pragma once

#include <cstdint>

#include "denots/tape.h"

namespace denots {

enum class Field : int { gru_none = 0, gru_sync = 1, gru_anti = 2, mlp_tanh = 3, mlp_relu = 4, cde = 5 };
constexpr int fields = 6;

// Rows of the input matrix, of the state's own matrix, and of the outer layer where there is one.
struct Rows {
  std::int64_t drive, hidden, outer;

  Rows(Field field, std::int64_t states, std::int64_t channels)
      : drive(field == Field::cde        ? 0
              : field >= Field::mlp_tanh ? states
                                         : 3 * states),
        hidden(field >= Field::mlp_tanh ? states : 3 * states),
        outer(field == Field::cde        ? states * channels
              : field >= Field::mlp_tanh ? states
                                         : 0) {}
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
};

// Series i owns the knots begins[i] .. ends[i] of the signal; several may own the same. Query times of a
// series ascend; the answer to query k goes to row positions[i, k] of its states.
template <class Real>
struct Problem {
  Field field;
  Method method;
  double rtol, atol;
  std::int64_t max_steps;
  std::int64_t series, channels, states, queries, bias_rows;
  std::int64_t knots;
  const std::int64_t *begins, *ends;
  const double* times;                // [knots]
  const Real *values, *slopes;        // [knots, channels]
  const double* start;                // [series]
  const double* query_times;          // [series, queries]
  const std::int64_t* positions;      // [series, queries]
  const Real* h0;                     // [series, states]
  const Real *weight_hh, *bias_hh;    // [hidden, states], [hidden]
  const Real* weight_in;              // [drive, channels]
  const Real* bias;                   // [bias_rows, drive]; one row serves all series
  const Real *weight_out, *bias_out;  // [outer, states], [outer]
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

// Both throw std::bad_alloc, and std::invalid_argument when DENOTS_TARGET names a CPU target
// that is unknown or not supported here. A null tape records nothing.
template <class Real>
void solve(const Problem<Real>& problem, const Trajectory<Real>& found, Tape* tape, int threads);

template <class Real>
void pull_back(const Problem<Real>& problem, const Tape& tape, const Gradient<Real>& gradient, int threads);

}  // namespace denots
