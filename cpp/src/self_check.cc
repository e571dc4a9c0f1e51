#include "denots/self_check.h"

#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "denots/solve.h"

namespace denots {
namespace {

// Bogacki and Shampine's method of third order.
constexpr double nodes[] = {0.0, 0.5, 0.75, 1.0};
constexpr double weights[] = {0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0.75, 0, 0, 2.0 / 9, 1.0 / 3, 4.0 / 9, 0};
constexpr double error_weights[] = {-5.0 / 72, 1.0 / 12, 1.0 / 9, -1.0 / 8};
constexpr double dense[] = {1, -4.0 / 3, 5.0 / 9, 0, 1, -2.0 / 3, 0, 4.0 / 3, -8.0 / 9, 0, -1, 1};
constexpr Method method{4, 3, 3, nodes, weights, error_weights, dense};

template <class Real>
std::vector<Real> waves(std::int64_t count, double size, double pace) {
  std::vector<Real> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<Real>(size * std::sin(1 + pace * static_cast<double>(i)));
  return all;
}

// Series of different lengths, more than a vector of any target has lanes. At a huge tolerance every step is
// ten times as long as the one before, so that targets take the same ones and differ only as they round.
template <class Real>
class Trial {
 public:
  Trial(const char* field, std::int64_t states, std::int64_t channels)
      : rows_(rows_of(field, states, channels)) {
    const double spread = 1 / std::sqrt(static_cast<double>(states));
    for (std::int64_t i = 0; i < series; ++i) {
      begins_.push_back(static_cast<std::int64_t>(times_.size()));
      for (std::int64_t k = 0; k < 3 + i % 4; ++k) times_.push_back(0.4 * static_cast<double>(k));
      ends_.push_back(static_cast<std::int64_t>(times_.size()));
      stop_.push_back(times_.back() + 0.1);  // a longer step beyond would multiply how targets round
      queries_.push_back(0.3), queries_.push_back(times_.back() + 0.1);
      positions_.push_back(1), positions_.push_back(0);
    }
    start_.assign(series, 0.0);
    const auto knots = static_cast<std::int64_t>(times_.size());
    inputs_ = {waves<Real>(knots * channels, 1.0, 0.7), waves<Real>(knots * channels, 1.0, 1.3),
               waves<Real>(series * states, 0.8, 0.9),  waves<Real>(rows_.hidden * states, spread, 0.37),
               waves<Real>(rows_.hidden, 0.5, 1.9),     waves<Real>(rows_.drive * channels, 0.7, 0.53),
               waves<Real>(rows_.drive, 0.5, 1.1),      waves<Real>(rows_.outer * states, spread, 0.61),
               waves<Real>(rows_.outer, 0.5, 2.3)};
    problem_ = {field,
                method,
                1e9,
                1e9,
                1000,
                series,
                channels,
                states,
                asked,
                1,
                knots,
                begins_.data(),
                ends_.data(),
                times_.data(),
                inputs_[0].data(),
                inputs_[1].data(),
                start_.data(),
                stop_.data(),
                queries_.data(),
                positions_.data(),
                inputs_[2].data(),
                inputs_[3].data(),
                inputs_[4].data(),
                inputs_[5].data(),
                inputs_[6].data(),
                inputs_[7].data(),
                inputs_[8].data()};
  }

  // The states found, then the gradients of a weighted sum of them with respect to each input.
  std::vector<std::vector<Real>> run(Target target) const {
    const std::int64_t numbers = series * asked * problem_.states;
    std::vector<std::vector<Real>> all{std::vector<Real>(static_cast<std::size_t>(numbers))};
    for (const std::vector<Real>& input : inputs_) all.emplace_back(input.size());
    std::vector<std::int64_t> status(series), evaluations(series), accepted(series), rejected(series);
    std::vector<double> reached(series);
    Tape tape(series, static_cast<std::size_t>(problem_.states) * sizeof(Real), std::size_t{1} << 20);
    solve<Real>(
        problem_,
        {all[0].data(), status.data(), evaluations.data(), accepted.data(), rejected.data(), reached.data()},
        &tape, 1, target);
    const std::vector<Real> cotangent = waves<Real>(numbers, 1.0, 0.29);
    pull_back<Real>(
        problem_, tape,
        {cotangent.data(), status.data(), accepted.data(), all[4].data(), all[5].data(), all[6].data(),
         all[7].data(), all[8].data(), all[9].data(), all[3].data(), all[1].data(), all[2].data()},
        1);
    return all;
  }

