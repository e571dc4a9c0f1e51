// Pooled oscillators against small steps of a plain Runge-Kutta method, on every target that runs here.
#include "denots/oscillators.h"

#include <algorithm>
#include <complex>

#include "check.h"

namespace denots::check {
namespace {

using Wide = long double;
constexpr std::int64_t channels = 2, terms = 2, thresholds = 2, rows = 5 + 2 * thresholds;

struct Case {
  std::int64_t series, oscillators;
  bool straight = false;
  std::vector<std::int64_t> begins, ends;
  std::vector<double> times, spans;
  std::vector<float> values, slopes, rate, frequency, cosine, sine, relative, value_weight, slope_weight,
      threshold, window{0.0f, 0.25f, 1.0f, 0.75f};
  std::vector<std::int32_t> used, channel;

  Signals signals() const {
    return {series,
            channels,
            begins.data(),
            ends.data(),
            times.data(),
            values.data(),
            straight ? nullptr : slopes.data(),
            spans.data()};
  }
  Bank bank() const {
    return {oscillators,         terms,
            thresholds,          oscillators > 13 ? 13 : oscillators,
            rate.data(),         frequency.data(),
            cosine.data(),       sine.data(),
            relative.data(),     used.data(),
            channel.data(),      value_weight.data(),
            slope_weight.data(), threshold.data(),
            window.data()};
  }
};

Case random_case(std::uint64_t seed) {
  Random random(seed);
  Case it;
  it.straight = seed % 2 == 0;
  if (seed % 3 == 0) it.window = {0.0f, 0.0f, 1.0f, 1.0f};
  it.series = random.integer(1, 21), it.oscillators = random.integer(1, 37);
  for (std::int64_t i = 0; i < it.series; ++i) {
    it.begins.push_back(static_cast<std::int64_t>(it.times.size()));
    double t = random.symmetric(3.0);
    for (std::int64_t knot = random.integer(1, 9); knot > 0; --knot, t += random.uniform(0.05, 1.0))
      it.times.push_back(t);
    it.ends.push_back(static_cast<std::int64_t>(it.times.size()));
    const double span = it.times.back() - it.times[it.begins.back()];
    it.spans.push_back(span > 0 ? span : 1.0);
  }
  const auto O = static_cast<std::size_t>(it.oscillators);
  it.values.resize(it.times.size() * channels), it.slopes = it.values;
  random.fill(it.values), random.fill(it.slopes);
  for (std::size_t o = 0; o < O; ++o) {
    const double angle = random.symmetric(3.1), rate = random.uniform(0.1, 8.0);
    it.rate.push_back(static_cast<float>(rate));
    it.frequency.push_back(static_cast<float>(random.uniform(0.0, 4.0) * rate));
    it.cosine.push_back(static_cast<float>(std::cos(angle)));
    it.sine.push_back(static_cast<float>(std::sin(angle)));
    it.relative.push_back(random.chance(0.5) ? 1.0f : 0.0f);
    it.used.push_back(static_cast<std::int32_t>(random.integer(1, terms)));
  }
  it.value_weight.resize(terms * O), it.slope_weight.resize(terms * O), it.threshold.resize(thresholds * O);
  random.fill(it.value_weight), random.fill(it.slope_weight), random.fill(it.threshold, 0.2);
  for (std::size_t k = 0; k < terms * O; ++k) {
    it.channel.push_back(static_cast<std::int32_t>(random.integer(0, channels - 1)));
    if (static_cast<std::int32_t>(k / O) >= it.used[k % O]) it.value_weight[k] = it.slope_weight[k] = 0;
  }
  return it;
}

// Value and slope of a channel at a time: of a straight line, or by Hermite's form.
std::pair<Wide, Wide> curve(const Case& it, std::int64_t knot, Wide t, std::int64_t c) {
  const Wide width = static_cast<Wide>(it.times[knot + 1]) - it.times[knot], r = (t - it.times[knot]) / width;
  const std::int64_t i = knot * channels + c, j = i + channels;
  const Wide a = it.values[i], b = it.values[j], p = it.slopes[i] * width, q = it.slopes[j] * width;
  if (it.straight) return {a + r * (b - a), (b - a) / width};
  const Wide value = a * (1 + 2 * r) * (1 - r) * (1 - r) + p * r * (1 - r) * (1 - r) +
                     b * r * r * (3 - 2 * r) + q * r * r * (r - 1);
  const Wide slope = (6 * (b - a) * r * (1 - r) + p * (1 - r) * (1 - 3 * r) + q * r * (3 * r - 2)) / width;
  return {value, slope};
}

// Highest, lowest, mean and last output, and the share above and the mean excess over each threshold.
std::vector<Wide> judged(const Case& it, std::int64_t series, std::int64_t o) {
  constexpr int steps = 400;  // for each interval
  const std::int64_t begin = it.begins[series], end = it.ends[series];
  const bool forward = o < it.bank().forward;
  const Wide pace = it.relative[o] != 0 ? 1 / static_cast<Wide>(it.spans[series]) : 1;
  const std::complex<Wide> lambda{-it.rate[o] * pace, it.frequency[o] * pace};
  const Wide direction = forward ? 1 : -1;
  const auto drive = [&](std::int64_t knot, Wide t) {
    Wide sum = 0;
    for (std::int64_t term = 0; term < terms; ++term) {
      const std::int64_t k = term * it.oscillators + o;
      const auto [value, slope] = curve(it, knot, t, it.channel[k]);
      sum += it.value_weight[k] * pace * value + it.slope_weight[k] * direction * slope;
    }
    return sum;
  };
  const std::int64_t start = forward ? begin : end - 1;
  Wide held = 0;
  for (std::int64_t term = 0; term < terms; ++term) {
    const std::int64_t k = term * it.oscillators + o;
    held += it.value_weight[k] * pace * it.values[start * channels + it.channel[k]];
  }
  std::complex<Wide> z = -held / lambda;
  const auto output = [&] { return it.cosine[o] * z.real() - it.sine[o] * z.imag(); };
  std::vector<Wide> y{output()}, at{0}, weight;
  for (std::int64_t step = 0; step + 1 < end - begin; ++step) {
    const std::int64_t knot = forward ? begin + step : end - 2 - step;
    const Wide from = it.times[forward ? knot : knot + 1];
    const Wide h = (static_cast<Wide>(it.times[knot + 1]) - it.times[knot]) / steps;
    for (int k = 0; k < steps; ++k) {
      const auto slope = [&](Wide ahead, std::complex<Wide> state) {
        return lambda * state + drive(knot, from + direction * (k * h + ahead));
      };
      const auto k1 = slope(0, z), k2 = slope(h / 2, z + h / 2 * k1), k3 = slope(h / 2, z + h / 2 * k2),
                 k4 = slope(h, z + h * k3);
      z += h / 6 * (k1 + static_cast<Wide>(2) * k2 + static_cast<Wide>(2) * k3 + k4);
      y.push_back(output()), at.push_back(at.back() + h);
    }
  }
  const Wide whole = at.back();
  std::vector<Wide> found{*std::max_element(y.begin(), y.end()), *std::min_element(y.begin(), y.end()), 0,
                          y.back()};
  for (std::size_t k = 0; k + 1 < y.size(); ++k)
    found[2] += (at[k + 1] - at[k]) * (y[k] + y[k + 1]) / 2 / whole;
  if (whole == 0) found[2] = y[0];
  for (std::int64_t t = 0; t < thresholds; ++t) {
    const Wide level = it.threshold[t * it.oscillators + o];
    const Wide low = it.window[t], high = it.window[thresholds + t];
    const Wide first = whole * (forward ? low : 1 - high), last = whole * (forward ? high : 1 - low);
    Wide above = 0, excess = 0;
    for (std::size_t k = 0; k + 1 < y.size(); ++k) {
      const Wide middle = (at[k] + at[k + 1]) / 2, width = at[k + 1] - at[k],
                 over = (y[k] + y[k + 1]) / 2 - level;
      if (middle < first || middle > last || over <= 0) continue;
      above += width / (last - first), excess += width * over / (last - first);
    }
    const Wide over = y[0] - level;
    found.push_back(whole > 0 ? above : static_cast<Wide>(over > 0));
    found.push_back(whole > 0 ? excess : std::max<Wide>(over, 0));
  }
  return found;
}

void expect_case(const Case& it, Target target, int threads) {
  constexpr std::int64_t pieces = 1000;
  const std::int64_t size = rows * it.oscillators;
  std::vector<float> pooled(static_cast<std::size_t>(it.series * size)), again(pooled.size());
  pool_oscillators(it.bank(), it.signals(), pieces, true, pooled.data(), threads, target);
  pool_oscillators(it.bank(), it.signals(), pieces, true, again.data(), 1, target);
  expect(pooled == again, "the number of threads changes no bit");
  std::vector<float> shares(static_cast<std::size_t>(it.series * thresholds * it.oscillators));
  pool_oscillators(it.bank(), it.signals(), pieces, false, shares.data(), threads, target);
  for (std::int64_t series = 0; series < it.series; ++series)
    for (std::int64_t t = 0; t < thresholds; ++t)
      for (std::int64_t o = 0; o < it.oscillators; ++o)
        expect(shares[(series * thresholds + t) * it.oscillators + o] ==
                   pooled[series * size + (5 + 2 * t) * it.oscillators + o],
               "shares alone are the same");
  for (std::int64_t series = 0; series < it.series; ++series) {
    Signals alone = it.signals();
    alone.series = 1, alone.begins += series, alone.ends += series, alone.spans += series;
    std::vector<float> own(static_cast<std::size_t>(size));
    pool_oscillators(it.bank(), alone, pieces, true, own.data(), 1, target);
    expect(std::equal(own.begin(), own.end(), pooled.begin() + series * size), "company changes no bit");
  }
  for (std::int64_t series = 0; series < it.series; ++series)
    for (std::int64_t o = 0; o < it.oscillators; o += 5) {
      const std::vector<Wide> wanted = judged(it, series, o);
      const auto at = [&](std::int64_t row) { return pooled[series * size + row * it.oscillators + o]; };
      const Wide scale = 0.05L + std::max(std::fabs(wanted[0]), std::fabs(wanted[1]));
      const char* const names[] = {"highest", "lowest", "mean", "last"};
      for (std::int64_t row = 0; row < 4; ++row) expect_near(at(row), wanted[row], 2e-3L * scale, names[row]);
      for (std::int64_t t = 0; t < thresholds; ++t) {
        expect_near(at(5 + 2 * t), wanted[4 + 2 * t], 1e-2L, "share of time above a threshold");
        expect_near(at(6 + 2 * t), wanted[5 + 2 * t], 1e-2L * scale, "mean excess over a threshold");
      }
    }
}

// However its pieces are cut, and however long it is.
void what_stands_still_is_never_above_where_it_stands(Case it, Target target) {
  for (std::size_t i = channels; i < it.values.size(); ++i) it.values[i] = it.values[i % channels];
  std::fill(it.slopes.begin(), it.slopes.end(), 0.0f);
  const std::int64_t size = rows * it.oscillators;
  std::vector<float> pooled(static_cast<std::size_t>(it.series * size));
  const auto at = [&](std::int64_t series, Pool pool, std::int64_t o) {
    return pooled[series * size + static_cast<std::int64_t>(pool) * it.oscillators + o];
  };
  pool_oscillators(it.bank(), it.signals(), 7, true, pooled.data(), 1, target);
  for (std::int64_t series = 0; series < it.series; ++series)
    for (std::int64_t o = 0; o < it.oscillators; ++o)
      for (const Pool pool : {Pool::highest, Pool::lowest, Pool::last})
        expect(at(series, pool, o) == at(0, Pool::highest, o), "an output at rest is one number");
  for (std::int64_t t = 0; t < thresholds; ++t)
    for (std::int64_t o = 0; o < it.oscillators; ++o)
      it.threshold[t * it.oscillators + o] = at(0, Pool::highest, o);
  std::vector<float> shares(static_cast<std::size_t>(it.series * thresholds * it.oscillators), 1.0f);
  pool_oscillators(it.bank(), it.signals(), 7, false, shares.data(), 1, target);
  expect(shares == std::vector<float>(shares.size(), 0.0f), "a threshold that is met is not exceeded");
}

}  // namespace
}  // namespace denots::check

int main() {
  using namespace denots::check;
  for (const denots::Target target :
       {denots::Target::baseline, denots::Target::avx2, denots::Target::avx512}) {
    if (!denots::supported(target)) continue;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      expect_case(random_case(seed), target, 1 + seed % 3);
      what_stands_still_is_never_above_where_it_stands(random_case(seed), target);
    }
  }
  return verdict("oscillators_test");
}
