// Attention of the queries of each series to its own rows.
#pragma once

#include <cstdint>

namespace denots {

// Filled from the gradient of what was found, under the names of what they belong to.
template <class Real>
struct AttentionGradient {
  const Real* found;
  Real *queries, *keys, *values;
};

// Series i owns the rows offsets[i] .. offsets[i + 1] of keys and values [rows, size], of which it has at
// least one, and the rows asked[i] .. asked[i + 1] of queries, and of what is found, [questions, size]. Heads
// share the columns in turn. In each,
//   found = sum over rows of drop(softmax(query key / sqrt(size / heads))) value
template <class Real>
struct Attention {
  using Number = Real;
  using Gradient = AttentionGradient<Real>;

  std::int64_t series;
  const std::int64_t *offsets, *asked;
  std::int64_t size, heads;
  const Real *queries, *keys, *values;
  std::uint32_t dropped, seed;  // as in FeedForward
};

}  // namespace denots
