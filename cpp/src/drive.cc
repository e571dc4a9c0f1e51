#include "denots/drive.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "denots/thread_pool.h"

namespace denots {
namespace {

// The rows of one series, written one after the other.
template <class Real>
class Rows {
 public:
  Rows(const Drive& drive, const double* inverse, std::int64_t channels, double* times, float* table)
      : drive_(drive),
        inverse_(inverse),
        channels_(channels),
        times_(times),
        table_(table),
        seen_(channels, 0) {}

  void add_empty(double time) {
    const std::int64_t columns = drive_.columns(channels_);
    *times_++ = time;
    std::fill(table_, table_ + columns, std::numeric_limits<float>::quiet_NaN());
    table_ += columns;
  }

  void add(double time, const Real* values) {
    *times_++ = time;
    put(0, channels_, [=](std::int64_t c) { return static_cast<double>(values[c]); });
    std::int64_t column = channels_;
    if (drive_.counted) {
      for (std::int64_t c = 0; c < channels_; ++c) seen_[c] += !std::isnan(values[c]);
      put(column, channels_, [counts = seen_.data()](std::int64_t c) { return counts[c]; });
      column += channels_;
    }
    if (drive_.timed)
      put(column++, 1, [=](std::int64_t) { return static_cast<double>(static_cast<Real>(time)); });
    table_ += column;
  }

 private:
  template <class Value>
  void put(std::int64_t first, std::int64_t count, Value value) {
    const double *const centre = drive_.centre + first, *const inverse = inverse_ + first;
    float* const to = table_ + first;
    for (std::int64_t c = 0; c < count; ++c) to[c] = static_cast<float>((value(c) - centre[c]) * inverse[c]);
  }

  const Drive& drive_;
  const double* inverse_;  // of the scale
  std::int64_t channels_;
  double* times_;
  float* table_;
  std::vector<double> seen_;
};

}  // namespace

template <class Real>
void drive_rows(const Drive& drive, std::int64_t series, std::int64_t channels, const std::int64_t* offsets,
                const double* times, const Real* values, const std::int64_t* driven_offsets,
                double* driven_times, float* driven, int threads) {
  parallel_blocks(series, threads, [=, &drive](std::int64_t first, std::int64_t last) {
    const std::int64_t columns = drive.columns(channels);
    std::vector<double> inverse(static_cast<std::size_t>(columns));
    for (std::int64_t c = 0; c < columns; ++c) inverse[c] = 1.0 / drive.scale[c];
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t begin = offsets[i], end = offsets[i + 1], at = driven_offsets[i];
      Rows<Real> rows(drive, inverse.data(), channels, driven_times + at, driven + at * columns);
      if (drive.late(times[begin])) rows.add_empty(drive.start);
      for (std::int64_t row = begin; row < end; ++row) rows.add(times[row], values + row * channels);
      if (drive.early(times[end - 1])) rows.add_empty(drive.end);
    }
  });
}

template void drive_rows(const Drive&, std::int64_t, std::int64_t, const std::int64_t*, const double*,
                         const float*, const std::int64_t*, double*, float*, int);
template void drive_rows(const Drive&, std::int64_t, std::int64_t, const std::int64_t*, const double*,
                         const double*, const std::int64_t*, double*, float*, int);

}  // namespace denots
