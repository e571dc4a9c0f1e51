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
  Rows(const Drive& drive, std::int64_t channels, double* times, float* table)
      : drive_(drive), channels_(channels), times_(times), table_(table), seen_(channels, 0) {}

  void add_empty(double time) {
    const std::int64_t columns = drive_.columns(channels_);
    *times_++ = time;
    std::fill(table_, table_ + columns, std::numeric_limits<float>::quiet_NaN());
    table_ += columns;
  }

  void add(double time, const Real* values) {
    *times_++ = time;
    std::int64_t column = 0;
    for (; column < channels_; ++column) put(column, values[column]);
    for (std::int64_t c = 0; drive_.counted && c < channels_; ++c)
      put(column++, static_cast<Real>(seen_[c] += !std::isnan(values[c])));
    if (drive_.timed) put(column++, static_cast<Real>(time));
    table_ += column;
  }

 private:
  void put(std::int64_t column, Real value) {
    table_[column] =
        static_cast<float>((static_cast<double>(value) - drive_.centre[column]) / drive_.scale[column]);
  }

  const Drive& drive_;
  std::int64_t channels_;
  double* times_;
  float* table_;
  std::vector<std::int64_t> seen_;
};

}  // namespace

template <class Real>
void drive_rows(const Drive& drive, std::int64_t series, std::int64_t channels, const std::int64_t* offsets,
                const double* times, const Real* values, const std::int64_t* driven_offsets,
                double* driven_times, float* driven, int threads) {
  parallel_blocks(series, threads, [=, &drive](std::int64_t first, std::int64_t last) {
    const std::int64_t columns = drive.columns(channels);
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t begin = offsets[i], end = offsets[i + 1], at = driven_offsets[i];
      Rows<Real> rows(drive, channels, driven_times + at, driven + at * columns);
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
