// Series as Gaussian curves: what their rows say of the weights of a few directions, and how likely classes
// are.
#pragma once

#include <cstdint>

#include "denots/cpu.h"

namespace denots {

// A mean and R directions of C channels on an even grid. A series lies on it from `start` to `end`, or where
// these are NaN from its own first row to its last; if that is no time at all, it is `span` long.
struct Curves {
  std::int64_t channels, points, directions;
  const double *mean, *along;    // [C, points], [C, points, R]
  const double *centre, *scale;  // [C]: scores less the centre, by the scale, are what lies on the curves
  double start, end, span;
};

// Packed series; NaN was not observed.
struct Scores {
  std::int64_t series;
  const std::int64_t* offsets;  // rows offsets[i] .. offsets[i + 1] are those of series i
  const double* times;
  const float* values;  // [rows, C]
};

// Sums over the observed values of each series: products of directions [n, R, R], of directions and values
// [n, R], of values [n], and their number [n].
template <class Number>
struct Sums {
  Number *gram, *told, *square, *seen;
};

// Weights that are normal in each class: means [classes, R], covariances L L' with L in factors [classes, R,
// R]. What is observed has noise of this variance besides.
struct Classes {
  std::int64_t classes, directions;
  const double *means, *factors;
  double noise;
};

// All of these tell a series by itself, in an order of summation that nothing else changes.
void sum_evidence(const Curves& curves, const Scores& scores, const Sums<double>& sums, int threads,
                  Target target);

// found [n, classes]: the logarithm of the density of what was observed, but for a term that depends on the
// noise alone; not finite where a covariance is none.
void log_likelihoods(const Classes& classes, std::int64_t series, const Sums<const double>& sums,
                     double* found, int threads, Target target);

// Mean [n, R] and covariance [n, R, R] of the weights of series i, given what was observed, in class of[i].
void posteriors(const Classes& classes, std::int64_t series, const Sums<const double>& sums,
                const std::int64_t* of, double* mean, double* covariance, int threads, Target target);

}  // namespace denots
