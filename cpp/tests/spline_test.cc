// Fitted curves against what defines them: values, continuity, end conditions, held ends.
#include "denots/spline.h"

#include <limits>

#include "check.h"

namespace denots::check {
namespace {

using Wide = long double;

struct Fit {
  std::int64_t series, channels;
  std::vector<std::int64_t> offsets;
  std::vector<double> times, observed, value, before, after;
};

Fit random_fit(Spline kind, std::uint64_t seed) {
  Random random(seed);
  Fit fit;
  fit.series = random.integer(1, 6), fit.channels = random.integer(1, 4);
  fit.offsets = {0};
  for (std::int64_t i = 0; i < fit.series; ++i) {
    double t = random.symmetric(3.0);
    for (std::int64_t row = random.integer(1, 25); row > 0; --row, t += random.uniform(0.05, 1.0))
      fit.times.push_back(t);
    fit.offsets.push_back(static_cast<std::int64_t>(fit.times.size()));
  }
  fit.observed.resize(fit.times.size() * static_cast<std::size_t>(fit.channels));
  for (double& seen : fit.observed)
    seen = random.chance(0.4) ? std::numeric_limits<double>::quiet_NaN() : random.symmetric();
  fit.value.resize(fit.observed.size()), fit.before = fit.after = fit.value;
  fit_splines<double>(kind, fit.series, fit.channels, fit.offsets.data(), fit.times.data(),
                      fit.observed.data(), fit.value.data(), fit.before.data(), fit.after.data(),
                      static_cast<int>(random.integer(1, 3)));
  return fit;
}

// Second derivative of the cubic between rows a and b, at its left or right end.
Wide second_derivative(const Fit& fit, std::int64_t a, std::int64_t b, std::int64_t c, bool at_right) {
  const Wide w = static_cast<Wide>(fit.times[b]) - fit.times[a];
  const std::int64_t i = a * fit.channels + c, j = b * fit.channels + c;
  const Wide secant = (fit.value[j] - fit.value[i]) / w, left = fit.after[i], right = fit.before[j];
  return at_right ? (2 * left + 4 * right - 6 * secant) / w : (6 * secant - 4 * left - 2 * right) / w;
}

void expect_channel(Spline kind, const Fit& fit, std::int64_t begin, std::int64_t end, std::int64_t c) {
  std::vector<std::int64_t> seen;
  for (std::int64_t row = begin; row < end; ++row) {
    const double observed = fit.observed[row * fit.channels + c];
    if (std::isnan(observed)) continue;
    seen.push_back(row);
    expect(fit.value[row * fit.channels + c] == observed, "the curve meets what was observed");
  }
  const auto at = [&](std::int64_t row) { return row * fit.channels + c; };
  for (std::int64_t row = begin; row < end; ++row) {
    const bool early = seen.empty() || row < seen.front(), late = seen.empty() || row > seen.back();
    if (!early && !late) continue;
    const double held = seen.empty() ? 0.0 : fit.value[at(early ? seen.front() : seen.back())];
    expect(fit.value[at(row)] == held, "the curve is held outside what was observed");
    expect(fit.before[at(row)] == 0 && fit.after[at(row)] == 0, "a held curve has no slope");
  }
  if (seen.size() < 2) return;
  for (std::size_t j = 0; j + 1 < seen.size(); ++j) {
    const std::int64_t a = seen[j], b = seen[j + 1];
    const Wide secant =
        (static_cast<Wide>(fit.value[at(b)]) - fit.value[at(a)]) / (fit.times[b] - fit.times[a]);
    if (kind == Spline::linear)
      for (std::int64_t row = a; row < b; ++row) {
        expect_near(fit.after[at(row)], secant, 1e-11L, "a line leaves with its secant");
        expect_near(fit.before[at(row + 1)], secant, 1e-11L, "a line arrives with its secant");
      }
    if (kind == Spline::causal_hermite)
      expect_near(fit.before[at(b)], secant, 1e-11L, "a knot has the slope of the step that led to it");
    if (kind == Spline::natural_cubic)
      for (std::int64_t row = a; row + 1 < b; ++row)
        expect_near(second_derivative(fit, row, row + 1, c, true),
                    second_derivative(fit, row + 1, row + 2, c, false), 1e-7L,
                    "a cubic goes on through a hole");
  }
  if (kind != Spline::natural_cubic) return;
  expect_near(second_derivative(fit, seen.front(), seen.front() + 1, c, false), 0, 1e-7L,
              "no curvature at the first knot");
  for (std::size_t j = 1; j + 1 < seen.size(); ++j)
    expect_near(second_derivative(fit, seen[j] - 1, seen[j], c, true),
                second_derivative(fit, seen[j], seen[j] + 1, c, false), 1e-7L, "the curvature is continuous");
}

// Values alone, written over what was observed, are those that are told beside slopes.
void expect_values_alone(Spline kind, const Fit& fit) {
  std::vector<double> filled = fit.observed;
  fit_splines<double>(kind, fit.series, fit.channels, fit.offsets.data(), fit.times.data(), filled.data(),
                      filled.data(), nullptr, nullptr, 2);
  expect(filled == fit.value, "values are the same without slopes, and in place");
}

}  // namespace
}  // namespace denots::check

int main() {
  using namespace denots::check;
  using denots::Spline;
  for (const Spline kind : {Spline::natural_cubic, Spline::causal_hermite, Spline::linear})
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const Fit fit = random_fit(kind, seed);
      expect_values_alone(kind, fit);
      for (std::int64_t i = 0; i < fit.series; ++i)
        for (std::int64_t c = 0; c < fit.channels; ++c)
          expect_channel(kind, fit, fit.offsets[i], fit.offsets[i + 1], c);
    }
  return verdict("spline_test");
}
