#include "denots/rows.h"

#include <algorithm>
#include <cmath>

#include "denots/thread_pool.h"

namespace denots {
namespace {

constexpr std::int64_t lanes = 16;

// Sixteen sums side by side, which any compiler can keep in vectors, then those in pairs, then the rest.
template <class Real>
Real dot(const Real* a, const Real* b, std::int64_t size) {
  Real sums[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= size; i += lanes)
    for (std::int64_t k = 0; k < lanes; ++k) sums[k] += a[i + k] * b[i + k];
  for (std::int64_t half = lanes / 2; half > 0; half /= 2)
    for (std::int64_t k = 0; k < half; ++k) sums[k] += sums[k + half];
  for (; i < size; ++i) sums[0] += a[i] * b[i];
  return sums[0];
}

}  // namespace

template <class Real>
void linear_rows(std::int64_t rows, std::int64_t inputs, std::int64_t outputs, const Real* x,
                 const Real* weight, const Real* bias, bool own_bias, Real* found, int threads) {
  constexpr std::int64_t enough = 1 << 18;  // products, for a thread to be worth its start
  const std::int64_t work = rows * std::max<std::int64_t>(1, inputs * outputs);
  const auto helpers = static_cast<int>(std::min<std::int64_t>(threads, 1 + work / enough));
  parallel_blocks(rows, helpers, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row)
      for (std::int64_t g = 0; g < outputs; ++g)
        found[row * outputs + g] =
            dot(x + row * inputs, weight + g * inputs, inputs) + bias[own_bias ? row * outputs + g : g];
  });
}

void softmax_rows(std::int64_t rows, std::int64_t classes, const double* logits, double* shares) {
  for (std::int64_t row = 0; row < rows; ++row, logits += classes, shares += classes) {
    const double top = *std::max_element(logits, logits + classes);
    double total = 0.0;
    for (std::int64_t k = 0; k < classes; ++k) total += shares[k] = std::exp(logits[k] - top);
    for (std::int64_t k = 0; k < classes; ++k) shares[k] /= total;
  }
}

template void linear_rows(std::int64_t, std::int64_t, std::int64_t, const float*, const float*, const float*,
                          bool, float*, int);
template void linear_rows(std::int64_t, std::int64_t, std::int64_t, const double*, const double*,
                          const double*, bool, double*, int);

}  // namespace denots
