// The rows that drive features: on a common scale and a common clock.
#pragma once

#include <cstdint>

namespace denots {

// What is learnt from training series. Beside the channels of a series may run the count of observations of
// each so far, and the time itself. centre and scale are those of all of these columns.
struct Drive {
  bool counted, timed;
  const double *centre, *scale;
  double start, end;  // of the common clock; NaN where there is none

  std::int64_t columns(std::int64_t channels) const { return channels * (counted ? 2 : 1) + (timed ? 1 : 0); }
  // Where a series begins late or ends early it gets a row without any observation.
  bool late(double first) const { return first > start; }
  bool early(double last) const { return last < end; }
};

// times [N] and values [N, C] hold the rows of all series end to end; series i owns rows offsets[i] ..
// offsets[i + 1], and driven_offsets[i] .. driven_offsets[i + 1] of what is filled: driven_times, and driven
// [., columns], NaN where nothing was observed.
template <class Real>
void drive_rows(const Drive& drive, std::int64_t series, std::int64_t channels, const std::int64_t* offsets,
                const double* times, const Real* values, const std::int64_t* driven_offsets,
                double* driven_times, float* driven, int threads);

}  // namespace denots