 private:
  static constexpr std::int64_t series = 19, asked = 2;
  Rows rows_;
  std::vector<std::int64_t> begins_, ends_, positions_;
  std::vector<double> times_, start_, stop_, queries_;
  std::vector<std::vector<Real>>
      inputs_;  // values, slopes, h0, weight_hh, bias_hh, weight_in, bias, weight_out, bias_out
  Problem<Real> problem_;
};

constexpr const char* result_names[] = {"the states",
                                        "the gradient of values",
                                        "the gradient of slopes",
                                        "the gradient of h0",
                                        "the gradient of weight_hh",
                                        "the gradient of bias_hh",
                                        "the gradient of weight_in",
                                        "the gradient of bias",
                                        "the gradient of weight_out",
                                        "the gradient of bias_out"};

template <class Real>
std::string compare(const std::string& field, std::int64_t states, std::int64_t channels, Target target,
                    double allowed) {
  const Trial<Real> trial(field.c_str(), states, channels);
  const auto plain = trial.run(Target::baseline), found = trial.run(target);
  const double rounding = sizeof(Real) == 8 ? 1e-10 : 1e-4;
  for (std::size_t part = 0; part < plain.size(); ++part) {
    double size = 0, apart = 0;
    for (std::size_t i = 0; i < plain[part].size(); ++i) {
      const double wanted = static_cast<double>(plain[part][i]), got = static_cast<double>(found[part][i]);
      size = std::fmax(size, std::fabs(wanted));
      // A NaN on either side is as far away as can be.
      const double off = std::fabs(got - wanted);
      apart = off <= apart ? apart : std::isnan(off) ? INFINITY : off;
    }
    if (apart <= allowed * rounding * size) continue;
    std::ostringstream words;
    words << result_names[part] << " of " << field << " (" << states << " states, " << channels
          << " channels, float" << 8 * sizeof(Real) << ") are " << apart
          << " away from those of the plain target, their size being " << size;
    return words.str();
  }
  return "";
}

// What was said of a target before stays in memory: somebody may be reading it.
struct Verdict {
  std::string fault;
  const Verdict* before;
};
std::atomic<const Verdict*> verdicts[3];

}  // namespace

std::string disagreement(Target target, double allowed) {
  for (const std::string& field : field_names())
    // Few and many states: whether the tape keeps stages. Few and many channels: how they are summed.
    for (const auto& [states, channels] : {std::pair<int, int>{5, 6}, {33, 2}}) {
      const std::string single = compare<float>(field, states, channels, target, allowed);
      if (!single.empty()) return single;
      const std::string twice = compare<double>(field, states, channels, target, allowed);
      if (!twice.empty()) return twice;
    }
  return "";
}

// No lock, which a child of a fork might inherit: threads that ask at the same time may each find out.
const std::string& fault_of(Target target) {
  const std::atomic<const Verdict*>& known = verdicts[static_cast<int>(target)];
  if (known.load(std::memory_order_acquire) == nullptr)
    set_fault(target, target == Target::baseline ? "" : disagreement(target));
  return known.load(std::memory_order_acquire)->fault;
}

void set_fault(Target target, const std::string& fault) {
  std::atomic<const Verdict*>& known = verdicts[static_cast<int>(target)];
  auto fresh = std::make_unique<Verdict>(Verdict{fault, known.load(std::memory_order_acquire)});
  while (!known.compare_exchange_weak(fresh->before, fresh.get(), std::memory_order_acq_rel)) {
  }
  fresh.release();
}

}  // namespace denots
