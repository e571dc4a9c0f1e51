// Elementary functions against long double, on a dense grid and at the ends of the number range.
#include <limits>

#include "check.h"
#include "oracle.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {
namespace {

using check::expect;
using check::Wide;

template <class Real, class Function>
Real one_of(Function function, Real a, int lane) {
  constexpr int lanes = Simd<Real>::lanes;
  alignas(64) Real in[lanes], out[lanes];
  for (int l = 0; l < lanes; ++l) in[l] = l == lane ? a : Real(0.25);
  store(out, function(load(in)));
  return out[lane];
}

// Largest error relative to max(|wanted|, floor), over a grid and its neighbourhood of zero.
template <class Real, class Function, class Judge>
void expect_accuracy(const char* name, Function function, Judge judge, Real reach, Wide floor, Wide bound) {
  constexpr int lanes = Simd<Real>::lanes;
  Wide worst = 0, worst_at = 0;
  const auto visit = [&](Real a, int lane) {
    const Wide wanted = judge(a), found = one_of<Real>(function, a, lane);
    const Wide error = std::fabs(found - wanted) / std::fmax(std::fabs(wanted), floor);
    if (!(error <= worst)) worst = error, worst_at = a;
  };
  constexpr int points = 40000;
  for (int i = -points; i <= points; ++i) visit(reach * static_cast<Real>(i) / points, (i + points) % lanes);
  for (Real a = reach; a > std::numeric_limits<Real>::min(); a *= Real(0.83))
    visit(a, 0), visit(-a, lanes - 1);
  expect(worst <= bound, "%s<%zu bytes>: error %.3Lg at %.9Lg, expected at most %.3Lg", name, sizeof(Real),
         worst, worst_at, bound);
}

template <class Real>
void test_functions(Wide bound) {
  using V = typename Simd<Real>::V;
  const auto tanh_of = [](V a) { return tanh<Real>(a); };
  const auto sigmoid_of = [](V a) { return sigmoid_of_twice(a); };
  const auto power_of = [](V t) {
    const PowerOfTwo<Real> e(t);
    return fma(e.scale, e.rest, e.scale);
  };
  const Real limit = sizeof(Real) == 4 ? Real(30) : Real(500);
  expect_accuracy<Real>("tanh", tanh_of, [](Wide a) { return std::tanh(a); }, 25, 0, 4 * bound);
  expect_accuracy<Real>(
      "sigmoid", sigmoid_of, [](Wide a) { return check::sigmoid(2 * a); }, 25, 1, 2 * bound);
  expect_accuracy<Real>("2^t", power_of, [](Wide t) { return std::exp2(t); }, limit, 0, 2 * bound);

  const Real inf = std::numeric_limits<Real>::infinity(), most = std::numeric_limits<Real>::max();
  const Real nan = std::numeric_limits<Real>::quiet_NaN(), tiny = std::numeric_limits<Real>::denorm_min();
  for (int lane = 0; lane < Simd<Real>::lanes; ++lane) {
    for (const Real large : {inf, most, Real(1e4), Real(400)}) {
      expect(one_of<Real>(tanh_of, large, lane) == 1, "tanh of a large number is 1");
      expect(one_of<Real>(tanh_of, -large, lane) == -1, "tanh of a large negative number is -1");
      expect(one_of<Real>(sigmoid_of, large, lane) == 1, "a gate that is open is exactly 1");
      expect(one_of<Real>(sigmoid_of, -large, lane) <= 1e-100L, "a gate that is shut is 0");
    }
    expect(std::isnan(one_of<Real>(tanh_of, nan, lane)), "tanh keeps NaN");
    expect(std::isnan(one_of<Real>(sigmoid_of, nan, lane)), "sigmoid keeps NaN");
    expect(std::isnan(one_of<Real>(power_of, nan, lane)), "2^NaN is NaN");
    for (const Real zero : {Real(0), tiny, -tiny}) {
      expect(std::fabs(one_of<Real>(tanh_of, zero, lane)) <= 2 * tiny, "tanh of zero is zero");
      expect(one_of<Real>(sigmoid_of, zero, lane) == Real(0.5), "sigmoid of zero is a half");
    }
    expect(one_of<Real>([](V a) { return abs(a); }, -inf, lane) == inf, "abs of -infinity");
    expect(one_of<Real>([](V a) { return max(splat(Real(1)), a); }, nan, lane) != Real(1),
           "max returns its second operand when that is NaN");
    expect(one_of<Real>([](V a) { return min(a, splat(Real(1))); }, nan, lane) == Real(1),
           "min returns its second operand when the first is NaN");
  }
}

void test_counts() {
  constexpr int lanes = Simd<double>::lanes;
  alignas(64) double x[lanes];
  for (int l = 0; l < lanes; ++l) x[l] = l;
  for (int most = -1; most <= lanes; ++most)
    expect(count_up_to(load(x), splat<double>(most)) == (most < lanes ? most + 1 : lanes), "lanes up to %d",
           most);
  x[0] = std::numeric_limits<double>::quiet_NaN();
  expect(count_up_to(load(x), splat(1.0)) == 1, "NaN is not counted");
}

void test_arena() {
  Arena measure(nullptr);
  expect(measure.take<float>(3) == nullptr && measure.take<double>(9) == nullptr, "a measure gives nothing");
  check::Aligned<char> memory(static_cast<std::int64_t>(measure.used()));
  Arena arena(memory.data());
  float* const first = arena.take<float>(3);
  double* const second = arena.take<double>(9);
  expect(reinterpret_cast<char*>(first) == memory.data(), "the first piece is at the front");
  expect(reinterpret_cast<char*>(second) == memory.data() + 64, "pieces begin on cache lines");
  expect(arena.used() == measure.used() && arena.used() == 64 + 128, "memory is used as measured");
}

}  // namespace
}  // namespace denots::DENOTS_TARGET

int main() {
  denots::DENOTS_TARGET::test_functions<float>(1.2e-7L);
  denots::DENOTS_TARGET::test_functions<double>(2.3e-16L);
  denots::DENOTS_TARGET::test_counts();
  denots::DENOTS_TARGET::test_arena();
  return denots::check::verdict("vec_test");
}
