#include "denots/spline.h"

#include <cmath>
#include <vector>

#include "denots/thread_pool.h"

namespace denots {
namespace {

using Knots = SplineKnots;

// Slopes k of the natural cubic: continuity of the second derivative at inner knots, zero
// second derivative at both ends. Row j of the tridiagonal system, with w = 1 / width:
//   w[j-1] k[j-1] + 2 (w[j-1] + w[j]) k[j] + w[j] k[j+1] = 3 (w[j-1] s[j-1] + w[j] s[j]).
// The matrix is diagonally dominant, so elimination without pivoting is stable.
void natural_slopes(Knots& knots) {
  const std::int64_t last = knots.size() - 1;
  knots.pivot.resize(knots.row.size());
  double weight = 1.0 / knots.width(0), load = 3.0 * weight * knots.secant(0);
  knots.pivot[0] = 2.0 * weight;
  knots.slope[0] = load;
  for (std::int64_t j = 1; j <= last; ++j) {
    const double next = j < last ? 1.0 / knots.width(j) : 0.0;
    const double next_load = j < last ? 3.0 * next * knots.secant(j) : 0.0;
    const double ratio = weight / knots.pivot[j - 1];
    knots.pivot[j] = 2.0 * (weight + next) - ratio * weight;
    knots.slope[j] = load + next_load - ratio * knots.slope[j - 1];
    weight = next, load = next_load;
  }
  knots.slope[last] /= knots.pivot[last];
  for (std::int64_t j = last - 1; j >= 0; --j)
    knots.slope[j] = (knots.slope[j] - knots.slope[j + 1] / knots.width(j)) / knots.pivot[j];
}

// Each knot has the slope of the step that led to it; the first one has only the step that follows.
void backward_slopes(Knots& knots) {
  knots.slope[0] = knots.secant(0);
  for (std::int64_t j = 1; j < knots.size(); ++j) knots.slope[j] = knots.secant(j - 1);
}

template <class Real>
class Curve {
 public:
  Curve(std::int64_t stride, Real* value, Real* before, Real* after)
      : stride_(stride), value_(value), before_(before), after_(after) {}

  void set(std::int64_t row, double value, double before, double after) {
    value_[row * stride_] = static_cast<Real>(value);
    before_[row * stride_] = static_cast<Real>(before);
    after_[row * stride_] = static_cast<Real>(after);
  }

 private:
  std::int64_t stride_;
  Real *value_, *before_, *after_;
};

template <class Real>
class Values {
 public:
  Values(std::int64_t stride, Real* value) : stride_(stride), value_(value) {}

  void set(std::int64_t row, double value, double, double) {
    value_[row * stride_] = static_cast<Real>(value);
  }

