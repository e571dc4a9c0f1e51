// Trajectories and gradients against closed forms and a fine fixed-step method in long double.
#include <limits>
#include <stdexcept>

#include "methods.h"
#include "oracle.h"
#include "problem.h"

namespace denots::check {
namespace {

template <class Real>
void narrow(const WideVector& from, std::vector<Real>& to) {
  to.assign(from.begin(), from.end());
}

// With all weights zero both gates are one half and the candidate is zero.
template <class Real>
void test_closed_form(const Method& method) {
  for (const Field field : {Field::gru_none, Field::gru_sync, Field::gru_anti}) {
    Case<Real> c;
    c.field = field, c.method = method, c.rtol = c.atol = 1e-6;
    c.series = 5, c.states = 9, c.queries = 3;
    c.size_weights();
    for (std::int64_t i = 0; i < c.series; ++i) {
      c.offsets.push_back(i), c.times.push_back(0.0), c.values.push_back(1), c.slopes.push_back(0);
      c.start.push_back(0.5);
      for (const double t : {0.5, 1.0, 2.0}) c.query_times.push_back(t + (t > 0.5 ? 0.1 * i : 0.0));
      for (const std::int64_t position : {2, 0, 1}) c.positions.push_back(position);
      for (std::int64_t row = 0; row < c.states; ++row) c.h0.push_back(static_cast<Real>(1 + row - i));
    }
    c.offsets.push_back(c.series);
    const Found<Real> found = solved(c, false, 2);
    const Wide rate = field == Field::gru_none ? 0.5L : -0.5L;
    for (std::int64_t i = 0; i < c.series; ++i)
      for (std::int64_t k = 0; k < c.queries; ++k)
        for (std::int64_t row = 0; row < c.states; ++row) {
          const Wide h0 = c.h0[i * c.states + row];
          const Wide wanted = h0 * std::exp(rate * (c.query_times[i * 3 + k] - c.start[i]));
          const std::int64_t at = (i * 3 + c.positions[i * 3 + k]) * c.states + row;
          expect_near(found.states[at], wanted, 2e-5L * (1 + std::fabs(h0)), "exponential");
        }
  }
}

// One series with a kink, queries between, at and after the knots.
template <class Real>
struct Judged {
  Case<Real> c;
  FieldWeights weights;
  WideSignal signal{2, {0.0, 0.4, 0.4, 1.1, 1.7}, {}, {}};
  WideVector h0;
  std::vector<Real> cotangent;

  Judged(Field field, const Method& method, double tolerance) : weights(field, 3, 2) {
    Random random(static_cast<std::uint64_t>(field) + 7);
    const auto draw = [&](WideVector& wide, std::vector<Real>& to, std::size_t size, double reach) {
      to.resize(size);
      random.fill(to, reach);
      wide.assign(to.begin(), to.end());
    };
    c.field = field, c.method = method, c.rtol = c.atol = tolerance, c.max_steps = 100000;
    c.states = 3, c.channels = 2, c.queries = 5;
    c.offsets = {0, 5}, c.times = signal.times, c.start = {-0.2};
    c.query_times = {-0.2, 0.3, 0.4, 1.234, 2.0}, c.positions = {0, 1, 2, 3, 4};
    draw(signal.values, c.values, 10, 1.0);
    for (int i = 2; i < 4; ++i) signal.values[2 + i] = c.values[2 + i] = c.values[i];
    draw(signal.slopes, c.slopes, 10, 1.0);
    draw(weights.weight_hh, c.weight_hh, weights.weight_hh.size(), 0.9);
    draw(weights.bias_hh, c.bias_hh, weights.bias_hh.size(), 0.5);
    draw(weights.weight_in, c.weight_in, weights.weight_in.size(), 0.9);
    draw(weights.bias, c.bias, weights.bias.size(), 0.5);
    draw(weights.weight_out, c.weight_out, weights.weight_out.size(), 0.9);
    draw(weights.bias_out, c.bias_out, weights.bias_out.size(), 0.5);
    if (field == Field::mlp_relu || field == Field::cde)  // no ReLU opens or closes on the way
      for (int i = 0; i < 3; ++i)
        weights.bias_hh[i] = c.bias_hh[i] = static_cast<Real>((i == 1 ? -6 : 6) + c.bias_hh[i]);
    draw(h0, c.h0, 3, 1.0);
    cotangent.resize(15);
    random.fill(cotangent);
  }

  std::vector<WideVector> answers(const FieldWeights& field, const WideSignal& x, WideVector h,
                                  int steps) const {
    std::vector<WideVector> all;
    double t = c.start[0];
    for (const double asked : c.query_times) {
      h = integrate(field, x, t, asked, h, steps);
      all.push_back(h);
      t = asked;
    }
    return all;
  }

