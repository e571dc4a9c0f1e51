#include "denots/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "denots/thread_pool.h"

namespace denots {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// at(first) + .. + at(first + n - 1) in the order of NumPy's pairwise sums.
template <class At>
double pairwise(std::int64_t first, std::int64_t n, At at) {
  if (n < 8) {
    double sum = -0.0;
    for (std::int64_t i = 0; i < n; ++i) sum += at(first + i);
    return sum;
  }
  if (n <= 128) {
    double part[8];
    for (std::int64_t k = 0; k < 8; ++k) part[k] = at(first + k);
    std::int64_t i = 8;
    for (; i < n - n % 8; i += 8)
      for (std::int64_t k = 0; k < 8; ++k) part[k] += at(first + i + k);
    double sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    for (; i < n; ++i) sum += at(first + i);
    return sum;
  }
  const std::int64_t half = n / 2 - n / 2 % 8;
  return pairwise(first, half, at) + pairwise(first + half, n - half, at);
}

// The sum of one segment as `np.add.reduceat` makes it: the first, and all others added to it.
template <class At>
double total(std::int64_t n, At at) {
  return n > 1 ? at(0) + pairwise(1, n - 1, at) : at(0);
}

void tell(std::int64_t n, const double* t, const double* x, double* to) {
  to[0] = static_cast<double>(n);
  if (n == 0) {
    std::fill(to + 1, to + statistics_at_once, nan);
    return;
  }
  const double size = static_cast<double>(n);
  const double mean = total(n, [&](auto i) { return x[i]; }) / size,
               middle = total(n, [&](auto i) { return t[i]; }) / size;
  const double square = total(n, [&](auto i) { return (x[i] - mean) * (x[i] - mean); }),
               moment = total(n, [&](auto i) { return (t[i] - middle) * (t[i] - middle); });
  double longest = 0;
  for (std::int64_t i = 1; i < n; ++i) longest = std::max(longest, t[i] - t[i - 1]);
  to[1] = mean;
  to[2] = std::sqrt(square / size);
  to[3] = *std::min_element(x, x + n);
  to[4] = *std::max_element(x, x + n);
  to[5] = x[0];
  to[6] = x[n - 1];
  to[7] = t[n - 1];
  to[8] = moment > 0 ? total(n, [&](auto i) { return (x[i] - mean) * (t[i] - middle); }) / moment : nan;
  to[9] = n > 1 ? total(n, [&](auto i) { return i ? std::abs(x[i] - x[i - 1]) : 0.0; }) / (size - 1) : nan;
  to[10] = longest;
}

}  // namespace

template <class Real>
void summarise(std::int64_t series, std::int64_t channels, const std::int64_t* offsets, const double* times,
               const double* start, const Real* values, double late, std::int64_t columns,
               std::int64_t first_column, double* table, int threads) {
  parallel_blocks(series, threads, [=](std::int64_t first, std::int64_t last) {
    std::vector<double> elapsed, t, x;
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t begin = offsets[i], length = offsets[i + 1] - begin;
      const auto rows = static_cast<std::size_t>(length);
      elapsed.resize(rows), t.resize(rows), x.resize(rows);
      for (std::size_t row = 0; row < rows; ++row) elapsed[row] = times[begin + row] - start[i];
      const double span = times[begin + length - 1] - start[i];
      const std::int64_t turn =
          std::find_if(elapsed.begin(), elapsed.end(), [&](double it) { return it >= late * span; }) -
          elapsed.begin();
      double* to = table + i * columns + first_column;
      for (std::int64_t c = 0; c < channels; ++c, to += statistics_a_channel) {
        std::int64_t seen = 0, early = 0;
        const Real* from = values + begin * channels + c;
        for (std::int64_t row = 0; row < length; ++row, from += channels) {
          if (row == turn) early = seen;
          if (std::isnan(*from)) continue;
          t[seen] = elapsed[row], x[seen] = static_cast<double>(*from);
          ++seen;
        }
        if (turn >= length) early = seen;
        tell(seen, t.data(), x.data(), to);
        to[statistics_at_once] = span - to[7];
        tell(seen - early, t.data() + early, x.data() + early, to + statistics_at_once + 1);
      }
    }
  });
}

template void summarise(std::int64_t, std::int64_t, const std::int64_t*, const double*, const double*,
                        const float*, double, std::int64_t, std::int64_t, double*, int);
template void summarise(std::int64_t, std::int64_t, const std::int64_t*, const double*, const double*,
                        const double*, double, std::int64_t, std::int64_t, double*, int);

}  // namespace denots
