// Statistics and ranks of small tables against plain sums and searches; memory is of exactly the size told.
#include "denots/summary.h"

#include <algorithm>
#include <limits>

#include "check.h"
#include "denots/normal_scores.h"

namespace denots::check {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void expect_same(double found, double wanted, const char* what) {
  if (std::isnan(wanted))
    expect(std::isnan(found), "%s: found %g, expected nothing", what, found);
  else
    expect_near(found, wanted, 1e-12L * (1 + std::abs(wanted)), what);
}

void expect_statistics(const std::vector<double>& t, const std::vector<double>& x, const double* found) {
  const auto n = t.size();
  expect_same(found[0], static_cast<double>(n), "count");
  if (n == 0) {
    for (std::int64_t k = 1; k < statistics_at_once; ++k) expect_same(found[k], nan, "nothing was seen");
    return;
  }
  long double mean = 0, middle = 0, square = 0, moment = 0, cross = 0, rough = 0, gap = 0;
  for (std::size_t i = 0; i < n; ++i)
    mean += x[i] / static_cast<long double>(n), middle += t[i] / static_cast<long double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    square += (x[i] - mean) * (x[i] - mean);
    moment += (t[i] - middle) * (t[i] - middle);
    cross += (x[i] - mean) * (t[i] - middle);
    if (i > 0) rough += std::abs(x[i] - x[i - 1]), gap = std::max<long double>(gap, t[i] - t[i - 1]);
  }
  const double wanted[] = {static_cast<double>(mean),
                           static_cast<double>(std::sqrt(square / static_cast<long double>(n))),
                           *std::min_element(x.begin(), x.end()),
                           *std::max_element(x.begin(), x.end()),
                           x.front(),
                           x.back(),
                           t.back(),
                           n > 1 ? static_cast<double>(cross / moment) : nan,
                           n > 1 ? static_cast<double>(rough / static_cast<long double>(n - 1)) : nan,
                           static_cast<double>(gap)};
  for (int k = 0; k < 10; ++k) expect_same(found[k + 1], wanted[k], "a statistic");
}

void expect_summary(std::uint64_t seed, int threads) {
  Random random(seed);
  const std::int64_t series = random.integer(1, 4), channels = random.integer(1, 3),
                     before = random.integer(0, 2);
  std::vector<std::int64_t> offsets{0};
  std::vector<double> times, start, values;
  for (std::int64_t i = 0; i < series; ++i) {
    double time = random.uniform(0, 3);
    start.push_back(time - random.uniform(0, 1));
    const std::int64_t rows = random.integer(1, 20);
    for (std::int64_t row = 0; row < rows; ++row, time += random.uniform(0.1, 1)) times.push_back(time);
    offsets.push_back(offsets.back() + rows);
  }
  values.resize(times.size() * static_cast<std::size_t>(channels));
  for (double& value : values) value = random.chance(0.5) ? nan : random.symmetric(5);
  const std::int64_t columns = before + channels * statistics_a_channel;
  std::vector<double> table(static_cast<std::size_t>(series * columns), -7);
  summarise<double>(series, channels, offsets.data(), times.data(), start.data(), values.data(), 0.75,
                    columns, before, table.data(), threads);
  for (std::int64_t i = 0; i < series; ++i) {
    const double span = times[offsets[i + 1] - 1] - start[i];
    for (std::int64_t k = 0; k < before; ++k) expect(table[i * columns + k] == -7, "columns before stay");
    for (std::int64_t c = 0; c < channels; ++c) {
      std::vector<double> t, x, late_t, late_x;
      for (std::int64_t row = offsets[i]; row < offsets[i + 1]; ++row) {
        const double value = values[row * channels + c], time = times[row] - start[i];
        if (std::isnan(value)) continue;
        t.push_back(time), x.push_back(value);
        if (time >= 0.75 * span) late_t.push_back(time), late_x.push_back(value);
      }
      const double* found = table.data() + i * columns + before + c * statistics_a_channel;
      expect_statistics(t, x, found);
      expect_same(found[statistics_at_once], t.empty() ? nan : span - t.back(), "time since the last one");
      expect_statistics(late_t, late_x, found + statistics_at_once + 1);
    }
  }
}

void expect_scores(std::uint64_t seed, int threads) {
  Random random(seed);
  const std::int64_t rows = random.integer(1, 70), columns = random.integer(1, 3),
                     quantiles = random.integer(1, 9);
  std::vector<double> edges, levels, table(static_cast<std::size_t>(rows * columns));
  for (std::int64_t c = 0; c < columns; ++c) {
    std::vector<double> own;
    for (std::int64_t q = 0; q < quantiles; ++q) own.push_back(static_cast<double>(random.integer(-3, 3)));
    std::sort(own.begin(), own.end());
    edges.insert(edges.end(), own.begin(), own.end());
  }
  for (std::int64_t q = 0; q < quantiles; ++q)
    levels.push_back((static_cast<double>(q) + 0.5) / static_cast<double>(quantiles));
  for (double& it : table)
    it = random.chance(0.2)   ? nan
         : random.chance(0.5) ? static_cast<double>(random.integer(-4, 4))
                              : random.symmetric(4);
  const std::vector<std::int64_t> hole{columns - 1};
  std::vector<float> scores(static_cast<std::size_t>(rows * (columns + 1)), -7);
  normal_scores(rows, columns, table.data(), quantiles, edges.data(), levels.data(), 1, hole.data(),
                scores.data(), threads);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const double x = table[row * columns + c];
      const float found = scores[row * (columns + 1) + c];
      if (std::isnan(x)) {
        expect(found == 0, "a hole is the middle");
        continue;
      }
      const double* own = edges.data() + c * quantiles;
      const std::int64_t below = std::lower_bound(own, own + quantiles, x) - own,
                         above = std::upper_bound(own, own + quantiles, x) - own;
      double rank;
      if (below < above)
        rank = (levels[below] + levels[above - 1]) / 2;
      else if (below == 0 || below == quantiles)
        rank = below == 0 ? levels.front() : levels.back();
      else
        rank = levels[below - 1] +
               (levels[below] - levels[below - 1]) * (x - own[below - 1]) / (own[below] - own[below - 1]);
      const double back = 0.5 * std::erfc(-static_cast<double>(found) / std::sqrt(2.0));
      expect_near(back, rank, 1e-6L, "the normal distribution leads back to the rank");
    }
    expect(scores[row * (columns + 1) + columns] == (std::isnan(table[row * columns + columns - 1]) ? 1 : 0),
           "holes are marked");
  }
}

}  // namespace
}  // namespace denots::check

int main() {
  using namespace denots::check;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (const int threads : {1, 3}) expect_summary(seed, threads), expect_scores(seed, threads);
  for (double p = 1e-12; p < 1; p = p < 0.01 ? 2 * p : p + 0.003)
    expect_near(0.5L * std::erfc(-static_cast<long double>(denots::normal_quantile(p)) / std::sqrt(2.0L)), p,
                1e-14L, "quantile");
  return verdict("summary_test");
}
