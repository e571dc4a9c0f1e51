// The GRU slope against long double loops, its pullback against their central differences.
#include <limits>

#include "check.h"
#include "gru-inl.h"
#include "oracle.h"

namespace denots::DENOTS_TARGET {
namespace {

using check::Aligned;
using check::expect_near;
using check::GruWeights;
using check::Wide;
using check::WideVector;

template <class Real>
void copy(check::Random& random, std::vector<Real>& narrow, WideVector& wide, double size) {
  narrow.resize(wide.size());
  random.fill(narrow, size);
  wide.assign(narrow.begin(), narrow.end());
}

template <class Real, Field kind>
class GruCase {
 public:
  static constexpr int lanes = Simd<Real>::lanes;
  static constexpr Wide rounding = std::numeric_limits<Real>::epsilon();
  using Kernel = Gru<Real, kind>;

  GruCase(std::int64_t states, std::int64_t channels, int stages)
      : states_(states), channels_(channels), stages_(stages), wide_(states, channels) {
    check::Random random(static_cast<std::uint64_t>(states * 100 + channels));
    copy(random, weight_hh_, wide_.weight_hh, 0.7);
    copy(random, bias_hh_, wide_.bias_hh, 0.5);
    copy(random, weight_in_, wide_.weight_in, 0.8);
    copy(random, bias_, wide_.bias, 0.5);
    h_.resize(static_cast<std::size_t>(stages * lanes)), x_ = cotangent_ = h_;
    for (int i = 0; i < stages * lanes; ++i) {
      for (std::int64_t row = 0; row < states; ++row) {
        h_[i].push_back(static_cast<Real>(random.symmetric(1.5)));
        cotangent_[i].push_back(static_cast<Real>(random.symmetric()));
      }
      for (std::int64_t c = 0; c < channels; ++c) x_[i].push_back(static_cast<Real>(random.symmetric(2.0)));
    }
  }

  void run() {
    Problem<Real> p{};
    p.states = states_, p.channels = channels_, p.bias_rows = 1, p.series = 1;
    p.weight_hh = weight_hh_.data(), p.bias_hh = bias_hh_.data();
    p.weight_in = weight_in_.data(), p.bias = bias_.data();
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
        scratch(field.scratch_size());
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
      field.pull(h.data() + s * block, cotangent.data(), kept.data() + s * kept_block, sums.data(),
                 pulled.data());
      expect_pulled(s, pulled.data());
    }
    Arena measure_sums(nullptr);
    const typename Kernel::Sums sized(field, measure_sums);
    Aligned<char> sums_memory(static_cast<std::int64_t>(measure_sums.used()), 0x55);
    Arena sums_arena(sums_memory.data());
    const typename Kernel::Sums total(field, sums_arena);
    total.clear(field);
    field.accumulate(stages_, h.data(), x.data(), kept.data(), scratch.data(), total);
    field.add_candidate_bias(sums.data() + field.drive_rows() * lanes, total);
    expect_weights(field, total, sums.data());
  }

 private:
  void expect_slopes(int s, const Real* slope) const {
    for (int l = 0; l < lanes; ++l) {
      const WideVector wanted = wide_.slope(kind, h_[s * lanes + l], x_[s * lanes + l]);
      for (std::int64_t row = 0; row < states_; ++row)
        expect_near(slope[row * lanes + l], wanted[row], 4 * (states_ + channels_ + 4) * rounding, "slope");
    }
  }

  Wide product(int i, const GruWeights& gru, const WideVector& h) const {
    const WideVector slope = gru.slope(kind, h, x_[i]);
    Wide sum = 0;
    for (std::int64_t row = 0; row < states_; ++row) sum += cotangent_[i][row] * slope[row];
    return sum;
  }

  static constexpr Wide nudge = 1e-5L;
  Wide tolerance() const { return 1e-9L + 40 * (states_ + channels_ + 4) * rounding; }

  void expect_pulled(int s, const Real* pulled) const {
    for (int l = 0; l < lanes; ++l)
      for (std::int64_t row = 0; row < states_; ++row) {
        WideVector up = h_[s * lanes + l], down = up;
        up[row] += nudge, down[row] -= nudge;
        const Wide wanted =
            (product(s * lanes + l, wide_, up) - product(s * lanes + l, wide_, down)) / (2 * nudge);
        expect_near(pulled[row * lanes + l], wanted, tolerance(), "pullback to the state");
      }
  }

  Wide total_product(const GruWeights& gru) const {
    Wide sum = 0;
    for (int i = 0; i < stages_ * lanes; ++i) sum += product(i, gru, h_[i]);
    return sum;
  }

  void expect_gradient(WideVector GruWeights::* which, const std::vector<Real>& found,
                       const char* what) const {
    for (std::size_t i = 0; i < found.size(); ++i) {
      GruWeights up = wide_, down = wide_;
      (up.*which)[i] += nudge, (down.*which)[i] -= nudge;
      expect_near(found[i], (total_product(up) - total_product(down)) / (2 * nudge),
                  stages_ * lanes * tolerance(), what);
    }
  }

  void expect_weights(const Kernel& field, const typename Kernel::Sums& total, Real* sums) const {
    std::vector<Real> weight_hh(weight_hh_.size()), bias_hh(bias_hh_.size()), weight_in(weight_in_.size()),
        bias(bias_.size()), drive(bias_.size());
    Gradient<Real> to{};
    to.weight_hh = weight_hh.data(), to.bias_hh = bias_hh.data(), to.weight_in = weight_in.data();
    field.unpack(total, to);
    for (int l = 0; l < lanes; ++l) {
      field.store_drive(sums + l, drive.data());
      for (std::size_t i = 0; i < drive.size(); ++i) bias[i] += drive[i];
    }
    field.unpack_drive(bias.data(), to);
    expect_gradient(&GruWeights::weight_hh, weight_hh, "gradient of weight_hh");
    expect_gradient(&GruWeights::bias_hh, bias_hh, "gradient of bias_hh");
    expect_gradient(&GruWeights::weight_in, weight_in, "gradient of weight_in");
    expect_gradient(&GruWeights::bias, bias, "gradient of bias");
  }

  std::int64_t states_, channels_;
  int stages_;
  GruWeights wide_;
  std::vector<Real> weight_hh_, bias_hh_, weight_in_, bias_;
  std::vector<WideVector> h_, x_, cotangent_;  // [stage * lanes + lane]
};

template <class Real, Field kind>
void test_field() {
  for (const std::int64_t channels : {1, 3, 4, 5, 9}) GruCase<Real, kind>(3, channels, 2).run();
  for (const std::int64_t states : {1, 8, 9}) GruCase<Real, kind>(states, 2, 1).run();
}

template <class Real>
void test_all() {
  test_field<Real, Field::gru_none>();
  test_field<Real, Field::gru_sync>();
  test_field<Real, Field::gru_anti>();
}

}  // namespace
}  // namespace denots::DENOTS_TARGET

int main() {
  denots::DENOTS_TARGET::test_all<float>();
  denots::DENOTS_TARGET::test_all<double>();
  return denots::check::verdict("gru_test");
}
