// Runge-Kutta combinations and the rules of step control against long double loops.
#include <limits>

#include "check.h"
#include "methods.h"
#include "rk-inl.h"

namespace denots::DENOTS_TARGET {
namespace {

using check::Aligned;
using check::expect;
using check::expect_near;
using Wide = long double;

template <class Real>
void test_combinations(const Method& method, std::int64_t rows) {
  constexpr int lanes = Simd<Real>::lanes;
  const Wide rounding = std::numeric_limits<Real>::epsilon();
  const Scheme<Real> scheme(method);
  const std::int64_t stride = rows * lanes;
  Aligned<Real> h(stride), y(stride), k(method.stages * stride), out(stride), dt(lanes), sums(lanes);
  check::Random random(3);
  random.fill(h), random.fill(y), random.fill(k), random.fill(dt, 0.1);
  for (int s = 1; s < method.stages; ++s) {
    combine(scheme.input[s], rows, load(dt.data()), h.data(), k.data(), stride, out.data());
    for (std::int64_t i = 0; i < stride; ++i) {
      Wide sum = 0;
      for (int j = 0; j < s; ++j)
        sum += static_cast<Wide>(method.weights[s * method.stages + j]) * k[j * stride + i];
      expect_near(out[i], h[i] + dt[i % lanes] * sum, 40 * rounding, "combine");
    }
  }
  for (int s = 0; s + 1 < method.stages; ++s) {
    combine(scheme.later[s], rows, load(dt.data()), h.data(), k.data(), stride, out.data());
    for (std::int64_t i = 0; i < stride; ++i) {
      Wide sum = 0;
      for (int j = s + 1; j < method.stages; ++j)
        sum += static_cast<Wide>(method.weights[j * method.stages + s]) * k[j * stride + i];
      expect_near(out[i], h[i] + dt[i % lanes] * sum, 40 * rounding, "combine of later stages");
    }
  }
  const double rtol = 1e-3, atol = 1e-2;
  store(sums.data(),
        squared_error(scheme.error, rows, load(dt.data()), rtol, atol, h.data(), y.data(), k.data(), stride));
  for (int l = 0; l < lanes; ++l) {
    Wide sum = 0;
    for (std::int64_t i = l; i < stride; i += lanes) {
      Wide error = 0;
      for (int s = 0; s < method.stages; ++s) error += static_cast<Wide>(method.error[s]) * k[s * stride + i];
      const Wide scale = atol + rtol * std::fmax(std::fabs(static_cast<Wide>(h[i])), std::fabs(y[i]));
      sum += dt[l] * error / scale * dt[l] * error / scale;
    }
    expect_near(sums[l], sum, 1e3L * rounding * (1 + sum), "squared error");
  }
  const Real inf = std::numeric_limits<Real>::infinity();
  for (const Real bad : {inf, -inf, std::numeric_limits<Real>::quiet_NaN()}) {
    y[(rows - 1) * lanes + lanes - 1] = bad;
    store(sums.data(), squared_error(scheme.error, rows, load(dt.data()), rtol, atol, h.data(), y.data(),
                                     k.data(), stride));
    for (int l = 0; l < lanes; ++l)
      expect(is_finite(sums[l]) == (l + 1 < lanes), "only the lane that is not finite fails");
  }
}

void test_method(const Method& method) {
  const Scheme<double> scheme(method);
  for (int s = 0; s < method.stages; ++s) {
    Wide sum = 0;
    for (int j = 0; j < s; ++j) sum += method.weights[s * method.stages + j];
    expect_near(sum, method.nodes[s], 1e-14L, "weights of a stage sum to its node");
    const Wide end = method.weights[(method.stages - 1) * method.stages + s];
    expect_near(scheme.dense_weight(s, 1.0), end, 1e-13L, "dense output ends at the new state");
    expect_near(scheme.dense_weight(s, 0.0), 0.0, 0.0L, "dense output begins at the old state");
    expect_near(scheme.dense_weight(s, 1e-9) / 1e-9, s == 0 ? 1.0 : 0.0, 1e-7L,
                "dense output begins with the first slope");
  }
  for (const double u : {0.1, 0.5, 0.9}) {
    Wide sum = 0;
    for (int s = 0; s < method.stages; ++s) sum += scheme.dense_weight(s, u);
    expect_near(sum, u, 1e-13L, "dense output is exact for constant slopes");
  }
}

template <class Real>
void test_control() {
  for (const int order : {3, 5}) {
    for (const double error : {1e-3, 0.3, 1.0, 7.0, 90.0}) {
      const double wanted = std::fmin(10.0, std::fmax(0.2, 0.9 * std::pow(error, -1.0 / order)));
      expect_near(step_ratio(static_cast<Real>(error), order, 0.9), wanted, 1e-5L, "step ratio");
    }
    expect(step_ratio(Real(0), order, 0.9) == 10.0, "no error, longest step");
    expect(step_ratio(std::numeric_limits<Real>::max(), order, 0.9) == 0.2, "huge error, shortest step");
  }
  const Real inf = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
  for (const Real bad : {inf, nan, Real(0)}) {
    for (const Real good : {Real(0), Real(1), inf, nan}) {
      const Real trial = trial_step(bad, good), first = first_step(Real(1e-3), good, bad, 5);
      expect(trial > 0 && is_finite(trial), "the trial step is a positive number");
      expect(first > 0 && is_finite(first), "the first step is a positive number");
    }
  }
  expect_near(trial_step(Real(2), Real(4)), 0.005L, 1e-8L, "trial step");
  expect_near(first_step(Real(0.1), Real(4), Real(0.1), 5), std::pow(0.01L / 4, 0.2L), 1e-6L, "first step");
  expect_near(first_step(Real(1e-4), Real(4), Real(1e-5), 5), 0.01L, 1e-8L, "first step is a hundred trials");
}

template <class Real>
void test_norm() {
  constexpr int lanes = Simd<Real>::lanes;
  const std::vector<Real> one(5 * lanes, Real(-3)), other(5 * lanes, Real(1));
  expect_near(lane_norm<Real>(5, one.data() + 1, nullptr, one.data() + 1, 0.1, 0.2), 6.0L, 1e-5L, "norm");
  expect_near(lane_norm<Real>(5, one.data(), other.data(), other.data(), 0.1, 0.1), 20.0L, 1e-5L,
              "norm of a difference");
}

template <class Real>
void test_all(const Method& method) {
  for (const std::int64_t rows : {1, 8, 24}) test_combinations<Real>(method, rows);
  test_control<Real>();
  test_norm<Real>();
}

}  // namespace
}  // namespace denots::DENOTS_TARGET

int main() {
  const denots::check::DormandPrince fifth;
  const denots::check::BogackiShampine third;
  const denots::check::OwrenZennaro fourth;
  for (const denots::Method& method : {fifth.view(), fourth.view(), third.view()}) {
    denots::DENOTS_TARGET::test_method(method);
    denots::DENOTS_TARGET::test_all<float>(method);
    denots::DENOTS_TARGET::test_all<double>(method);
  }
  return denots::check::verdict("rk_test");
}
