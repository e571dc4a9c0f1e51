// Small maps of rows against sums in long double, and trees against a walk by hand.
#include "denots/rows.h"

#include <limits>

#include "check.h"
#include "denots/boosted_trees.h"

namespace denots::check {
namespace {

template <class Real>
void expect_linear(std::uint64_t seed) {
  Random random(seed);
  const std::int64_t rows = random.integer(1, 9), inputs = random.integer(0, 40),
                     outputs = random.integer(1, 4);
  const bool own_bias = random.chance(0.5);
  std::vector<Real> x(rows * inputs), weight(outputs * inputs), bias((own_bias ? rows : 1) * outputs),
      found(rows * outputs), alone(outputs);
  random.fill(x), random.fill(weight), random.fill(bias);
  linear_rows(rows, inputs, outputs, x.data(), weight.data(), bias.data(), own_bias, found.data(), 3);
  for (std::int64_t row = 0; row < rows; ++row) {
    const Real* own = bias.data() + (own_bias ? row * outputs : 0);
    linear_rows(1, inputs, outputs, x.data() + row * inputs, weight.data(), own, false, alone.data(), 1);
    for (std::int64_t g = 0; g < outputs; ++g) {
      long double wanted = own[g];
      for (std::int64_t c = 0; c < inputs; ++c)
        wanted += static_cast<long double>(x[row * inputs + c]) * weight[g * inputs + c];
      expect_near(found[row * outputs + g], wanted, 100 * std::numeric_limits<Real>::epsilon(),
                  "a linear map");
      expect(found[row * outputs + g] == alone[g], "a row has the same bits alone");
    }
  }
}

void expect_shares() {
  const double logits[] = {0.0, 1.0, -2.0, 700.0, 700.0, -700.0};
  double shares[6];
  softmax_rows(2, 3, logits, shares);
  const long double total = 1 + std::exp(1.0L) + std::exp(-2.0L);
  expect_near(shares[0], 1 / total, 1e-15, "the first share");
  expect_near(shares[1], std::exp(1.0L) / total, 1e-15, "the second share");
  expect_near(shares[3], 0.5, 1e-15, "large logits");
  expect(shares[5] == 0.0, "a class that is out of the question");
}

void expect_trees() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  // A tree of two nodes, whose first sends what is missing left and whose second takes zero for missing and
  // sends it right; and a tree that is a leaf.
  const std::int64_t nodes[] = {0, 2, 2}, leaves[] = {0, 3, 4};
  const std::int32_t feature[] = {0, 1}, left[] = {-1, -2}, right[] = {1, -3};
  const double threshold[] = {0.5, 2.0}, value[] = {1.0, 10.0, 100.0, 0.25};
  const std::uint8_t decision[] = {2 | 2 << 2, 1 << 2};
  const BoostedTrees forest{2, 1, nodes, leaves, feature, threshold, decision, left, right, value};
  const double table[] = {nan, 0.0, 0.5, 0.0, 0.6, 1.0, 0.6, 3.0, 0.6, 1e-36, 0.6, nan};
  const double wanted[] = {1.25, 1.25, 10.25, 100.25, 100.25, 100.25};
  for (const int threads : {1, 2}) {
    double sums[6];
    sum_trees(forest, 6, 2, table, sums, threads);
    for (int row = 0; row < 6; ++row) expect_near(sums[row], wanted[row], 0, "the sum over trees");
  }
}

}  // namespace
}  // namespace denots::check

int main() {
  using namespace denots::check;
  for (std::uint64_t seed = 0; seed < 40; ++seed) expect_linear<float>(seed), expect_linear<double>(seed);
  expect_shares();
  expect_trees();
  return verdict("rows_test");
}
