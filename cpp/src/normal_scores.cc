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

constexpr std::int64_t at_once = 128;  // rows, for which the edges of a column stay at hand

// The first edge that is not less than each x, or with `beyond` that is greater. All searches take their
// steps together, because one alone waits for memory at each.
template <bool beyond>
void find_edges(std::int64_t count, const double* x, const double* edges, std::int64_t quantiles,
                const double** found) {
  const auto passed = [](double edge, double it) { return beyond ? edge <= it : edge < it; };
  for (std::int64_t k = 0; k < count; ++k) found[k] = edges;
  for (std::int64_t left = quantiles; left > 1; left -= left / 2) {
    const std::int64_t half = left / 2;
    for (std::int64_t k = 0; k < count; ++k) found[k] += passed(found[k][half - 1], x[k]) ? half : 0;
  }
  for (std::int64_t k = 0; k < count; ++k) found[k] += passed(*found[k], x[k]);
}

double between(double x, std::int64_t right, std::int64_t count, const double* edges, const double* levels) {
  if (right == count) return levels[count - 1];
  if (right == 0) return levels[0];
  const std::int64_t left = right - 1;
  const double slope = (levels[right] - levels[left]) / (edges[right] - edges[left]);
  // From both sides, which is how ties share the middle of their ranks.
  return (slope * (x - edges[left]) + levels[left] - (slope * (edges[right] - x) - levels[right])) / 2;
}

// Each x becomes its rank. Those that meet edges are looked up by themselves: most of a column do, or none.
void rank(std::int64_t count, double* x, std::int64_t quantiles, const double* edges, const double* levels) {
  const double *first[at_once], *last[at_once];
  double met[at_once];
  std::int64_t tied[at_once], ties = 0;
  find_edges<false>(count, x, edges, quantiles, first);
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t right = first[k] - edges;
    tied[ties] = k, met[ties] = x[k];
    if (right < quantiles && *first[k] == x[k])
      ++ties;
    else
      x[k] = between(x[k], right, quantiles, edges, levels);
  }
  if (ties == 0) return;
  find_edges<true>(ties, met, edges, quantiles, last);
  for (std::int64_t k = 0; k < ties; ++k)
    x[tied[k]] = (levels[last[k] - edges - 1] + levels[first[tied[k]] - edges]) / 2;
}

}  // namespace

// Cephes Math Library (Moshier): rational functions in the middle and in the tails.
namespace {

constexpr double tail = 0.13533528323661269189;

double quantile_in_middle(double p) {
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
  constexpr double root_two_pi = 2.50662827463100050242e0;
  const double d = p - 0.5, square = d * d;
  return (d + d * (square * polynomial(square, p0) / polynomial(square, q0))) * root_two_pi;
}

// The size of the quantile of y, a share at either end.
double quantile_in_tail(double y) {
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
  const double x = std::sqrt(-2.0 * std::log(y)), z = 1.0 / x;
  return (x - std::log(x) / x) - z * polynomial(z, p1) / polynomial(z, q1);
}

// Each share becomes its quantile; the tails by themselves, because nothing tells beforehand which they are.
void to_quantiles(std::int64_t count, double* p) {
  std::int64_t tails[at_once], found = 0;
  double share[at_once];
  for (std::int64_t k = 0; k < count; ++k) {
    tails[found] = k, share[found] = p[k];
    found += !(p[k] > tail) || p[k] > 1.0 - tail;
  }
  for (std::int64_t k = 0; k < count; ++k) p[k] = quantile_in_middle(p[k]);
  for (std::int64_t k = 0; k < found; ++k)
    p[tails[k]] = share[k] > 0.5 ? quantile_in_tail(1.0 - share[k]) : -quantile_in_tail(share[k]);
}

}  // namespace

double normal_quantile(double p) {
  to_quantiles(1, &p);
  return p;
}

void normal_scores(std::int64_t rows, std::int64_t columns, const double* table, std::int64_t quantiles,
                   const double* edges, const double* levels, std::int64_t holes, const std::int64_t* hole,
                   float* scores, int threads) {
  const std::int64_t width = columns + holes, blocks = (rows + at_once - 1) / at_once;
  std::atomic<std::int64_t> next{0};
  run_workers(std::max<std::int64_t>(1, std::min<std::int64_t>(threads, blocks)), [&](std::int64_t) {
    std::int64_t known[at_once];
    double x[at_once];
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
        rank(count, x, quantiles, own, levels);
        to_quantiles(count, x);
        for (std::int64_t k = 0; k < count; ++k) scores[known[k] * width + c] = static_cast<float>(x[k]);
      }
      for (std::int64_t row = first; row < last; ++row)
        for (std::int64_t k = 0; k < holes; ++k)
          scores[row * width + columns + k] = std::isfinite(table[row * columns + hole[k]]) ? 0.0f : 1.0f;
    }
  });
}

}  // namespace denots
