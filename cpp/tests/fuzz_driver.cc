// Random problems through the public entry points: fuzz_driver SEEDS [THREADS].
//
// A series ends finite or with a status, never untouched; neither the number of threads, nor
// recording, nor the other series change a bit of it.
#include <cstring>
#include <limits>

#include "denots/spline.h"
#include "methods.h"
#include "problem.h"

namespace denots::check {
namespace {

enum class Fault { none, few_steps, nan_weight, huge_weights, bad_state };

const DormandPrince fifth;
const BogackiShampine third;
const Tsitouras tsitouras;
const OwrenZennaro fourth;

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]))) return false;
  return true;
}

template <class Real>
bool all_finite(const std::vector<Real>& values) {
  return std::all_of(values.begin(), values.end(), [](Real x) { return std::isfinite(x); });
}

template <class T>
std::vector<T> row_of(const std::vector<T>& from, std::int64_t row, std::int64_t width) {
  return Case<T>::rows(from, row, row + 1, width);
}

template <class Real>
struct Curve {
  std::vector<Real> value, before, after;

  Curve(Spline kind, std::int64_t channels, const std::vector<std::int64_t>& offsets,
        const std::vector<double>& times, const std::vector<Real>& observed, int threads)
      : value(observed.size(), static_cast<Real>(untouched)), before(value), after(value) {
    fit_splines<Real>(kind, static_cast<std::int64_t>(offsets.size()) - 1, channels, offsets.data(),
                      times.data(), observed.data(), value.data(), before.data(), after.data(), threads);
  }
};

// Fits random observations; knots with a kink, and some others, are repeated.
template <class Real>
void draw_signal(Random& random, int threads, Case<Real>& c) {
  const std::int64_t C = c.channels, longest = random.integer(1, 60);
  const double holes = random.chance(0.3) ? 0.0 : random.uniform();
  const auto kind = static_cast<Spline>(random.integer(0, 2));
  std::vector<std::int64_t> offsets = {0};
  std::vector<double> times;
  std::vector<Real> observed;
  for (std::int64_t i = 0; i < c.series; ++i) {
    const std::int64_t length = random.integer(1, longest);
    double t = random.symmetric(5.0);
    const double gap = random.uniform(0.01, 6.0) / static_cast<double>(length);
    for (std::int64_t row = 0; row < length; ++row, t += gap * random.uniform(0.01, 2.0)) {
      times.push_back(t);
      for (std::int64_t k = 0; k < C; ++k)
        observed.push_back(random.chance(holes) ? std::numeric_limits<Real>::quiet_NaN()
                                                : static_cast<Real>(random.symmetric(2.0)));
    }
    offsets.push_back(static_cast<std::int64_t>(times.size()));
  }
  const Curve<Real> curve(kind, C, offsets, times, observed, threads);
  const Curve<Real> serial(kind, C, offsets, times, observed, 1);
  expect(
      same(curve.value, serial.value) && same(curve.before, serial.before) && same(curve.after, serial.after),
      "threads change no curve");
  expect(all_finite(curve.value) && all_finite(curve.before) && all_finite(curve.after), "curves are finite");

  const double repeated = random.chance(0.5) ? 0.0 : random.uniform(0.0, 0.6);
  c.offsets = {0};
  const auto add = [&](std::int64_t row, const std::vector<Real>& slopes) {
    c.times.push_back(times[row]);
    c.values.insert(c.values.end(), curve.value.begin() + row * C, curve.value.begin() + (row + 1) * C);
    c.slopes.insert(c.slopes.end(), slopes.begin() + row * C, slopes.begin() + (row + 1) * C);
  };
  for (std::int64_t i = 0; i < c.series; ++i) {
    for (std::int64_t row = offsets[i]; row < offsets[i + 1]; ++row) {
      const bool kink = row_of(curve.before, row, C) != row_of(curve.after, row, C);
      if (kink || random.chance(repeated)) add(row, curve.before);
      add(row, curve.after);
    }
    c.offsets.push_back(static_cast<std::int64_t>(c.times.size()));
  }
  for (auto* exact : {&c.values, &c.slopes}) exact->shrink_to_fit();
  c.times.shrink_to_fit();
}

