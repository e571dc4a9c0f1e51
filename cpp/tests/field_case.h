// The slope of a field against long double loops, its pullback against their central differences.
#pragma once

#include <limits>

#include "check.h"
#include "gemm-inl.h"
#include "oracle.h"

namespace denots::DENOTS_TARGET {
using check::Aligned;
using check::expect_near;
using check::FieldWeights;
using check::Wide;
using check::WideVector;

template <class Real>
void copy(check::Random& random, std::vector<Real>& narrow, WideVector& wide, double size) {
  narrow.resize(wide.size());
  random.fill(narrow, size);
  wide.assign(narrow.begin(), narrow.end());
}

template <class Kernel>
class FieldCase {
 public:
  using Real = typename Kernel::Real;
  static constexpr int lanes = Simd<Real>::lanes;
  static constexpr Wide rounding = std::numeric_limits<Real>::epsilon();

  FieldCase(std::int64_t states, std::int64_t channels, int stages)
      : states_(states),
        channels_(channels),
        stages_(stages),
        wide_(Kernel::name, Kernel::rows(states, channels), states, channels) {
    check::Random random(static_cast<std::uint64_t>(states * 100 + channels));
    copy(random, weight_hh_, wide_.weight_hh, 0.7);
    copy(random, bias_hh_, wide_.bias_hh, 0.5);
    copy(random, weight_in_, wide_.weight_in, 0.8);
    copy(random, bias_, wide_.bias, 0.5);
    copy(random, weight_out_, wide_.weight_out, 0.7);
    copy(random, bias_out_, wide_.bias_out, 0.5);
    h_.resize(static_cast<std::size_t>(stages * lanes)), x_ = cotangent_ = h_;
    for (int i = 0; i < stages * lanes; ++i) {
      do {
        h_[i].clear(), x_[i].clear(), cotangent_[i].clear();
        for (std::int64_t row = 0; row < states; ++row) {
          h_[i].push_back(static_cast<Real>(random.symmetric(1.5)));
          cotangent_[i].push_back(static_cast<Real>(random.symmetric()));
        }
        for (std::int64_t c = 0; c < channels; ++c) x_[i].push_back(static_cast<Real>(random.symmetric(2.0)));
      } while (wide_.near_kink(h_[i], x_[i]));
    }
  }

  void run() {
    Problem<Real> p{};
    p.states = states_, p.channels = channels_, p.bias_rows = 1, p.series = 1;
    p.weight_hh = weight_hh_.data(), p.bias_hh = bias_hh_.data();
    p.weight_in = weight_in_.data(), p.bias = bias_.data();
    p.weight_out = weight_out_.data(), p.bias_out = bias_out_.data();
    Arena measure(nullptr);
    const Kernel sizes(p, measure);
    Aligned<char> memory(static_cast<std::int64_t>(measure.used()), 0x55);
    Arena arena(memory.data());
    const Kernel field(p, arena);
    field.pack(p);
    const std::int64_t block = field.padded * lanes, signal = channels_ * lanes,
                       kept_block = field.kept_rows() * lanes;
    Aligned<Real> h(stages_ * block), x(stages_ * signal), bias(field.drive_rows() * lanes), slope(block),
        kept(stages_ * kept_block), cotangent(block), sums(field.sum_rows() * lanes), pulled(block),
        scratch(field.scratch_size()), signal_pulled(round_up(channels_, 8) * lanes);
    for (int l = 0; l < lanes; ++l) field.load_bias(p, 0, bias.data() + l);
    for (int s = 0; s < stages_; ++s) {
      for (int l = 0; l < lanes; ++l) {
        for (std::int64_t row = 0; row < states_; ++row) {
          h[s * block + row * lanes + l] = static_cast<Real>(h_[s * lanes + l][row]);
          cotangent[row * lanes + l] = static_cast<Real>(cotangent_[s * lanes + l][row]);
        }
        for (std::int64_t c = 0; c < channels_; ++c)
          x[s * signal + c * lanes + l] = static_cast<Real>(x_[s * lanes + l][c]);
      }
      field.slope(h.data() + s * block, x.data() + s * signal, bias.data(), slope.data(),
                  kept.data() + s * kept_block);
      expect_slopes(s, slope.data());
      for (std::int64_t row = states_; row < field.padded; ++row)
        for (int l = 0; l < lanes; ++l) check::expect(slope[row * lanes + l] == 0, "padded units stay zero");
      field.pull(h.data() + s * block, x.data() + s * signal, cotangent.data(), kept.data() + s * kept_block,
                 sums.data(), pulled.data(), signal_pulled.data());
      expect_pulled(s, pulled.data(), signal_pulled.data());
    }
    Arena measure_sums(nullptr);
    const typename Kernel::Sums sized(field, measure_sums);
    Aligned<char> sums_memory(static_cast<std::int64_t>(measure_sums.used()), 0x55);
    Arena sums_arena(sums_memory.data());
    const typename Kernel::Sums total(field, sums_arena);
    total.clear(field);
    field.accumulate(stages_, h.data(), x.data(), kept.data(), scratch.data(), total);
    add_lanes(field.sum_rows() - field.drive_rows(), sums.data() + field.drive_rows() * lanes, total.shared);
    expect_weights(field, total, sums.data());
  }