  Wide loss(const FieldWeights& field, const WideSignal& x, const WideVector& first) const {
    Wide sum = 0;
    const std::vector<WideVector> all = answers(field, x, first, 24);
    for (std::size_t k = 0; k < all.size(); ++k)
      for (std::size_t row = 0; row < 3; ++row) sum += cotangent[k * 3 + row] * all[k][row];
    return sum;
  }

  void expect_gradient(WideVector FieldWeights::* which, const std::vector<Real>& found, Wide tolerance,
                       const char* what) const {
    for (std::size_t i = 0; i < found.size(); ++i) {
      FieldWeights up = weights, down = weights;
      (up.*which)[i] += nudge, (down.*which)[i] -= nudge;
      const Wide wanted = (loss(up, signal, h0) - loss(down, signal, h0)) / (2 * nudge);
      expect_near(found[i], wanted, tolerance * (1 + std::fabs(wanted)), what);
    }
  }

  void expect_knots(WideVector WideSignal::* which, const std::vector<Real>& found, Wide tolerance,
                    const char* what) const {
    for (std::size_t i = 0; i < found.size(); ++i) {
      WideSignal up = signal, down = signal;
      (up.*which)[i] += nudge, (down.*which)[i] -= nudge;
      expect_near(found[i], (loss(weights, up, h0) - loss(weights, down, h0)) / (2 * nudge), tolerance, what);
    }
  }

  static constexpr Wide nudge = 1e-4L;
};

template <class Real>
void test_judged(const Method& method, double tolerance, Wide smooth_states, Wide smooth_gradients) {
  for (int kind = 0; kind < fields; ++kind) {
    // The slope of the signal jumps at its knots, and the ReLU field makes large steps over them.
    const Wide wider = static_cast<Field>(kind) >= Field::mlp_relu ? 1e3L : 1;
    const Wide states_within = wider * smooth_states, gradients_within = wider * smooth_gradients;
    const Judged<Real> judged(static_cast<Field>(kind), method, tolerance);
    const Found<Real> found = solved(judged.c, true, 1);
    expect(found.status[0] == 0, "the series is solved, status %lld", (long long)found.status[0]);
    const std::vector<WideVector> wanted = judged.answers(judged.weights, judged.signal, judged.h0, 64);
    for (std::size_t k = 0; k < 5; ++k)
      for (std::size_t row = 0; row < 3; ++row)
        expect_near(found.states[k * 3 + row], wanted[k][row], states_within, "state");
    const Pulled<Real> gradient = pulled(judged.c, found, judged.cotangent, 1);
    judged.expect_gradient(&FieldWeights::weight_hh, gradient.weight_hh, gradients_within,
                           "weight_hh gradient");
    judged.expect_gradient(&FieldWeights::bias_hh, gradient.bias_hh, gradients_within, "bias_hh gradient");
    judged.expect_gradient(&FieldWeights::weight_in, gradient.weight_in, gradients_within,
                           "weight_in gradient");
    judged.expect_gradient(&FieldWeights::bias, gradient.bias, gradients_within, "bias gradient");
    judged.expect_gradient(&FieldWeights::weight_out, gradient.weight_out, gradients_within,
                           "weight_out gradient");
    judged.expect_gradient(&FieldWeights::bias_out, gradient.bias_out, gradients_within, "bias_out gradient");
    judged.expect_knots(&WideSignal::values, gradient.values, 100 * smooth_gradients * wider,
                        "values gradient");
    judged.expect_knots(&WideSignal::slopes, gradient.slopes, 100 * smooth_gradients * wider,
                        "slopes gradient");
    for (std::size_t i = 0; i < 3; ++i) {
      WideVector up = judged.h0, down = judged.h0;
      up[i] += 1e-4L, down[i] -= 1e-4L;
      const Wide rise = judged.loss(judged.weights, judged.signal, up);
      const Wide fall = judged.loss(judged.weights, judged.signal, down);
      expect_near(gradient.h0[i], (rise - fall) / 2e-4L, gradients_within, "h0 gradient");
    }
  }
}

void test_unknown_target() {
  setenv("DENOTS_TARGET", "abacus", 1);
  bool refused = false;
  try {
    choose_target();
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  unsetenv("DENOTS_TARGET");
  expect(refused, "an unknown target is refused");
}

}  // namespace
}  // namespace denots::check

int main() {
  using namespace denots::check;
  const DormandPrince fifth;
  const BogackiShampine third;
  on_each_target([&](denots::Target) {
    for (const denots::Method& method : {fifth.view(), third.view()}) {
      test_closed_form<float>(method);
      test_closed_form<double>(method);
    }
    test_judged<double>(fifth.view(), 1e-11, 1e-8L, 1e-6L);
    test_judged<float>(third.view(), 1e-5, 1e-4L, 1e-3L);
  });
  test_unknown_target();
  return verdict("solve_test");
}
