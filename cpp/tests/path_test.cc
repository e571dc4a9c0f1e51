// Finding knots against a scan of all of them, reading the signal against long double.
#include <algorithm>
#include <limits>

#include "check.h"
#include "oracle.h"
#include "path-inl.h"

namespace denots::DENOTS_TARGET {
namespace {

using check::expect;
using check::Random;

// Knots between two guards of another series, some of them at one time.
std::vector<double> some_knots(Random& random, std::int64_t count) {
  std::vector<double> times(static_cast<std::size_t>(count));
  double t = random.symmetric(5.0);
  for (double& time : times) {
    time = t;
    if (!random.chance(0.25)) t += random.uniform(1e-6, 2.0);
  }
  return times;
}

template <class Real>
void test_series(Random& random, std::int64_t knots, std::int64_t channels) {
  constexpr int lanes = Simd<Real>::lanes;
  const std::int64_t before = random.integer(0, 3);
  std::vector<double> times(static_cast<std::size_t>(before), 1e9);
  check::WideSignal signal{channels, some_knots(random, knots), {}, {}};
  times.insert(times.end(), signal.times.begin(), signal.times.end());
  std::vector<Real> values(times.size() * static_cast<std::size_t>(channels)), slopes = values;
  random.fill(values), random.fill(slopes);
  signal.values.assign(values.begin() + before * channels, values.end());
  signal.slopes.assign(slopes.begin() + before * channels, slopes.end());

  const std::int64_t offsets[] = {0, before, before + knots};
  Problem<Real> p{};
  p.channels = channels, p.begins = offsets, p.ends = offsets + 1, p.times = times.data();
  p.values = values.data(), p.slopes = slopes.data();
  const double first = signal.times.front(), last = signal.times.back();
  for (int repeat = 0; repeat < 12; ++repeat) {
    const int count = static_cast<int>(random.integer(1, max_stages));
    double t[max_stages];
    for (int i = 0; i < count; ++i) {
      t[i] = random.uniform(first - 1.0, last + 1.0);
      if (random.chance(0.3)) t[i] = signal.times[static_cast<std::size_t>(random.integer(0, knots - 1))];
    }
    std::sort(t, t + count);
    std::vector<Real> x(static_cast<std::size_t>(count * channels * lanes)), slopes = x;
    const int lane = static_cast<int>(random.integer(0, lanes - 1));
    const std::int64_t near = before + random.integer(0, knots - 1);
    const std::int64_t reached = read_signal<false>(p, 1, near, count, t, x.data() + lane, channels * lanes);
    read_signal<true>(p, 1, near, count, t, slopes.data() + lane, channels * lanes);
    expect(reached == before + signal.knot_at(t[count - 1]), "the last knot not after %.17g", t[count - 1]);
    for (int i = 0; i < count; ++i) {
      const std::int64_t knot = signal.knot_at(t[i]);
      expect(locate(p.times, before, before + knots, near, t[i]) == before + knot, "locate %.17g", t[i]);
      const check::WideVector wanted = signal.at(t[i], knot);
      for (std::int64_t c = 0; c < channels; ++c)
        check::expect_near(x[(i * channels + c) * lanes + lane], wanted[c],
                           32 * std::numeric_limits<Real>::epsilon(), "signal");
      const check::WideVector slope = signal.slope_at(t[i], knot);
      const bool inner = knot + 1 < knots;
      const double steep = inner ? 1.0 / (signal.times[knot + 1] - signal.times[knot]) : 0.0;
      for (std::int64_t c = 0; c < channels; ++c)
        check::expect_near(slopes[(i * channels + c) * lanes + lane], slope[c],
                           (32 + 16 * steep) * std::numeric_limits<Real>::epsilon(), "slope of the signal");
    }
  }
}

}  // namespace
}  // namespace denots::DENOTS_TARGET

int main() {
  denots::check::Random random(2);
  for (int repeat = 0; repeat < 4; ++repeat)
    for (const std::int64_t knots : {1, 2, 3, 5, 8, 9, 17, 60, 97, 98, 130, 400})
      for (const std::int64_t channels : {1, 4, 9}) {
        denots::DENOTS_TARGET::test_series<float>(random, knots, channels);
        denots::DENOTS_TARGET::test_series<double>(random, knots, channels);
      }
  return denots::check::verdict("path_test");
}
