// What a Mamba-2 mixer does between its two linear maps, series by series.
#pragma once

#include <cstdint>

namespace denots {

// Filled from the gradient of what was found, under the names of what they belong to.
template <class Real>
struct StateSpaceGradient {
  const Real* found;
  Real *projected, *step, *decay, *kernel, *kernel_bias, *skip, *norm;
};

// Rows of series i are offsets[i] .. offsets[i + 1]. A row of `projected` holds the gate [inner], then x
// [inner], b [state] and c [state], which are smoothed by a causal convolution along the rows of the series
// and a SiLU. Then in each head, with x, b and c of the row,
//   s' = decay s + step x b    y = c s + skip x
// and found = norm (y silu(gate)), scaled so that its mean square is one before `norm`.
template <class Real>
struct StateSpace {
  using Number = Real;
  using Gradient = StateSpaceGradient<Real>;

  std::int64_t series;
  const std::int64_t* offsets;
  std::int64_t inner, state, heads, taps;
  const Real *projected, *step, *decay;  // step and decay are [rows, heads]
  const Real *kernel, *kernel_bias;      // [inner + 2 state, taps], the last tap for the row itself
  const Real *skip, *norm;               // [heads], [inner]
  Real epsilon;

  std::int64_t smoothed() const { return inner + 2 * state; }
  std::int64_t width() const { return inner + smoothed(); }
};

}  // namespace denots
