// Evidence, likelihoods and posteriors against the dense normal distribution in long double, on every target
// that runs here; memory is of exactly the size told.
#include "denots/gaussian_curves.h"

#include <algorithm>
#include <limits>

#include "check.h"

namespace denots::check {
namespace {

using Wide = long double;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Case {
  std::int64_t channels, points, directions, classes;
  bool shared_clock;
  std::vector<double> mean, along, centre, scale, times, means, factors;
  std::vector<std::int64_t> offsets{0}, of;
  std::vector<float> values;
  double noise;

  std::int64_t series() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  Curves curves() const {
    return {channels,
            points,
            directions,
            mean.data(),
            along.data(),
            centre.data(),
            scale.data(),
            shared_clock ? 0.0 : nan,
            shared_clock ? 5.0 : nan,
            1.0};
  }
  Scores scores() const { return {series(), offsets.data(), times.data(), values.data()}; }
  Classes groups() const { return {classes, directions, means.data(), factors.data(), noise}; }

  Case alone(std::int64_t i) const {
    Case one = *this;
    const auto first = static_cast<std::ptrdiff_t>(offsets[i]),
               last = static_cast<std::ptrdiff_t>(offsets[i + 1]);
    one.offsets = {0, offsets[i + 1] - offsets[i]};
    one.times.assign(times.begin() + first, times.begin() + last);
    one.values.assign(values.begin() + first * channels, values.begin() + last * channels);
    one.of = {of[i]};
    return one;
  }
};

Case random_case(std::uint64_t seed) {
  Random random(seed);
  Case it;
  it.channels = random.integer(1, 3), it.points = random.integer(2, 9);
  it.directions = random.integer(1, 35), it.classes = random.integer(1, 4);
  it.shared_clock = random.chance(0.5);
  it.noise = random.uniform(0.05, 1);
  const std::int64_t R = it.directions, n = random.integer(1, 20);
  const double missing = random.uniform();
  it.mean.resize(it.channels * it.points), it.along.resize(it.channels * it.points * R);
  it.centre.resize(it.channels), it.scale.resize(it.channels);
  it.means.resize(it.classes * R), it.factors.resize(it.classes * R * R);
  random.fill(it.mean), random.fill(it.along), random.fill(it.centre), random.fill(it.means);
  random.fill(it.factors, 1 / std::sqrt(static_cast<double>(R)));
  for (double& scale : it.scale) scale = random.uniform(0.5, 2);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t rows = random.chance(0.1) ? random.integer(60, 90) : random.integer(1, 12);
    double time = random.uniform(0, 4);
    for (std::int64_t row = 0; row < rows; ++row, time += random.uniform(0, 0.5)) it.times.push_back(time);
    it.offsets.push_back(static_cast<std::int64_t>(it.times.size()));
    it.of.push_back(random.integer(0, it.classes - 1));
  }
  it.values.resize(it.times.size() * static_cast<std::size_t>(it.channels));
  for (float& value : it.values)
    value = random.chance(missing) ? static_cast<float>(nan) : static_cast<float>(random.symmetric(2));
  it.times.shrink_to_fit();
  return it;
}

struct Found {
  std::vector<double> gram, told, square, seen, likely, mean, covariance;

