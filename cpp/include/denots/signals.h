// Piecewise cubic signals of many series, as a path describes them.
#pragma once

#include <cstdint>

namespace denots {

// Series i owns the knots begins[i] .. ends[i], whose times do not descend.
struct Signals {
  std::int64_t series, channels;
  const std::int64_t *begins, *ends;
  const double* times;
  const float *values, *slopes;  // [knots, channels]; without slopes these are straight lines
  const double* spans;           // how long each series is, which may be longer than its knots reach
};

}  // namespace denots
