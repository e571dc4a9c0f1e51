// The signal of a neural ODE in one pass: observations widened, standardised, joined by natural cubics, with
// their slopes as further channels.
#pragma once

#include <cstdint>

namespace denots {

// What is read of a series of C channels: its values, then whether each was observed, for how long it had not
// been before, and the time since the row before, each where it is asked for; then the slopes of the values.
// centre and scale are those of all but the slopes, slope_scale that of the slopes.
struct Reading {
  std::int64_t channels;
  bool presence, ages, differences;
  double pace;   // times count from the start of a series, multiplied by it
  double depth;  // and the curve is told so many times as slowly
  const double *centre, *scale, *slope_scale;

  std::int64_t columns() const {
    return channels * (1 + (presence ? 1 : 0) + (ages ? 1 : 0)) + (differences ? 1 : 0);
  }
  std::int64_t width() const { return columns() + channels; }
};

// times [N] and values [N, C] hold the rows of all series end to end, NaN where nothing was observed; series
// i owns rows offsets[i] .. offsets[i + 1], of which it has at least one, and began at start[i].
//
// Filled are knots [2 N], of which series i owns ends[i] from 2 offsets[i] on, and leaves the others as they
// are: their times, and values and slopes [2 N, width]. A knot stands twice where a curve or the slope of a
// value bends. All arithmetic is in double precision, in the order of `paths`, and rounded at the end.
template <class Observed, class Real>
void fill_driven_path(const Reading& reading, std::int64_t series, const std::int64_t* offsets,
                      const double* times, const double* start, const Observed* values, double* knot_times,
                      Real* knot_values, Real* knot_slopes, std::int64_t* ends, int threads);

}  // namespace denots
