#include "denots/boosted_trees.h"

#include <algorithm>
#include <cmath>

#include "denots/thread_pool.h"

namespace denots {
namespace {

constexpr double zero = 1e-35f;  // what is no further from zero is zero
enum Missing { nothing = 0, zeros = 1, nans = 2 };

// Bit 1 of a decision: what is missing goes left. Bits 2 and 3: what counts as missing.
bool goes_left(double x, std::uint8_t decision, double threshold) {
  const int missing = (decision >> 2) & 3;
  if (std::isnan(x) && missing != nans) x = 0.0;
  if ((missing == zeros && std::fabs(x) <= zero) || (missing == nans && std::isnan(x)))
    return (decision & 2) != 0;
  return x <= threshold;
}

template <class Real>
double told(const BoostedTrees& forest, std::int64_t tree, const Real* row) {
  const std::int64_t first = forest.nodes[tree];
  std::int32_t node = forest.nodes[tree + 1] == first ? -1 : 0;
  while (node >= 0) {
    const std::int64_t at = first + node;
    double x = row[forest.feature[at]];
    if (std::fabs(x) <= zero) x = 0.0;
    node = goes_left(x, forest.decision[at], forest.threshold[at]) ? forest.left[at] : forest.right[at];
  }
  return forest.value[forest.leaves[tree] - 1 - node];
}

}  // namespace

template <class Real>
void sum_trees(const BoostedTrees& forest, std::int64_t rows, std::int64_t columns, const Real* table,
               double* sums, int threads) {
  constexpr std::int64_t enough = 1 << 14;  // trees of rows, for a thread to be worth its start
  const auto helpers = static_cast<int>(std::min<std::int64_t>(threads, 1 + rows * forest.trees / enough));
  parallel_blocks(rows, helpers, [=, &forest](std::int64_t begin, std::int64_t end) {
    std::fill(sums + begin * forest.outputs, sums + end * forest.outputs, 0.0);
    // Some rows at a time, so that each tree is fetched once for all of them.
    constexpr std::int64_t block = 64;
    for (std::int64_t first = begin; first < end; first += block)
      for (std::int64_t tree = 0; tree < forest.trees; ++tree)
        for (std::int64_t row = first; row < std::min(first + block, end); ++row)
          sums[row * forest.outputs + tree % forest.outputs] += told(forest, tree, table + row * columns);
  });
}

template void sum_trees(const BoostedTrees&, std::int64_t, std::int64_t, const float*, double*, int);
template void sum_trees(const BoostedTrees&, std::int64_t, std::int64_t, const double*, double*, int);

}  // namespace denots
