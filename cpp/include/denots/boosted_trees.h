// Gradient-boosted trees, read as LightGBM reads its own and summed in the order in which it does.
#pragma once

#include <cstdint>

namespace denots {

// Nodes and leaves of all trees, laid end to end: tree t owns nodes nodes[t] .. nodes[t + 1] and leaves
// leaves[t] .. leaves[t + 1], one more. A child counts from the first node of its tree; below zero it is the
// leaf -1 - child. Tree t adds to output t % outputs.
struct BoostedTrees {
  std::int64_t trees, outputs;
  const std::int64_t *nodes, *leaves;
  const std::int32_t* feature;
  const double* threshold;
  const std::uint8_t* decision;  // as LightGBM writes it; see boosted_trees.cc
  const std::int32_t *left, *right;
  const double* value;
};

// Whether a node asks for a category, which these trees do not know.
inline bool asks_category(std::uint8_t decision) { return decision & 1; }

// sums [rows, outputs] of what every tree says of table [rows, columns].
template <class Real>
void sum_trees(const BoostedTrees& forest, std::int64_t rows, std::int64_t columns, const Real* table,
               double* sums, int threads);

}  // namespace denots