 private:
  void expect_slopes(int s, const Real* slope) const {
    for (int l = 0; l < lanes; ++l) {
      const WideVector wanted = wide_.slope(h_[s * lanes + l], x_[s * lanes + l]);
      for (std::int64_t row = 0; row < states_; ++row)
        expect_near(slope[row * lanes + l], wanted[row], 4 * (states_ + channels_ + 4) * rounding, "slope");
    }
  }

  Wide product(int i, const FieldWeights& field, const WideVector& h, const WideVector& x) const {
    const WideVector slope = field.slope(h, x);
    Wide sum = 0;
    for (std::int64_t row = 0; row < states_; ++row) sum += cotangent_[i][row] * slope[row];
    return sum;
  }

  static constexpr Wide nudge = 1e-5L;
  Wide tolerance() const { return 1e-9L + 40 * (states_ + channels_ + 4) * rounding; }

  void expect_pulled(int s, const Real* pulled, const Real* signal) const {
    for (int l = 0; l < lanes; ++l) {
      const int i = s * lanes + l;
      for (std::int64_t row = 0; row < states_; ++row) {
        WideVector up = h_[i], down = up;
        up[row] += nudge, down[row] -= nudge;
        const Wide wanted = (product(i, wide_, up, x_[i]) - product(i, wide_, down, x_[i])) / (2 * nudge);
        expect_near(pulled[row * lanes + l], wanted, tolerance(), "pullback to the state");
      }
      for (std::int64_t c = 0; c < channels_; ++c) {
        WideVector up = x_[i], down = up;
        up[c] += nudge, down[c] -= nudge;
        const Wide wanted = (product(i, wide_, h_[i], up) - product(i, wide_, h_[i], down)) / (2 * nudge);
        expect_near(signal[c * lanes + l], wanted, tolerance(), "pullback to the signal");
      }
    }
  }

  Wide total_product(const FieldWeights& field) const {
    Wide sum = 0;
    for (int i = 0; i < stages_ * lanes; ++i) sum += product(i, field, h_[i], x_[i]);
    return sum;
  }

  void expect_gradient(WideVector FieldWeights::* which, const std::vector<Real>& found,
                       const char* what) const {
    for (std::size_t i = 0; i < found.size(); ++i) {
      FieldWeights up = wide_, down = wide_;
      (up.*which)[i] += nudge, (down.*which)[i] -= nudge;
      expect_near(found[i], (total_product(up) - total_product(down)) / (2 * nudge),
                  stages_ * lanes * tolerance(), what);
    }
  }

  void expect_weights(const Kernel& field, const typename Kernel::Sums& total, Real* sums) const {
    std::vector<Real> weight_hh(weight_hh_.size()), bias_hh(bias_hh_.size()), weight_in(weight_in_.size()),
        bias(bias_.size()), drive(bias_.size()), weight_out(weight_out_.size()), bias_out(bias_out_.size());
    Gradient<Real> to{};
    to.weight_hh = weight_hh.data(), to.bias_hh = bias_hh.data(), to.weight_in = weight_in.data();
    to.weight_out = weight_out.data(), to.bias_out = bias_out.data();
    field.unpack(total, to);
    for (int l = 0; l < lanes; ++l) {
      field.store_drive(sums + l, drive.data());
      for (std::size_t i = 0; i < drive.size(); ++i) bias[i] += drive[i];
    }
    field.unpack_drive(bias.data(), to);
    expect_gradient(&FieldWeights::weight_hh, weight_hh, "gradient of weight_hh");
    expect_gradient(&FieldWeights::bias_hh, bias_hh, "gradient of bias_hh");
    expect_gradient(&FieldWeights::weight_in, weight_in, "gradient of weight_in");
    expect_gradient(&FieldWeights::bias, bias, "gradient of bias");
    expect_gradient(&FieldWeights::weight_out, weight_out, "gradient of weight_out");
    expect_gradient(&FieldWeights::bias_out, bias_out, "gradient of bias_out");
  }

  std::int64_t states_, channels_;
  int stages_;
  FieldWeights wide_;
  std::vector<Real> weight_hh_, bias_hh_, weight_in_, bias_, weight_out_, bias_out_;
  std::vector<WideVector> h_, x_, cotangent_;  // [stage * lanes + lane]
};

}  // namespace denots::DENOTS_TARGET
