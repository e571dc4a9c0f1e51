#include "denots/normal_scores.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "denots/thread_pool.h"

namespace denots {
namespace {

template <std::size_t n>
double polynomial(double x, const double (&coefficients)[n]) {
  double sum = coefficients[0];
  for (std::size_t i = 1; i < n; ++i) sum = sum * x + coefficients[i];
  return sum;
}

constexpr std::int64_t at_once = 64;  // rows, for which the edges of a column stay at hand

// The first edge that is not less than each x. All searches take their steps together, because one alone
// waits for memory at each.
void find_edges(std::int64_t count, const double* x, const double* edges, std::int64_t quantiles,
                const double** found) {
  for (std::int64_t k = 0; k < count; ++k) found[k] = edges;
  for (std::int64_t left = quantiles; left > 1; left -= left / 2) {
    const std::int64_t half = left / 2;
    for (std::int64_t k = 0; k < count; ++k) found[k] += found[k][half - 1] < x[k] ? half : 0;
  }
  for (std::int64_t k = 0; k < count; ++k) found[k] += *found[k] < x[k];
}

double rank(double x, std::int64_t right, std::int64_t count, const double* edges, const double* levels) {
  if (right == count) return levels[count - 1];
  if (edges[right] == x) {
    const std::int64_t last = std::upper_bound(edges + right, edges + count, x) - edges - 1;
    return (levels[last] + levels[right]) / 2;
  }
  if (right == 0) return levels[0];
  const std::int64_t left = right - 1;
  const double slope = (levels[right] - levels[left]) / (edges[right] - edges[left]);
  // From both sides, which is how ties share the middle of their ranks.
  return (slope * (x - edges[left]) + levels[left] - (slope * (edges[right] - x) - levels[right])) / 2;
}

}  // namespace

// Cephes Math Library (Moshier): rational functions in the middle and in the tails.
double normal_quantile(double p) {
  constexpr double p0[] = {-5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1,
                           1.39312609387279679503e1, -1.23916583867381258016e0};
  constexpr double q0[] = {1.0,
                           1.95448858338141759834e0,
                           4.67627912898881538453e0,
                           8.63602421390890590575e1,
                           -2.25462687854119370527e2,
                           2.00260212380060660359e2,
                           -8.20372256168333339912e1,
                           1.59056225126211695515e1,
                           -1.18331621121330003142e0};
  constexpr double p1[] = {
      4.05544892305962419923e0,   3.15251094599893866154e1,   5.71628192246421288162e1,
      4.40805073893200834700e1,   1.46849561928858024014e1,   2.18663306850790267539e0,
      -1.40256079171354495875e-1, -3.50424626827848203418e-2, -8.57456785154685413611e-4};
  constexpr double q1[] = {1.0,
                           1.57799883256466749731e1,
                           4.53907635128879210584e1,
                           4.13172038254672030440e1,
                           1.50425385692907503408e1,
                           2.50464946208309415979e0,
                           -1.42182922854787788574e-1,
                           -3.80806407691578277194e-2,
                           -9.33259480895457427372e-4};
  constexpr double root_two_pi = 2.50662827463100050242e0, tail = 0.13533528323661269189;
  const bool upper = p > 1.0 - tail;
  const double y = upper ? 1.0 - p : p;
  if (y > tail) {
    const double d = y - 0.5, square = d * d;
    return (d + d * (square * polynomial(square, p0) / polynomial(square, q0))) * root_two_pi;
  }
  const double x = std::sqrt(-2.0 * std::log(y)), z = 1.0 / x;
  const double found = (x - std::log(x) / x) - z * polynomial(z, p1) / polynomial(z, q1);
  return upper ? found : -found;
}

void normal_scores(std::int64_t rows, std::int64_t columns, const double* table, std::int64_t quantiles,
                   const double* edges, const double* levels, std::int64_t holes, const std::int64_t* hole,
                   float* scores, int threads) {
  const std::int64_t width = columns + holes, blocks = (rows + at_once - 1) / at_once;
  std::atomic<std::int64_t> next{0};
  run_workers(std::max<std::int64_t>(1, std::min<std::int64_t>(threads, blocks)), [&](std::int64_t) {
    std::int64_t known[at_once];
    double x[at_once];
    const double* edge[at_once];
    for (std::int64_t block = next++; block < blocks; block = next++) {
      const std::int64_t first = block * at_once, last = std::min(first + at_once, rows);
      for (std::int64_t c = 0; c < columns; ++c) {
        const double* const own = edges + c * quantiles;
        std::int64_t count = 0;
        for (std::int64_t row = first; row < last; ++row) {
          x[count] = table[row * columns + c], known[count] = row;
          scores[row * width + c] = 0;
          count += std::isfinite(x[count]);
        }
        find_edges(count, x, own, quantiles, edge);
        for (std::int64_t k = 0; k < count; ++k) x[k] = rank(x[k], edge[k] - own, quantiles, own, levels);
        for (std::int64_t k = 0; k < count; ++k)
          scores[known[k] * width + c] = static_cast<float>(normal_quantile(x[k]));
      }
      for (std::int64_t row = first; row < last; ++row)
        for (std::int64_t k = 0; k < holes; ++k)
          scores[row * width + columns + k] = std::isfinite(table[row * columns + hole[k]]) ? 0.0f : 1.0f;
    }
  });
}

}  // namespace denots
