// Trajectories and gradients against closed forms and a fine fixed-step method in long double.
#include <limits>
#include <stdexcept>
#include <string>

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
  for (const char* field : {"gru-none", "gru-sync", "gru-anti"}) {
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
    const Wide rate = c.field == "gru-none" ? 0.5L : -0.5L;
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

  Judged(const std::string& field, const Method& method, double tolerance, std::uint64_t seed = 7)
      : weights(field, rows_of(field, 3, 2), 3, 2) {
    Random random(seed);
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
    if (weights.has_kinks())  // no ReLU opens or closes on the way
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
void test_judged(const Method& method, double tolerance, Wide smooth_states, Wide smooth_gradients,
                 bool land_on_knots) {
  std::uint64_t seed = 7;
  for (const std::string& field : field_names()) {
    // The slope of the signal jumps at its knots, and the ReLU field makes large steps over them.
    Judged<Real> judged(field, method, tolerance, seed++);
    judged.c.land_on_knots = land_on_knots;
    const Wide wider = judged.weights.has_kinks() ? 1e3L : 1;
    const Wide states_within = wider * smooth_states, gradients_within = wider * smooth_gradients;
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
    // Two knots stand at one time: moving one of them makes the signal jump, where no step may land.
    if (!land_on_knots)
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

template <class Work>
std::string refusal(Work work) {
  try {
    work();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

void test_unknown_names() {
  setenv("DENOTS_TARGET", "abacus", 1);
  expect(!refusal([] { choose_target(); }).empty(), "an unknown target is refused");
  unsetenv("DENOTS_TARGET");
  expect(!refusal([] { rows_of("abacus", 1, 1); }).empty(), "an unknown field is refused");
}

// A tape is read by the target that wrote it, whatever the environment says by then.
void test_the_target_stays_with_the_tape(const Method& method) {
  for (const std::string& field : field_names()) {
    Judged<float> judged(field, method, 1e-3);
    Case<float>& c = judged.c;
    c.states = 40, c.queries = 1, c.positions = {0}, c.query_times = {2.0};
    c.size_weights();
    Random random(3);
    c.h0.resize(40);
    for (auto* weights : {&c.weight_hh, &c.bias_hh, &c.weight_in, &c.bias, &c.weight_out, &c.bias_out, &c.h0})
      random.fill(*weights, 0.2);
    const std::vector<float> cotangent(40, 1.0f);
    for (const Target target : widest_first) {
      if (!supported(target)) continue;
      const Found<float> found = solved(c, true, 1, std::size_t{1} << 26, target);
      expect(found.tape->target() == target, "a tape knows its target");
      const Pulled<float> wanted = pulled(c, found, cotangent, 1);
      on_each_target([&](Target) {
        expect(pulled(c, found, cotangent, 1).weight_hh == wanted.weight_hh, "its gradient is the same");
      });
    }
  }
}

void test_shared_knots_are_refused(const Method& method) {
  Judged<double> judged("gru-anti", method, 1e-3);
  Case<double>& c = judged.c;
  Case<double> two = c;
  two.series = 2, two.start = {-0.2, -0.2};
  for (auto* twice : {&two.query_times, &two.h0, &two.times}) {
    const std::vector<double> once = *twice;
    twice->insert(twice->end(), once.begin(), once.end());
  }
  two.positions.insert(two.positions.end(), c.positions.begin(), c.positions.end());
  two.offsets = {0, 5, 10};  // sizes only: both series own the first five knots below
  const std::int64_t begins[] = {0, 0}, ends[] = {5, 5};
  Problem<double> shared = two.view();
  shared.begins = begins, shared.ends = ends;
  std::vector<double> states(30), reached(2), gradient(2000), cotangent(30, 1.0);
  std::vector<std::int64_t> status(2), evaluations(2), accepted(2), rejected(2);
  Tape tape(2, 3 * sizeof(double), 1 << 20);
  solve<double>(
      shared,
      {states.data(), status.data(), evaluations.data(), accepted.data(), rejected.data(), reached.data()},
      &tape, 1, Target::baseline);
  double* const to = gradient.data();
  const auto pull = [&](double* knots) {
    pull_back<double>(shared, tape,
                      {cotangent.data(), status.data(), accepted.data(), to, to + 100, to + 200, to + 300,
                       to + 400, to + 500, to + 600, knots, knots},
                      2);
  };
  expect(refusal([&] { pull(nullptr); }).empty(),
         "series may share knots where nobody asks for their gradient");
  expect(refusal([&] { pull(to + 1000); }).find("series 0 and 1 share knots") == 0, "else they are refused");
}

}  // namespace
}  // namespace denots::check

int main() {
  using namespace denots::check;
  const DormandPrince fifth;
  const BogackiShampine third;
  const OwrenZennaro fourth;
  on_each_target([&](denots::Target) {
    for (const denots::Method& method : {fifth.view(), fourth.view(), third.view()}) {
      test_closed_form<float>(method);
      test_closed_form<double>(method);
    }
    for (const bool land : {false, true}) {
      test_judged<double>(fifth.view(), 1e-11, 1e-8L, 1e-6L, land);
      test_judged<float>(third.view(), 1e-5, 1e-4L, 1e-3L, land);
    }
  });
  test_unknown_names();
  test_the_target_stays_with_the_tape(fifth.view());
  test_shared_knots_are_refused(third.view());
  return verdict("solve_test");
}
