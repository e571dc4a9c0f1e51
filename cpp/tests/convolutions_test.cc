// Pooled convolutions against plain sums in long double, on every target that runs here.
#include "denots/convolutions.h"

#include <algorithm>

#include "check.h"

namespace denots::check {
namespace {

using Wide = long double;
constexpr std::int64_t terms = 2, thresholds = 3;

struct Case {
  std::int64_t series, channels, points, filters;
  std::vector<float> grid, weight, threshold;
  std::vector<std::int32_t> places, dilation, difference, padded, used, channel;

  Filters bank() const {
    return {filters,       terms,       thresholds,     places.data(), dilation.data(), difference.data(),
            padded.data(), used.data(), channel.data(), weight.data(), threshold.data()};
  }
};

Case random_case(std::uint64_t seed) {
  Random random(seed);
  Case it;
  it.series = random.integer(1, 19), it.channels = random.integer(1, 4), it.points = random.integer(10, 70);
  it.filters = random.integer(1, 40);
  const auto F = static_cast<std::size_t>(it.filters);
  it.grid.resize(static_cast<std::size_t>(it.series * it.channels * it.points));
  it.weight.resize(terms * F), it.threshold.resize(thresholds * F);
  random.fill(it.grid), random.fill(it.weight), random.fill(it.threshold);
  const auto whole = [&](std::int64_t low, std::int64_t high) {
    return static_cast<std::int32_t>(random.integer(low, high));
  };
  it.places.resize(3 * F);
  for (std::size_t f = 0; f < F; ++f) {
    const std::int32_t first = whole(0, 6), second = whole(first + 1, 7), third = whole(second + 1, 8);
    it.places[f] = first, it.places[F + f] = second, it.places[2 * F + f] = third;
  }
  for (std::size_t k = 0; k < terms * F; ++k) it.channel.push_back(whole(0, it.channels - 1));
  for (std::size_t f = 0; f < F; ++f) {
    it.dilation.push_back(whole(1, (it.points - 2) / 8));
    it.difference.push_back(whole(0, 1)), it.padded.push_back(whole(0, 1)),
        it.used.push_back(whole(1, terms));
  }
  return it;
}

// What filter f says of a series at a point; beyond the ends there is nothing.
Wide response(const Case& it, std::int64_t series, std::int64_t f, std::int64_t point) {
  const float* const grid = it.grid.data() + series * it.channels * it.points;
  const std::int64_t length = it.points - it.difference[f];
  Wide sum = 0;
  for (std::int64_t k = 0; k < 9; ++k) {
    const std::int64_t at = point + (k - 4) * it.dilation[f];
    if (at < 0 || at >= length) continue;
    Wide mixed = 0, size = -1;
    for (std::int64_t t = 0; t < it.used[f]; ++t) {
      const float* const channel = grid + it.channel[t * it.filters + f] * it.points;
      const Wide value = it.difference[f] ? static_cast<Wide>(channel[at + 1]) - channel[at] : channel[at];
      mixed += it.weight[t * it.filters + f] * value;
    }
    for (int p = 0; p < 3; ++p) size += it.places[p * it.filters + f] == k ? 3 : 0;
    sum += size * mixed;
  }
  return sum;
}

void shares_are_those_of_plain_sums(Target target, std::uint64_t seed) {
  const Case it = random_case(seed);
  std::vector<float> shares(static_cast<std::size_t>(it.series * thresholds * it.filters));
  pool_convolutions(it.bank(), it.series, it.channels, it.points, it.grid.data(), shares.data(), 2, target);
  std::vector<float> plain(shares.size());
  pool_convolutions(it.bank(), it.series, it.channels, it.points, it.grid.data(), plain.data(), 1,
                    Target::baseline);
  expect(shares == plain, "neither target nor threads change a bit");
  for (std::int64_t i = 0; i < it.series; ++i)
    for (std::int64_t f = 0; f < it.filters; ++f) {
      const std::int64_t reach = it.padded[f] ? 0 : 4 * it.dilation[f];
      const std::int64_t first = reach, last = it.points - it.difference[f] - reach;
      for (std::int64_t t = 0; t < thresholds; ++t) {
        Wide sure = 0, possible = 0;
        for (std::int64_t p = first; p < last; ++p) {
          const Wide over = response(it, i, f, p) - it.threshold[t * it.filters + f];
          sure += over > 1e-4L, possible += over > -1e-4L;
        }
        const Wide found = shares[static_cast<std::size_t>((i * thresholds + t) * it.filters + f)];
        const auto count = static_cast<Wide>(last - first);
        expect(found >= sure / count - 1e-6L && found <= possible / count + 1e-6L,
               "share of points above a threshold: found %.9Lg, expected %.9Lg to %.9Lg", found, sure / count,
               possible / count);
      }
    }
}

void what_stands_still_is_above_no_threshold_from_zero_on(Target target, std::uint64_t seed) {
  Case it = random_case(seed);
  const auto points = static_cast<std::size_t>(it.points);
  for (std::size_t i = 0; i < it.grid.size(); ++i) it.grid[i] = it.grid[i - i % points];
  std::fill(it.threshold.begin(), it.threshold.end(), 0.0f), std::fill(it.padded.begin(), it.padded.end(), 0);
  std::vector<float> shares(static_cast<std::size_t>(it.series * thresholds * it.filters), 1.0f);
  pool_convolutions(it.bank(), it.series, it.channels, it.points, it.grid.data(), shares.data(), 1, target);
  expect(shares == std::vector<float>(shares.size(), 0.0f), "no filter responds, not even by its rounding");
}

void a_grid_of_a_straight_line_is_straight() {
  const std::vector<std::int64_t> begins{0, 3}, ends{3, 4};
  const std::vector<double> times{0.0, 0.25, 2.0, 5.0}, spans{2.0, 1.0};
  const std::vector<float> values{1.0f, 1.5f, 5.0f, 7.0f};
  const Signals signals{2, 1, begins.data(), ends.data(), times.data(), values.data(), nullptr, spans.data()};
  std::vector<float> grid(2 * 9);
  sample_evenly(signals, 9, grid.data(), 2);
  for (int i = 0; i < 9; ++i) {
    expect_near(grid[static_cast<std::size_t>(i)], 1 + 0.5L * i, 1e-6L, "a straight line");
    expect(grid[static_cast<std::size_t>(9 + i)] == 7.0f, "a single knot is held");
  }
}

}  // namespace
}  // namespace denots::check

int main() {
  using namespace denots::check;
  for (const denots::Target target :
       {denots::Target::baseline, denots::Target::avx2, denots::Target::avx512}) {
    if (!denots::supported(target)) continue;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      shares_are_those_of_plain_sums(target, seed);
      what_stands_still_is_above_no_threshold_from_zero_on(target, seed);
    }
  }
  a_grid_of_a_straight_line_is_straight();
  return verdict("convolutions_test");
}