template <class Real>
void draw_queries(Random& random, Case<Real>& c) {
  for (std::int64_t i = 0; i < c.series; ++i) {
    const double first = c.times[c.offsets[i]], last = c.times[c.offsets[i + 1] - 1];
    c.start.push_back(random.chance(0.6) ? first : first + random.symmetric());
    std::vector<double> asked;
    for (std::int64_t k = 0; k < c.queries; ++k) {
      asked.push_back(random.uniform(c.start[i], std::max(last, c.start[i]) + 0.3));
      if (random.chance(0.2)) asked.back() = c.start[i];
      if (random.chance(0.2)) asked.back() = last;
      if (k > 0 && random.chance(0.1)) asked.back() = asked[k - 1];
    }
    std::sort(asked.begin(), asked.end());
    c.query_times.insert(c.query_times.end(), asked.begin(), asked.end());
    std::vector<std::int64_t> places;
    for (std::int64_t k = 0; k < c.queries; ++k) places.push_back(k);
    for (std::int64_t k = c.queries - 1; k > 0; --k) std::swap(places[k], places[random.integer(0, k)]);
    c.positions.insert(c.positions.end(), places.begin(), places.end());
  }
}

template <class Real>
Case<Real> draw_case(Random& random, int threads, Fault fault) {
  Case<Real> c;
  const std::vector<std::string> names = field_names();
  c.field = names[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(names.size()) - 1))];
  const Method methods[] = {fifth.view(), third.view(), tsitouras.view(), fourth.view()};
  c.method = methods[random.integer(0, 3)];
  c.rtol = std::pow(10.0, random.uniform(-4.0, -1.0)), c.atol = c.rtol * random.uniform(0.1, 1.0);
  c.max_steps = fault == Fault::few_steps ? random.integer(1, 5) : random.integer(20, 80);
  c.states = random.integer(1, random.chance(0.7) ? 20 : 70);
  c.channels = random.integer(1, 9);
  c.land_on_knots = random.chance(0.3);
  c.series = random.integer(1, c.states > 20 ? 20 : 40);
  c.queries = random.integer(1, 5);
  c.bias_rows = random.chance(0.5) ? 1 : c.series;
  draw_signal(random, threads, c);
  draw_queries(random, c);
  const std::int64_t H = c.states;
  c.h0.resize(c.series * H);
  c.size_weights();
  const double size = fault == Fault::huge_weights ? 1e37 : 1.0;
  random.fill(c.h0), random.fill(c.weight_hh, size / std::sqrt(static_cast<double>(H)));
  random.fill(c.bias_hh), random.fill(c.bias), random.fill(c.bias_out);
  random.fill(c.weight_out, size / std::sqrt(static_cast<double>(H)));
  random.fill(c.weight_in, random.chance(0.5) ? size : 1.0);
  const Real nan = std::numeric_limits<Real>::quiet_NaN(), inf = std::numeric_limits<Real>::infinity();
  if (fault == Fault::nan_weight) {
    std::vector<Real>* const all[] = {&c.weight_hh,  &c.bias_hh, &c.weight_in,
                                      &c.weight_out, &c.bias,    &c.bias_out};
    std::vector<Real>& hit = *all[random.integer(0, 5)];
    if (!hit.empty())
      hit[random.integer(0, static_cast<std::int64_t>(hit.size()) - 1)] = random.chance(0.5) ? nan : inf;
  }
  if (fault == Fault::bad_state)
    for (std::int64_t i = 0; i < c.series; i += random.integer(1, 6))
      c.h0[i * H + random.integer(0, H - 1)] = random.chance(0.5)   ? nan
                                               : random.chance(0.5) ? inf
                                                                    : std::numeric_limits<Real>::max();
  return c;
}

