// A gated recurrent unit along the rows of series.
#pragma once

#include <cstdint>

namespace denots {

// Filled from the gradient of what was found, under the names of what they belong to.
template <class Real>
struct GruRowsGradient {
  const Real* found;
  Real *h0, *weight_in, *weight_hh, *bias_in, *bias_hh;
};

// What is found [rows, states] are the states after each row. Rows of series i are offsets[i] .. offsets[i +
// 1] of x [rows, channels]. Gates are ordered r, z, n, as in torch: a state becomes (1 - z) n + z h by
// weight_in [3 states, channels], weight_hh [3 states, states] and their biases.
template <class Real>
struct GruRows {
  using Number = Real;
  using Gradient = GruRowsGradient<Real>;

  std::int64_t series;
  const std::int64_t *offsets, *order;  // series are taken as `order` says: those of like lengths together
  std::int64_t channels, states;
  const Real *x, *h0;  // h0 is [series, states]
  const Real *weight_in, *weight_hh, *bias_in, *bias_hh;
};

}  // namespace denots
