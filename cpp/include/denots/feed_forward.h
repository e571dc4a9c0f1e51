// The two maps of a Transformer layer around a GELU, row by row, with dropout between them.
#pragma once

#include <cstdint>

namespace denots {

// Filled from that of y, under the names of what they belong to.
template <class Real>
struct FeedForwardGradient {
  const Real* y;
  Real *x, *inner, *inner_bias, *outer;
};

// y = outer drop(gelu(inner x + inner_bias)) for rows x [rows, size]; inner is [width, size] and
// outer [size, width].
template <class Real>
struct FeedForward {
  using Number = Real;
  using Gradient = FeedForwardGradient<Real>;

  std::int64_t rows, size, width;
  const Real *x, *inner, *inner_bias, *outer;
  // Of 65536 hidden numbers so many are dropped, and the others grow to make up for them. Which ones follows
  // from the seed and from where a number stands, so that the way back drops the same.
  std::uint32_t dropped, seed;
};

}  // namespace denots