  std::vector<const std::vector<double>*> all() const {
    return {&gram, &told, &square, &seen, &likely, &mean, &covariance};
  }
};

Found found_of(const Case& it, int threads, Target target) {
  const std::int64_t n = it.series(), R = it.directions;
  const auto sized = [](std::int64_t size) {
    return std::vector<double>(static_cast<std::size_t>(size), -7);
  };
  Found found{sized(n * R * R),      sized(n * R), sized(n),        sized(n),
              sized(n * it.classes), sized(n * R), sized(n * R * R)};
  sum_evidence(it.curves(), it.scores(),
               {found.gram.data(), found.told.data(), found.square.data(), found.seen.data()}, threads,
               target);
  const Sums<const double> sums{found.gram.data(), found.told.data(), found.square.data(), found.seen.data()};
  log_likelihoods(it.groups(), n, sums, found.likely.data(), threads, target);
  posteriors(it.groups(), n, sums, it.of.data(), found.mean.data(), found.covariance.data(), threads, target);
  return found;
}

// Observed cells of a series: directions, and values less the mean.
struct Cells {
  std::vector<std::vector<Wide>> x;
  std::vector<Wide> y;
};

Cells cells_of(const Case& it, std::int64_t i) {
  const std::int64_t first = it.offsets[i], last = it.offsets[i + 1], C = it.channels, P = it.points,
                     R = it.directions;
  const Wide begin = it.shared_clock ? 0.0L : it.times[first],
             end = it.shared_clock ? 5.0L : it.times[last - 1], span = end > begin ? end - begin : 1.0L;
  Cells cells;
  for (std::int64_t row = first; row < last; ++row) {
    const Wide steps = std::clamp((it.times[row] - begin) / span, Wide(0), Wide(1)) * (P - 1);
    for (std::int64_t c = 0; c < C; ++c) {
      const float value = it.values[row * C + c];
      if (std::isnan(value)) continue;
      std::vector<Wide> x(static_cast<std::size_t>(R));
      Wide middle = 0;
      for (std::int64_t p = 0; p < P; ++p) {
        const Wide weight = std::max(Wide(0), 1 - std::fabs(steps - p));  // a hat around each point
        middle += weight * it.mean[c * P + p];
        for (std::int64_t r = 0; r < R; ++r) x[r] += weight * it.along[(c * P + p) * R + r];
      }
      cells.x.push_back(x), cells.y.push_back((value - it.centre[c]) / it.scale[c] - middle);
    }
  }
  return cells;
}

// By Gauss and Jordan: right-hand sides become solutions; returns the logarithm of the determinant.
Wide solve(std::vector<std::vector<Wide>> a, std::vector<std::vector<Wide>>& right) {
  Wide size = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    size += std::log(a[k][k]);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (i == k) continue;
      const Wide factor = a[i][k] / a[k][k];
      for (std::size_t j = 0; j < a.size(); ++j) a[i][j] -= factor * a[k][j];
      for (std::size_t j = 0; j < right[i].size(); ++j) right[i][j] -= factor * right[k][j];
    }
  }
  for (std::size_t k = 0; k < a.size(); ++k)
    for (Wide& entry : right[k]) entry /= a[k][k];
  return size;
}