template <class Real>
void expect_sound(const Case<Real>& c, const Found<Real>& found, Fault fault) {
  for (std::int64_t i = 0; i < c.series; ++i) {
    const std::int64_t status = found.status[i];
    const std::vector<Real> states = row_of(found.states, i, c.queries * c.states);
    const double last = c.query_times[(i + 1) * c.queries - 1];
    expect(status >= 0 && status <= 3, "status %lld is none", (long long)status);
    expect(found.accepted[i] >= 0 && found.rejected[i] >= 0 && found.evaluations[i] >= 0, "counts are set");
    expect(found.accepted[i] + found.rejected[i] <= c.max_steps, "no more steps than allowed");
    if (status == 0) {
      expect(all_finite(states), "a series that is solved is finite");
      expect(found.reached[i] >= std::max(last, c.start[i]),
             "a series that is solved reached its last query");
      expect(std::find(states.begin(), states.end(), static_cast<Real>(untouched)) == states.end(),
             "every query is answered");
    } else {
      expect(std::all_of(states.begin(), states.end(), [](Real x) { return std::isnan(x); }),
             "a series that failed is NaN");
      expect(found.reached[i] >= c.start[i] && found.reached[i] <= std::max(last, c.start[i]),
             "it failed within its span");
    }
    if (status == 1) expect(found.accepted[i] + found.rejected[i] == c.max_steps, "all steps were used");
    if (fault == Fault::none || fault == Fault::few_steps)
      expect(status == 0 || status == 1, "a sound problem fails for want of steps only, not %lld",
             (long long)status);
  }
}

template <class Real>
bool same_found(const Found<Real>& a, const Found<Real>& b) {
  return same(a.states, b.states) && same(a.status, b.status) && same(a.evaluations, b.evaluations) &&
         same(a.accepted, b.accepted) && same(a.rejected, b.rejected) && same(a.reached, b.reached);
}

template <class Real>
bool same_pulled(const Pulled<Real>& a, const Pulled<Real>& b) {
  const auto all_a = a.all(), all_b = b.all();
  for (std::size_t i = 0; i < all_a.size(); ++i)
    if (!same(*all_a[i], *all_b[i])) return false;
  return true;
}

template <class Real>
void expect_alone(const Case<Real>& c, std::int64_t i, const Found<Real>& found,
                  const std::vector<Real>& cotangent, const Pulled<Real>& gradient) {
  const Case<Real> one = c.alone(i);
  const Found<Real> lone = solved(one, true, 1);
  const bool as_before = lone.status[0] == found.status[i] && lone.evaluations[0] == found.evaluations[i] &&
                         lone.accepted[0] == found.accepted[i] && lone.rejected[0] == found.rejected[i] &&
                         lone.reached[0] == found.reached[i] &&
                         same(lone.states, row_of(found.states, i, c.queries * c.states));
  expect(as_before, "series %lld of %lld alone gives the same bits", (long long)i, (long long)c.series);
  const Pulled<Real> pulled_alone = pulled(one, lone, row_of(cotangent, i, c.queries * c.states), 1);
  expect(same(pulled_alone.h0, row_of(gradient.h0, i, c.states)),
         "series %lld of %lld alone gives the same gradient of h0", (long long)i, (long long)c.series);
  if (c.bias_rows > 1)
    expect(same(pulled_alone.bias, row_of(gradient.bias, i, c.rows_of_field().drive)),
           "series %lld of %lld alone gives the same gradient of its bias", (long long)i,
           (long long)c.series);
  for (const auto which : {&Pulled<Real>::values, &Pulled<Real>::slopes})
    expect(same(pulled_alone.*which,
                Case<Real>::rows(gradient.*which, c.offsets[i], c.offsets[i + 1], c.channels)),
           "series %lld of %lld alone gives the same gradient of its knots", (long long)i,
           (long long)c.series);
}

