// Fit a piecewise cubic through the observed values of every channel of every series.
#pragma once

#include <cstdint>

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

}  // namespace denots