void expect_series(const Case& it, const Found& found, std::int64_t i) {
  const Cells cells = cells_of(it, i);
  const std::int64_t R = it.directions;
  const std::size_t seen = cells.y.size();
  Wide square = 0;
  for (const Wide y : cells.y) square += y * y;
  expect(found.seen[i] == static_cast<double>(seen), "all observed values are counted");
  expect_near(found.square[i], square, 1e-11L * (1 + square), "the sum of squares");
  for (std::int64_t a = 0; a < R; ++a) {
    Wide told = 0;
    for (std::size_t k = 0; k < seen; ++k) told += cells.x[k][a] * cells.y[k];
    expect_near(found.told[i * R + a], told, 1e-10L, "directions by values");
    for (std::int64_t b = 0; b < R; ++b) {
      Wide gram = 0;
      for (std::size_t k = 0; k < seen; ++k) gram += cells.x[k][a] * cells.x[k][b];
      expect_near(found.gram[(i * R + a) * R + b], gram, 1e-10L, "directions by directions");
    }
  }
  for (std::int64_t k = 0; k < it.classes; ++k) {
    const double *const mean = it.means.data() + k * R, *const factor = it.factors.data() + k * R * R;
    const auto prior = [&](std::int64_t a, std::int64_t b) {
      Wide sum = 0;
      for (std::int64_t j = 0; j < R; ++j) sum += static_cast<Wide>(factor[a * R + j]) * factor[b * R + j];
      return sum;
    };
    // [n, R + 1]: x times the prior, and what is left of the values at the mean.
    std::vector<std::vector<Wide>> within(seen, std::vector<Wide>(seen)),
        right(seen, std::vector<Wide>(R + 1));
    for (std::size_t a = 0; a < seen; ++a) {
      for (std::int64_t j = 0; j < R; ++j)
        for (std::int64_t b = 0; b < R; ++b) right[a][j] += cells.x[a][b] * prior(b, j);
      right[a][R] = cells.y[a];
      for (std::int64_t j = 0; j < R; ++j) right[a][R] -= cells.x[a][j] * mean[j];
      for (std::size_t b = 0; b < seen; ++b)
        for (std::int64_t j = 0; j < R; ++j) within[a][b] += right[a][j] * cells.x[b][j];
      within[a][a] += it.noise;
    }
    std::vector<std::vector<Wide>> solved = right;
    Wide likely = solve(within, solved) - static_cast<Wide>(seen) * std::log(static_cast<Wide>(it.noise));
    for (std::size_t a = 0; a < seen; ++a) likely += right[a][R] * solved[a][R];
    likely *= -0.5L;
    expect_near(found.likely[i * it.classes + k], likely, 1e-9L * (1 + std::fabs(likely)),
                "the log-likelihood");
    if (it.of[i] != k) continue;
    for (std::int64_t a = 0; a < R; ++a) {
      Wide middle = mean[a];
      for (std::size_t cell = 0; cell < seen; ++cell) middle += right[cell][a] * solved[cell][R];
      expect_near(found.mean[i * R + a], middle, 1e-8L, "the mean of the posterior");
      for (std::int64_t b = 0; b < R; ++b) {
        Wide covariance = prior(a, b);
        for (std::size_t cell = 0; cell < seen; ++cell) covariance -= right[cell][a] * solved[cell][b];
        expect_near(found.covariance[(i * R + a) * R + b], covariance, 1e-8L,
                    "the covariance of the posterior");
      }
    }
  }
}

void expect_case(std::uint64_t seed, Target target) {
  const Case it = random_case(seed);
  const Found found = found_of(it, 2, target), serial = found_of(it, 1, target);
  for (std::size_t part = 0; part < found.all().size(); ++part)
    expect(*found.all()[part] == *serial.all()[part], "threads change no bit");
  for (std::int64_t i = 0; i < it.series(); ++i) {
    if (it.offsets[i + 1] - it.offsets[i] < 20) expect_series(it, found, i);
    const Found alone = found_of(it.alone(i), 1, target);
    for (std::size_t part = 0; part < found.all().size(); ++part) {
      const std::vector<double>&one = *alone.all()[part], &all = *found.all()[part];
      const auto width = static_cast<std::ptrdiff_t>(one.size());
      expect(std::equal(one.begin(), one.end(), all.begin() + i * width), "a series has the same bits alone");
    }
  }
}

void a_series_that_is_wrong_harms_no_other(Target target) {
  Case it = random_case(3);
  const Found sound = found_of(it, 1, target);
  for (const double wrong : {nan, std::numeric_limits<double>::infinity(), -1e9}) {
    Found broken = sound;
    for (std::int64_t a = 0; a < it.directions; ++a) broken.gram[a * it.directions + a] = wrong;
    log_likelihoods(it.groups(), it.series(),
                    {broken.gram.data(), broken.told.data(), broken.square.data(), broken.seen.data()},
                    broken.likely.data(), 1, target);
    const auto width = static_cast<std::ptrdiff_t>(it.classes);
    expect(std::none_of(broken.likely.begin(), broken.likely.begin() + width,
                        [](double x) { return std::isfinite(x); }),
           "what is no covariance has no likelihood");
    expect(std::equal(broken.likely.begin() + width, broken.likely.end(), sound.likely.begin() + width),
           "the others have the same bits");
  }
}

}  // namespace
}  // namespace denots::check

int main() {
  using namespace denots::check;
  for (const denots::Target target :
       {denots::Target::baseline, denots::Target::avx2, denots::Target::avx512}) {
    if (!denots::supported(target)) continue;
    for (std::uint64_t seed = 0; seed < 25; ++seed) expect_case(seed, target);
    a_series_that_is_wrong_harms_no_other(target);
  }
  return verdict("gaussian_curves_test");
}