// With every step accepted and ten times as long as the one before, targets take the same steps and
// differ only as they round.
template <class Real>
void expect_agreement(const Case<Real>& c, const Found<Real>& a, const Found<Real>& b) {
  for (std::int64_t i = 0; i < c.series; ++i) {
    if (a.status[i] != 0 || b.status[i] != 0) continue;
    Real size = 1, apart = 0;
    for (std::int64_t at = i * c.queries * c.states; at < (i + 1) * c.queries * c.states; ++at) {
      size = std::max(size, std::fabs(a.states[at]));
      apart = std::max(apart, std::fabs(a.states[at] - b.states[at]));
    }
    expect(a.accepted[i] == b.accepted[i] && a.rejected[i] == 0 && b.rejected[i] == 0,
           "targets take the same steps");
    expect(static_cast<double>(apart / size) <= (sizeof(Real) == 8 ? 1e-9 : 1e-3),
           "targets agree on series %lld of %s: %g apart", (long long)i, c.field.c_str(),
           static_cast<double>(apart / size));
  }
}

template <class Real>
void run_case(std::uint64_t seed, int forced_threads) {
  Random random(seed * 2 + sizeof(Real) / 8);
  const int threads = forced_threads > 0 ? forced_threads : static_cast<int>(random.integer(1, 3));
  const Fault fault = random.chance(0.5) ? Fault::none : static_cast<Fault>(random.integer(1, 4));
  const Case<Real> c = draw_case<Real>(random, threads, fault);
  std::vector<Real> cotangent(static_cast<std::size_t>(c.series * c.queries * c.states));
  random.fill(cotangent);
  Case<Real> coarse = c;
  coarse.rtol = coarse.atol = 1e9;
  std::vector<Found<Real>> by_target;
  const std::int64_t picks[] = {0, c.series - 1, random.integer(0, c.series - 1)};
  on_each_target([&](Target target) {
    const std::int64_t failed_before = failures;
    const Found<Real> found = solved(c, true, threads);
    expect_sound(c, found, fault);
    expect(same_found(found, solved(c, false, threads == 1 ? 2 : 1)), "threads and tape change nothing");
    const Pulled<Real> gradient = pulled(c, found, cotangent, threads);
    expect(same_pulled(gradient, pulled(c, found, cotangent, threads == 1 ? 3 : 1)),
           "threads change no gradient");
    for (const std::size_t budget : {std::size_t{0}, std::size_t{1} << 18})
      expect(same_pulled(gradient, pulled(c, solved(c, true, threads, budget), cotangent, threads)),
             "a tape with room for %zu bytes of stages changes no gradient", budget);
    if (fault == Fault::none || fault == Fault::few_steps)
      for (const std::vector<Real>* part : gradient.all())
        expect(all_finite(*part), "gradients of a sound problem are finite");
    for (std::int64_t i = 0; i < c.series; ++i)
      if (found.status[i] != 0)
        expect(row_of(gradient.h0, i, c.states) == std::vector<Real>(c.states), "failure has no gradient");
    for (const std::int64_t i : picks) expect_alone(c, i, found, cotangent, gradient);
    if (fault == Fault::none) by_target.push_back(solved(coarse, false, threads));
    if (failures > failed_before)
      std::fprintf(stderr, "  at seed %llu, %zu bytes, target %s, %s, fault %d, states %lld, series %lld\n",
                   (unsigned long long)seed, sizeof(Real), target_name(target), c.field.c_str(),
                   static_cast<int>(fault), (long long)c.states, (long long)c.series);
  });
  for (const Found<Real>& other : by_target) expect_agreement(c, by_target.front(), other);
}

}  // namespace
}  // namespace denots::check

int main(int count, char** arguments) {
  if (count < 2 || count > 3) return std::fputs("usage: fuzz_driver SEEDS [THREADS]\n", stderr), 2;
  const auto seeds = std::strtoull(arguments[1], nullptr, 10);
  const int threads = count > 2 ? std::atoi(arguments[2]) : 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    denots::check::run_case<float>(seed, threads);
    denots::check::run_case<double>(seed, threads);
  }
  return denots::check::verdict("fuzz_driver");
}
