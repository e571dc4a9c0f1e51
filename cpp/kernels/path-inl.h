// Read the signal of one series, or its slope, and pull cotangents of it back to the knots.
#pragma once

#include "denots/solve.h"
#include "rk-inl.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

// The last knot not after t, found from a nearby one; where t lies before the first knot, the
// last of those at that first time.
inline std::int64_t locate(const double* times, std::int64_t begin, std::int64_t end, std::int64_t near,
                           double t) {
  if (t < times[begin]) t = times[begin];
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

// Where the step that begins at t, at or after a knot, has to land.
template <class Real>
DENOTS_INLINE double landing(const Problem<Real>& p, std::int64_t series, std::int64_t knot, double t) {
  if (!p.land_on_knots) return p.stop[series];
  while (knot < p.ends[series] && p.times[knot] <= t) ++knot;
  return knot < p.ends[series] ? p.times[knot] : p.stop[series];
}

// For each of `count` ascending times, how many of the knots first + 1, first + 2, .. are not after
// it. All times are compared with a few knots at once: where they fall cannot be predicted, and a
// wrong guess costs more than many comparisons. A step over very many knots is searched.
template <int count>
DENOTS_INLINE void locate_all(const double* times, std::int64_t begin, std::int64_t end, std::int64_t first,
                              const double* t, std::int64_t* knot) {
  constexpr int wide = Simd<double>::lanes;
  constexpr std::int64_t most = 96;
  typedef double Unaligned __attribute__((vector_size(DENOTS_VECTOR_BYTES), aligned(8), may_alias));
  DoubleV time[count];
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) {
    time[i] = splat(t[i]);
    knot[i] = first;
  }
  std::int64_t next = first + 1;
  const std::int64_t stop = end - next > most ? next + most : end;
  for (; next + wide <= stop && times[next] <= t[count - 1]; next += wide) {
    const DoubleV knots = *reinterpret_cast<const Unaligned*>(times + next);
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) knot[i] += count_up_to(knots, time[i]);
  }
  for (; next < stop && times[next] <= t[count - 1]; ++next)
    for (int i = 0; i < count; ++i) knot[i] += times[next] <= t[i];
  if (next < end && times[next] <= t[count - 1])
    for (int i = 0; i < count; ++i) knot[i] = locate(times, begin, end, i == 0 ? first : knot[i - 1], t[i]);
}

// How the signal at one time follows from the values v and slopes s of its knot and the next:
// stay v0 + rise (v1 - v0) + leave s0 + arrive s1.
template <class Real>
struct KnotWeights {
  bool alone;  // nothing of the next knot counts
  Real stay, rise, leave, arrive;
};

// Between two knots, with u in [0, 1) the place of t and w their distance:
//   x = v0 + (3 - 2u) u^2 (v1 - v0) + w u (1 - u)^2 s0 - w u^2 (1 - u) s1,
// and its slope. Before the first knot and after the last one the signal is held, so its slope is
// zero; at the last knot it is the one that led there.
template <bool slope, class Real>
DENOTS_INLINE KnotWeights<Real> weigh(const double* times, std::int64_t knot, std::int64_t end, double t) {
  const double since = t - times[knot];
  if (knot + 1 == end || since < 0)
    return {true, Real(slope ? 0 : 1), 0, Real(slope && since == 0 ? 1 : 0), 0};
  const double width = times[knot + 1] - times[knot];
  const Real u = static_cast<Real>(since / width), w = static_cast<Real>(width), v = 1 - u;
  if (slope) return {false, 0, 6 * u * v / w, v * (1 - 3 * u), u * (3 * u - 2)};
  return {false, 1, u * u * (3 - 2 * u), w * u * v * v, -w * u * u * v};
}

// x is one lane of [channel][lane].
template <bool slope, class Real>
DENOTS_INLINE void interpolate(const Problem<Real>& p, std::int64_t knot, std::int64_t end, double t,
                               Real* x) {
  constexpr int lanes = Simd<Real>::lanes;
  const Real* value = p.values + knot * p.channels;
  const Real* slopes = p.slopes + knot * p.channels;
  const KnotWeights<Real> weight = weigh<slope, Real>(p.times, knot, end, t);
  if (weight.alone) {
    for (std::int64_t c = 0; c < p.channels; ++c)
      x[c * lanes] = !slope ? value[c] : weight.leave != 0 ? slopes[c] : Real(0);
    return;
  }
  const Real rise = weight.rise, leave = weight.leave, arrive = weight.arrive;
  for (std::int64_t c = 0; c < p.channels; ++c) {
    const std::int64_t next = p.channels + c;
    const Real moved = rise * (value[next] - value[c]) + (leave * slopes[c] + arrive * slopes[next]);
    x[c * lanes] = slope ? moved : value[c] + moved;
  }
}

// The signal of a series, or its slope, at `count` ascending times, time i into one lane of
// x + i * stride. `near` is any knot of the series, best the last one not after the first time;
// returns the last one not after the last time.
template <bool slope, class Real>
std::int64_t read_signal(const Problem<Real>& p, std::int64_t series, std::int64_t near, int count,
                         const double* t, Real* x, std::int64_t stride) {
  const std::int64_t begin = p.begins[series], end = p.ends[series];
  return with_count(count, [&](auto number) {
    constexpr int n = decltype(number)::value;
    double within[n];
    std::int64_t knot[n];
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) within[i] = t[i] < p.times[begin] ? p.times[begin] : t[i];
    const std::int64_t first =
        p.times[near] <= within[0] ? near : locate(p.times, begin, end, near, within[0]);
    locate_all<n>(p.times, begin, end, first, within, knot);
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) interpolate<slope>(p, knot[i], end, t[i], x + i * stride);
    return knot[n - 1];
  });
}

// Adds what one lane of the cotangent of the signal at time t means for the knots of its series.
template <bool slope, class Real>
void pull_knots(const Problem<Real>& p, std::int64_t series, std::int64_t near, double t,
                const Real* cotangent, Real* values, Real* slopes) {
  constexpr int lanes = Simd<Real>::lanes;
  const std::int64_t end = p.ends[series];
  const std::int64_t knot = locate(p.times, p.begins[series], end, near, t);
  const KnotWeights<Real> weight = weigh<slope, Real>(p.times, knot, end, t);
  values += knot * p.channels, slopes += knot * p.channels;
  for (std::int64_t c = 0; c < p.channels; ++c) {
    const Real g = cotangent[c * lanes];
    values[c] += (weight.stay - weight.rise) * g;
    slopes[c] += weight.leave * g;
    if (weight.alone) continue;
    values[p.channels + c] += weight.rise * g;
    slopes[p.channels + c] += weight.arrive * g;
  }
}

}  // namespace denots::DENOTS_TARGET
