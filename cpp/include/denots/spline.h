// Fit a piecewise cubic through the observed values of every channel of every series.
#pragma once

#include <cstdint>
#include <vector>

namespace denots {

enum class Spline : int { natural_cubic = 0, causal_hermite = 1, linear = 2 };

// times [N] and values [N, C] hold the observations of all series end to end, NaN where a
// channel was not observed; series i owns rows offsets[i] .. offsets[i + 1].
//
// Filled for each row and channel: the value of the curve, and its slope just before and
// just after that time. The two slopes differ only where the curve has a kink: at the knots
// of a linear curve, and where a channel starts or stops being held. Null slopes are not told; `value` may be
// `values`.
template <class Real>
void fit_splines(Spline kind, std::int64_t series, std::int64_t channels, const std::int64_t* offsets,
                 const double* times, const Real* observed, Real* value, Real* slope_before,
                 Real* slope_after, int threads);

// The observed knots of one channel of one series, and what the curve does there.
struct SplineKnots {
  std::vector<std::int64_t> row;
  std::vector<double> time, value, slope, pivot;

  void clear() { row.clear(), time.clear(), value.clear(); }
  std::int64_t size() const { return static_cast<std::int64_t>(row.size()); }
  double width(std::int64_t j) const { return time[j + 1] - time[j]; }
  double secant(std::int64_t j) const { return (value[j + 1] - value[j]) / width(j); }
};

// The same for one channel of one series, whose numbers lie `stride` apart; `memory` is used again.
template <class Real>
void fit_spline(Spline kind, std::int64_t length, std::int64_t stride, const double* times,
                const Real* observed, Real* value, Real* slope_before, Real* slope_after,
                SplineKnots& memory);

}  // namespace denots
