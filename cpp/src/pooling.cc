// Hands series out to threads, for features that are pooled along each of them.
#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "denots/convolutions.h"
#include "denots/oscillators.h"
#include "denots/thread_pool.h"
#include "kernel_of.h"

namespace denots {

#define DENOTS_DECLARE(target)                                                                             \
  namespace target {                                                                                       \
  void pool_oscillators(const Bank&, const Signals&, std::int64_t pieces, bool whole, float*,              \
                        const std::int64_t* order, std::int64_t first, std::int64_t last);                 \
  void pool_convolutions(const Filters&, std::int64_t channels, std::int64_t points, const float*, float*, \
                         std::int64_t first, std::int64_t last);                                           \
  }
DENOTS_DECLARE(baseline)
DENOTS_DECLARE(avx2)
DENOTS_DECLARE(avx512)
#undef DENOTS_DECLARE

namespace {

template <class Work>  // Work(first, last)
void over_series(std::int64_t series, int threads, Work work) {
  constexpr std::int64_t at_once = 16;  // lanes of a vector on any target
  std::atomic<std::int64_t> next{0};
  const std::int64_t workers =
      std::max<std::int64_t>(1, std::min<std::int64_t>(threads, (series + at_once - 1) / at_once));
  run_workers(workers, [&](std::int64_t) {
    for (std::int64_t first = next.fetch_add(at_once); first < series; first = next.fetch_add(at_once))
      work(first, std::min(first + at_once, series));
  });
}

// Values of one series at even times; each channel has `points` numbers.
void sample_one(const Signals& signals, std::int64_t series, std::int64_t points, float* grid) {
  const std::int64_t first = signals.begins[series], last = signals.ends[series] - 1, C = signals.channels;
  const double begin = signals.times[first], span = signals.times[last] - begin;
  std::int64_t knot = first;
  for (std::int64_t i = 0; i < points; ++i) {
    const double at =
        points > 1 ? begin + span * (static_cast<double>(i) / static_cast<double>(points - 1)) : begin;
    while (knot + 1 < last && signals.times[knot + 1] <= at) ++knot;
    const std::int64_t next = std::min(knot + 1, last);
    const double width = signals.times[next] - signals.times[knot];
    const double part = width > 0 ? std::min(1.0, (at - signals.times[knot]) / width) : 1.0;
    const float *const here = signals.values + knot * C, *const there = signals.values + next * C;
    for (std::int64_t c = 0; c < C; ++c)
      grid[c * points + i] = static_cast<float>(here[c] + part * (static_cast<double>(there[c]) - here[c]));
  }
}

}  // namespace

void sample_evenly(const Signals& signals, std::int64_t points, float* grid, int threads) {
  over_series(signals.series, threads, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      sample_one(signals, i, points, grid + i * signals.channels * points);
  });
}

void pool_convolutions(const Filters& filters, std::int64_t series, std::int64_t channels,
                       std::int64_t points, const float* grid, float* shares, int threads, Target target) {
  const auto kernel = DENOTS_KERNEL(target, pool_convolutions);
  over_series(series, threads, [&](std::int64_t first, std::int64_t last) {
    kernel(filters, channels, points, grid, shares, first, last);
  });
}

void pool_oscillators(const Bank& bank, const Signals& signals, std::int64_t pieces, bool whole,
                      float* pooled, int threads, Target target) {
  const auto kernel = DENOTS_KERNEL(target, pool_oscillators);
  // Series of about the same length share a vector.
  std::vector<std::int64_t> order(static_cast<std::size_t>(signals.series));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return signals.ends[a] - signals.begins[a] < signals.ends[b] - signals.begins[b];
  });
  over_series(signals.series, threads, [&](std::int64_t first, std::int64_t last) {
    kernel(bank, signals, pieces, whole, pooled, order.data(), first, last);
  });
}

}  // namespace denots
