// Hands series out to threads.
#include "denots/gaussian_curves.h"

#include <algorithm>

#include "denots/thread_pool.h"
#include "kernel_of.h"

namespace denots {

#define DENOTS_DECLARE(target)                                                                       \
  namespace target {                                                                                 \
  void sum_evidence(const Curves&, const Scores&, const Sums<double>&, std::int64_t first,           \
                    std::int64_t last);                                                              \
  void log_likelihoods(const Classes&, const Sums<const double>&, double* found, std::int64_t first, \
                       std::int64_t last);                                                           \
  void posteriors(const Classes&, const Sums<const double>&, const std::int64_t* of, double* mean,   \
                  double* covariance, std::int64_t first, std::int64_t last);                        \
  }
DENOTS_DECLARE(baseline)
DENOTS_DECLARE(avx2)
DENOTS_DECLARE(avx512)
#undef DENOTS_DECLARE

namespace {

template <class Work>  // Work(first, last)
void over_series(std::int64_t series, int threads, Work work) {
  constexpr std::int64_t enough = 16;  // series, for a thread to be worth its tables
  parallel_blocks(series, static_cast<int>(std::min<std::int64_t>(threads, 1 + series / enough)), work);
}

}  // namespace

void sum_evidence(const Curves& curves, const Scores& scores, const Sums<double>& sums, int threads,
                  Target target) {
  const auto kernel = DENOTS_KERNEL(target, sum_evidence);
  over_series(scores.series, threads,
              [&](std::int64_t first, std::int64_t last) { kernel(curves, scores, sums, first, last); });
}

void log_likelihoods(const Classes& classes, std::int64_t series, const Sums<const double>& sums,
                     double* found, int threads, Target target) {
  const auto kernel = DENOTS_KERNEL(target, log_likelihoods);
  over_series(series, threads,
              [&](std::int64_t first, std::int64_t last) { kernel(classes, sums, found, first, last); });
}

void posteriors(const Classes& classes, std::int64_t series, const Sums<const double>& sums,
                const std::int64_t* of, double* mean, double* covariance, int threads, Target target) {
  const auto kernel = DENOTS_KERNEL(target, posteriors);
  over_series(series, threads, [&](std::int64_t first, std::int64_t last) {
    kernel(classes, sums, of, mean, covariance, first, last);
  });
}

}  // namespace denots