 private:
  std::int64_t stride_;
  Real* value_;
};

// Straight lines through the observed values of one channel, without slopes: what `fit_channel` tells of it.
template <class Real>
void fill_channel(std::int64_t length, std::int64_t stride, const double* times, const Real* observed,
                  Real* value) {
  std::int64_t seen = -1;  // the last observed row so far
  for (std::int64_t row = 0; row < length; ++row) {
    const Real here = observed[row * stride];
    if (std::isnan(here)) continue;
    if (seen < 0) {
      for (std::int64_t before = 0; before < row; ++before) value[before * stride] = here;
    } else if (row - seen > 1) {
      const double from = static_cast<double>(value[seen * stride]), time = times[seen],
                   width = times[row] - time, rise = static_cast<double>(here) - from;
      const double bent = rise / width * width - rise;  // nothing but rounding, as in a cubic
      for (std::int64_t hole = seen + 1; hole < row; ++hole) {
        const double u = (times[hole] - time) / width;
        value[hole * stride] = static_cast<Real>(from + u * (rise + (1 - u) * (bent * (1 - u) - bent * u)));
      }
    }
    value[row * stride] = here, seen = row;
  }
  const Real last = seen < 0 ? Real(0) : value[seen * stride];
  for (std::int64_t row = seen + 1; row < length; ++row) value[row * stride] = last;
}

// Rows inside a hole take the value and slope of the cubic that spans it, which reproduces
// that cubic exactly: all channels of a series can then share one grid.
template <class Filled>
void fill_hole(const Knots& knots, std::int64_t j, double left, double right, const double* times,
               Filled& curve) {
  const double width = knots.width(j), rise = knots.value[j + 1] - knots.value[j];
  for (std::int64_t row = knots.row[j] + 1; row < knots.row[j + 1]; ++row) {
    const double u = (times[row] - knots.time[j]) / width;
    const double at_left = left * width - rise, at_right = rise - right * width;
    const double value = knots.value[j] + u * (rise + (1 - u) * (at_left * (1 - u) + at_right * u));
    const double slope =
        (rise + (1 - 2 * u) * (at_left * (1 - u) + at_right * u) + u * (1 - u) * (at_right - at_left)) /
        width;
    curve.set(row, value, slope, slope);
  }
}

template <class Filled>
void fit_channel(Spline kind, std::int64_t length, const double* times, Knots& knots, Filled curve) {
  const std::int64_t count = knots.size();
  if (count < 2) {
    const double constant = count == 1 ? knots.value[0] : 0.0;
    for (std::int64_t row = 0; row < length; ++row) curve.set(row, constant, 0.0, 0.0);
    return;
  }
  knots.slope.resize(count);
  if (kind == Spline::natural_cubic) natural_slopes(knots);
  if (kind == Spline::causal_hermite) backward_slopes(knots);

  const std::int64_t first = knots.row.front(), last = knots.row.back();
  for (std::int64_t row = 0; row < first; ++row) curve.set(row, knots.value.front(), 0.0, 0.0);
  for (std::int64_t row = last + 1; row < length; ++row) curve.set(row, knots.value.back(), 0.0, 0.0);
  double before = 0.0;
  for (std::int64_t j = 0; j < count; ++j) {
    const bool linear = kind == Spline::linear, end = j + 1 == count;
    const double after = linear ? (end ? 0.0 : knots.secant(j)) : knots.slope[j];
    const double arriving = j == 0 ? (first > 0 ? 0.0 : after) : before;
    const double leaving = end ? (last + 1 < length ? 0.0 : arriving) : after;
    curve.set(knots.row[j], knots.value[j], linear || j == 0 ? arriving : knots.slope[j], leaving);
    if (end) break;
    before = linear ? after : knots.slope[j + 1];
    fill_hole(knots, j, after, before, times, curve);
  }
}

}  // namespace

template <class Real>
void fit_spline(Spline kind, std::int64_t length, std::int64_t stride, const double* times,
                const Real* observed, Real* value, Real* slope_before, Real* slope_after,
                SplineKnots& knots) {
  if (kind == Spline::linear && slope_before == nullptr)
    return fill_channel(length, stride, times, observed, value);
  knots.clear();
  for (std::int64_t row = 0; row < length; ++row) {
    const Real seen = observed[row * stride];
    if (std::isnan(seen)) continue;
    knots.row.push_back(row);
    knots.time.push_back(times[row]);
    knots.value.push_back(static_cast<double>(seen));
  }
  if (slope_before)
    fit_channel(kind, length, times, knots, Curve<Real>(stride, value, slope_before, slope_after));
  else
    fit_channel(kind, length, times, knots, Values<Real>(stride, value));
}

template <class Real>
void fit_splines(Spline kind, std::int64_t series, std::int64_t channels, const std::int64_t* offsets,
                 const double* times, const Real* observed, Real* value, Real* slope_before,
                 Real* slope_after, int threads) {
  parallel_blocks(series, threads, [=](std::int64_t first, std::int64_t last) {
    SplineKnots knots;
    for (std::int64_t i = first; i < last; ++i)
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t at = offsets[i] * channels + c;
        fit_spline(kind, offsets[i + 1] - offsets[i], channels, times + offsets[i], observed + at, value + at,
                   slope_before ? slope_before + at : nullptr, slope_after ? slope_after + at : nullptr,
                   knots);
      }
  });
}

template void fit_spline(Spline, std::int64_t, std::int64_t, const double*, const float*, float*, float*,
                         float*, SplineKnots&);
template void fit_spline(Spline, std::int64_t, std::int64_t, const double*, const double*, double*, double*,
                         double*, SplineKnots&);
template void fit_splines(Spline, std::int64_t, std::int64_t, const std::int64_t*, const double*,
                          const float*, float*, float*, float*, int);
template void fit_splines(Spline, std::int64_t, std::int64_t, const std::int64_t*, const double*,
                          const double*, double*, double*, double*, int);

}  // namespace denots
