// Rows that drive features against what they are said to be, cell by cell; memory is of exactly the size
// told.
#include "denots/drive.h"

#include <limits>

#include "check.h"

namespace denots::check {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Case {
  std::int64_t series, channels;
  bool counted, timed;
  double start, end;
  std::vector<std::int64_t> offsets{0}, driven_offsets{0};
  std::vector<double> times, values, centre, scale;
};

Case random_case(std::uint64_t seed) {
  Random random(seed);
  Case it;
  it.series = random.integer(1, 5), it.channels = random.integer(1, 4);
  it.counted = random.chance(0.5), it.timed = random.chance(0.5);
  it.start = random.chance(0.5) ? random.uniform(0, 2) : nan;
  it.end = random.chance(0.5) ? random.uniform(2, 9) : nan;
  for (std::int64_t i = 0; i < it.series; ++i) {
    double time = random.uniform(0, 3);
    const std::int64_t rows = random.integer(1, 12);
    const double first = time;
    for (std::int64_t row = 0; row < rows; ++row, time += random.uniform(0.1, 1)) it.times.push_back(time);
    it.offsets.push_back(it.offsets.back() + rows);
    it.driven_offsets.push_back(it.driven_offsets.back() + rows + (first > it.start) +
                                (it.times.back() < it.end));
  }
  it.values.resize(it.times.size() * static_cast<std::size_t>(it.channels));
  for (double& value : it.values) value = random.chance(0.4) ? nan : random.symmetric(5);
  const Drive drive{it.counted, it.timed, nullptr, nullptr, it.start, it.end};
  for (std::int64_t c = 0; c < drive.columns(it.channels); ++c)
    it.centre.push_back(random.symmetric()), it.scale.push_back(random.uniform(0.5, 2));
  return it;
}

void expect_case(const Case& it, int threads) {
  const Drive drive{it.counted, it.timed, it.centre.data(), it.scale.data(), it.start, it.end};
  const std::int64_t columns = drive.columns(it.channels);
  std::vector<double> times(it.driven_offsets.back(), -1);
  std::vector<float> driven(it.driven_offsets.back() * columns, -1);
  drive_rows<double>(drive, it.series, it.channels, it.offsets.data(), it.times.data(), it.values.data(),
                     it.driven_offsets.data(), times.data(), driven.data(), threads);
  for (std::int64_t i = 0; i < it.series; ++i) {
    std::int64_t to = it.driven_offsets[i];
    const auto expect_empty = [&](double time) {
      expect(times[to] == time, "a row at the end of the clock");
      for (std::int64_t c = 0; c < columns; ++c)
        expect(std::isnan(driven[to * columns + c]), "nothing is observed at the end of the clock");
      ++to;
    };
    if (it.times[it.offsets[i]] > it.start) expect_empty(it.start);
    for (std::int64_t row = it.offsets[i]; row < it.offsets[i + 1]; ++row, ++to) {
      expect(times[to] == it.times[row], "times stay");
      for (std::int64_t c = 0; c < columns; ++c) {
        const std::int64_t kind = c / it.channels;  // values, then counts, then the time
        double wanted = it.times[row];
        if (kind == 0) wanted = it.values[row * it.channels + c];
        if (kind == 1 && it.counted) {
          wanted = 0;
          for (std::int64_t past = it.offsets[i]; past <= row; ++past)
            wanted += !std::isnan(it.values[past * it.channels + c % it.channels]);
        }
        const auto scaled = static_cast<float>((wanted - it.centre[c]) / it.scale[c]);
        const float found = driven[to * columns + c];
        expect(found == scaled || (std::isnan(found) && std::isnan(scaled)),
               "column %lld: found %g, expected %g", static_cast<long long>(c), static_cast<double>(found),
               static_cast<double>(scaled));
      }
    }
    if (it.times[it.offsets[i + 1] - 1] < it.end) expect_empty(it.end);
    expect(to == it.driven_offsets[i + 1], "every row is filled");
  }
}

}  // namespace
}  // namespace denots::check

int main() {
  using namespace denots::check;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (const int threads : {1, 3}) expect_case(random_case(seed), threads);
  return verdict("drive_test");
}
