// Read the signal of one series at one time.
#pragma once

#include "denots/solve.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

// The last knot not after t, found from a nearby one; the first knot where t lies before it.
inline std::int64_t locate(const double* times, std::int64_t begin, std::int64_t end, std::int64_t near, double t) {
  std::int64_t low = near, high = near + 1;  // the answer lies in [low, high)
  if (times[near] <= t) {
    std::int64_t stride = 1;
    while (high < end && times[high] <= t) {
      low = high;
      high += stride;
      if (high - near > 8) stride *= 2;
    }
    if (high > end) high = end;
  } else {
    std::int64_t stride = 1;
    while (low > begin && times[low] > t) {
      high = low;
      low -= stride;
      if (near - low > 8) stride *= 2;
    }
    if (low < begin) low = begin;
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (times[middle] <= t)
      low = middle;
    else
      high = middle;
  }
  return low;
}

// Between two knots, with u in [0, 1) the place of t and w their distance:
//   x = v0 + (3 - 2u) u^2 (v1 - v0) + w u (1 - u)^2 s0 - w u^2 (1 - u) s1.
template <class Real>
struct Weights {
  const Real *value, *slope;  // rows of the knot before; the next knot is `next` numbers further on
  std::int64_t next;
  Real rise, leave, arrive;
};

// `knot` is where to start looking, and where it was found.
template <class Real>
DENOTS_INLINE Weights<Real> weigh(const Problem<Real>& p, std::int64_t series, double t, std::int64_t& knot) {
  const std::int64_t begin = p.offsets[series], end = p.offsets[series + 1];
  if (t < p.times[begin]) t = p.times[begin];
  knot = locate(p.times, begin, end, knot, t);
  const Real* value = p.values + knot * p.channels;
  const Real* slope = p.slopes + knot * p.channels;
  if (knot + 1 == end) return {value, slope, 0, 0, 0, 0};
  const double width = p.times[knot + 1] - p.times[knot];
  const Real u = static_cast<Real>((t - p.times[knot]) / width), w = static_cast<Real>(width), v = 1 - u;
  return {value, slope, p.channels, u * u * (3 - 2 * u), w * u * v * v, -w * u * u * v};
}

// x is one lane of [channel][lane].
template <class Real>
DENOTS_INLINE void read_signal(const Problem<Real>& p, std::int64_t series, double t, std::int64_t& knot, Real* x) {
  constexpr int lanes = Simd<Real>::lanes;
  const Weights<Real> at = weigh(p, series, t, knot);
  for (std::int64_t c = 0; c < p.channels; ++c) {
    const Real before = at.value[c], rise = at.value[at.next + c] - before;
    x[c * lanes] = before + (at.rise * rise + (at.leave * at.slope[c] + at.arrive * at.slope[at.next + c]));
  }
}

}  // namespace denots::DENOTS_TARGET
