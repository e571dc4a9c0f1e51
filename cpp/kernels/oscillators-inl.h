// A lane is an oscillator; all lanes of a vector follow the same series.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "denots/oscillators.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

struct Complex {
  FloatV re, im;
};

DENOTS_INLINE Complex operator*(Complex a, Complex b) {
  return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
}
DENOTS_INLINE Complex operator+(Complex a, float b) { return {a.re + b, a.im}; }
DENOTS_INLINE Complex select(Simd<float>::I which, Complex a, Complex b) {
  return {which ? a.re : b.re, which ? a.im : b.im};
}

// e^Z and phi_k(Z) = sum over j of Z^j / (j + k)!, the weights of r^(k-1) / (k-1)! in the integral of
// e^(Z (1 - r)) over r in [0, 1]. Near zero phi_4 is summed up and leads to the others, phi_(k-1) = Z phi_k +
// 1 / (k - 1)!; the other way round would cancel there.
struct Phi {
  Complex e, one, two, three, four;

  explicit DENOTS_INLINE Phi(Complex z) {
    constexpr int terms = 13;
    constexpr float taylor[terms] = {4.16666667e-02f, 8.33333333e-03f, 1.38888889e-03f, 1.98412698e-04f,
                                     2.48015873e-05f, 2.75573192e-06f, 2.75573192e-07f, 2.50521084e-08f,
                                     2.08767570e-09f, 1.60590438e-10f, 1.14707456e-11f, 7.64716373e-13f,
                                     4.77947733e-14f};
    const FloatV square = fma(z.re, z.re, z.im * z.im);
    const auto near = square < 4.0f;
    // Lanes that are far from zero would overflow here; they take the other way.
    const Complex w{near ? z.re : FloatV{}, near ? z.im : FloatV{}};
    four = {splat(taylor[terms - 1]), FloatV{}};
#pragma GCC unroll 12
    for (int i = terms - 2; i >= 0; --i) four = four * w + taylor[i];
    three = four * w + 1.0f / 6.0f;
    two = three * w + 0.5f;
    one = two * w + 1.0f;
    e = one * w + 1.0f;

    const Complex far = exponential(z);
    const FloatV scale = 1.0f / (near ? splat(1.0f) : square);
    const Complex inverse{z.re * scale, -z.im * scale};
    const Complex far_one = (far + -1.0f) * inverse, far_two = (far_one + -1.0f) * inverse,
                  far_three = (far_two + -0.5f) * inverse, far_four = (far_three + -1.0f / 6.0f) * inverse;
    e = select(near, e, far);
    one = select(near, one, far_one);
    two = select(near, two, far_two);
    three = select(near, three, far_three);
    four = select(near, four, far_four);
  }

 private:
  // The real part is not positive. An angle of thousands belongs to a real part that leaves nothing of it.
  static DENOTS_INLINE Complex exponential(Complex z) {
    const PowerOfTwo<float> power(z.re * static_cast<float>(log2_e));
    const FloatV size = fma(power.scale, power.rest, power.scale);
    constexpr float to_integer = 12582912.0f, two_over_pi = 0.636619772f;
    const FloatV angle = min(splat(3000.0f), max(splat(-3000.0f), z.im));
    const FloatV shifted = angle * two_over_pi + to_integer, turns = shifted - to_integer;
    const Simd<float>::I quadrant = (Simd<float>::I)shifted;
    FloatV f = fma(turns, splat(-1.5703125f), angle);  // pi / 2 in three parts, the first two exact
    f = fma(turns, splat(-4.83751297e-4f), f);
    f = fma(turns, splat(-7.54978995e-8f), f);
    const FloatV f2 = f * f;
    const FloatV sine =
        fma(f * f2, fma(fma(splat(-1.9515296e-4f), f2, splat(8.3321609e-3f)), f2, splat(-1.6666654e-1f)), f);
    const FloatV cosine =
        fma(f2 * f2, fma(fma(splat(2.44331571e-5f), f2, splat(-1.38873162e-3f)), f2, splat(4.16666457e-2f)),
            fma(splat(-0.5f), f2, splat(1.0f)));
    const auto odd = (quadrant & 1) != 0, high = (quadrant & 2) != 0, between = ((quadrant + 1) & 2) != 0;
    const FloatV re = odd ? sine : cosine, im = odd ? cosine : sine;
    return {size * (between ? -re : re), size * (high ? -im : im)};
  }
};

// The signal of one series as polynomials of r in [0, 1] on pieces of time, in the order in which they are
// met.
class Pieces {
 public:
  static constexpr int powers = 4;

  void cut(const Signals& s, std::int64_t series, std::int64_t pieces, bool forward, const Bank& bank) {
    const std::int64_t begin = s.begins[series], end = s.ends[series];
    widths_.clear(), coefficients_.clear();
    channels_ = s.channels;
    curved_ = false;
    span_ = s.spans[series];
    for (std::int64_t step = 0; step + 1 < end - begin; ++step) {
      const std::int64_t knot = forward ? begin + step : end - 2 - step;
      const double width = s.times[knot + 1] - s.times[knot];
      if (!(width > 0)) continue;
      const double cuts = std::ceil(width / span_ * static_cast<double>(pieces) - 1e-9);
      const auto count =
          static_cast<std::int64_t>(std::max(1.0, std::min(cuts, static_cast<double>(pieces))));
      for (std::int64_t k = 0; k < count; ++k)
        add(s, knot, width, static_cast<double>(forward ? k : count - 1 - k) / static_cast<double>(count),
            1.0 / static_cast<double>(count), forward);
    }
    if (!widths_.empty()) return overlap(bank, forward);
    // One moment: its values, held for no time.
    const std::int64_t knot = forward ? begin : end - 1;
    widths_.push_back(0.0f);
    for (std::int64_t c = 0; c < channels_; ++c)
      for (int power = 0; power < powers; ++power)
        coefficients_.push_back(power == 0 ? s.values[knot * channels_ + c] : 0.0f);
    overlap(bank, forward);
  }

  std::int64_t count() const { return static_cast<std::int64_t>(widths_.size()); }
  double span() const { return span_; }
  bool curved() const { return curved_; }
  float width(std::int64_t piece) const { return widths_[static_cast<std::size_t>(piece)]; }
  const float* coefficients(std::int64_t piece) const {
    return coefficients_.data() + piece * channels_ * powers;
  }
  // How much of a piece lies in the window of each threshold, and how wide those windows are.
  const float* overlaps(std::int64_t piece) const { return overlaps_.data() + piece * windows_; }
  const float* window_widths() const { return overlaps_.data() + count() * windows_; }

 private:
  void overlap(const Bank& bank, bool forward) {
    windows_ = bank.thresholds;
    overlaps_.assign(static_cast<std::size_t>((count() + 1) * windows_), 0.0f);
    double whole = 0;
    for (const float width : widths_) whole += width;
    for (std::int64_t t = 0; t < windows_; ++t) {
      const double from = bank.window[t], to = bank.window[windows_ + t];
      const double first = (forward ? from : 1 - to) * whole, last = (forward ? to : 1 - from) * whole;
      double begin = 0, sum = 0;
      for (std::int64_t piece = 0; piece < count(); ++piece) {
        const double end = begin + width(piece);
        const double shared = std::max(0.0, std::min(end, last) - std::max(begin, first));
        overlaps_[static_cast<std::size_t>(piece * windows_ + t)] = static_cast<float>(shared);
        sum += shared, begin = end;
      }
      overlaps_[static_cast<std::size_t>(count() * windows_ + t)] = static_cast<float>(sum);
    }
  }

  // The part of a cubic that begins at `from` and is `share` long, both in units of its interval.
  void add(const Signals& s, std::int64_t knot, double width, double from, double share, bool forward) {
    widths_.push_back(static_cast<float>(width * share));
    for (std::int64_t c = 0; c < channels_; ++c) {
      const std::int64_t here = knot * channels_ + c, there = here + channels_;
      const double a = s.values[here], rise = s.values[there] - a;
      const double left = s.slopes[here] * width, right = s.slopes[there] * width;
      const double b = left, d = left + right - 2 * rise, q = 3 * rise - 2 * left - right;
      // Straight lines are to stay straight, though their slope was rounded.
      const double dust = 1e-6 * (std::fabs(left) + std::fabs(right) + std::fabs(rise));
      const bool straight = std::fabs(d) <= dust && std::fabs(q) <= 2 * dust;
      const double p1 = straight ? rise : b, p2 = straight ? 0 : q, p3 = straight ? 0 : d;
      curved_ = curved_ || !straight;
      double q0 = a + from * (p1 + from * (p2 + from * p3)),
             q1 = (p1 + from * (2 * p2 + from * 3 * p3)) * share, q2 = (p2 + 3 * from * p3) * share * share,
             q3 = p3 * share * share * share;
      if (!forward) {  // r -> 1 - r
        const double r0 = q0 + q1 + q2 + q3, r1 = -(q1 + 2 * q2 + 3 * q3), r2 = q2 + 3 * q3;
        q0 = r0, q1 = r1, q2 = r2, q3 = -q3;
      }
      for (const double coefficient : {q0, q1, q2, q3})
        coefficients_.push_back(static_cast<float>(coefficient));
    }
  }

  std::int64_t channels_ = 0, windows_ = 0;
  double span_ = 0;
  bool curved_ = false;
  std::vector<float> widths_, coefficients_, overlaps_;
};

// One vector of oscillators along one series.
class Oscillation {
 public:
  static constexpr int lanes = Simd<float>::lanes;
  static_assert(lanes <= most_lanes);

  // Lanes beyond the last oscillator repeat it and are not stored.
  Oscillation(const Bank& bank, std::int64_t first) : bank_(bank) {
    for (int lane = 0; lane < lanes; ++lane) column_[lane] = std::min(first + lane, bank.oscillators - 1);
    stored_ = static_cast<int>(std::min<std::int64_t>(lanes, bank.oscillators - first));
    rate_ = gather(bank.rate), frequency_ = gather(bank.frequency);
    cosine_ = gather(bank.cosine), sine_ = gather(bank.sine), relative_ = gather(bank.relative);
    for (int lane = 0; lane < lanes; ++lane)
      terms_ = std::max<std::int64_t>(terms_, bank.used[column_[lane]]);
    channel_.resize(static_cast<std::size_t>(terms_ * lanes));
    value_weight_.resize(channel_.size()), slope_weight_.resize(channel_.size());
    for (std::int64_t term = 0; term < terms_; ++term)
      for (int lane = 0; lane < lanes; ++lane) {
        const std::int64_t from = term * bank.oscillators + column_[lane];
        const auto to = static_cast<std::size_t>(term * lanes + lane);
        channel_[to] = bank.channel[from] * Pieces::powers;
        value_weight_[to] = bank.value_weight[from], slope_weight_[to] = bank.slope_weight[from];
      }
    for (std::int64_t t = 0; t < bank.thresholds; ++t)
      threshold_[t] = gather(bank.threshold + t * bank.oscillators);
  }

  void run(const Pieces& pieces, float* pooled) {
    const auto span = static_cast<float>(pieces.span());
    const FloatV pace = relative_ != 0.0f ? splat(span > 0 ? 1 / span : 1.0f) : splat(1.0f);
    const Complex lambda{-(rate_ * pace), frequency_ * pace};
    start(pieces, lambda, pace);
    float width = -1, elapsed = 0;
    Phi phi({FloatV{}, FloatV{}});
    for (std::int64_t piece = 0; piece < pieces.count(); ++piece) {
      const float next = pieces.width(piece);
      if (next != width) {
        width = next;
        phi = Phi({lambda.re * width, lambda.im * width});
      }
      elapsed += width;
      advance(pieces, piece, phi, pace * width);
      pool(width, elapsed, pieces.overlaps(piece));
    }
    write(elapsed > 0 ? 1 / elapsed : 0.0f, pieces.window_widths(), pooled);
  }

 private:
  FloatV gather(const float* table) const {
    alignas(64) float some[lanes];
    for (int lane = 0; lane < lanes; ++lane) some[lane] = table[column_[lane]];
    return load(some);
  }

  FloatV coefficient(const float* piece, std::int64_t term, int power) const {
    alignas(64) float some[lanes];
    const std::int32_t* const channel = channel_.data() + term * lanes;
    for (int lane = 0; lane < lanes; ++lane) some[lane] = piece[channel[lane] + power];
    return load(some);
  }

  FloatV weight(const std::vector<float>& table, std::int64_t term) const {
    FloatV some;
    std::memcpy(&some, table.data() + term * lanes, sizeof(some));
    return some;
  }

  // At rest with the first value held for ever: z = -u / lambda.
  void start(const Pieces& pieces, Complex lambda, FloatV pace) {
    FloatV drive{};
    for (std::int64_t term = 0; term < terms_; ++term)
      drive = fma(weight(value_weight_, term), coefficient(pieces.coefficients(0), term, 0), drive);
    const FloatV scale = drive * pace / fma(lambda.re, lambda.re, lambda.im * lambda.im);
    z_ = {-lambda.re * scale, lambda.im * scale};
    y_ = output();
    highest_ = lowest_ = y_;
    sum_ = when_ = FloatV{};
    for (std::int64_t t = 0; t < bank_.thresholds; ++t) above_[t] = excess_[t] = FloatV{};
  }

  // With u(r) = q0 + q1 r + q2 r^2 + q3 r^3 the integral of e^(Z (1 - r)) u(r) is the sum of k! q_k
  // phi_(k+1)(Z).
  void advance(const Pieces& pieces, std::int64_t piece, const Phi& phi, FloatV paced_width) {
    const float* const polynomial = pieces.coefficients(piece);
    FloatV zeroth{}, first{}, second{}, third{};  // factors of phi_1 .. phi_4
    for (std::int64_t term = 0; term < terms_; ++term) {
      const FloatV value = weight(value_weight_, term) * paced_width, slope = weight(slope_weight_, term);
      const FloatV q1 = coefficient(polynomial, term, 1);
      zeroth = fma(value, coefficient(polynomial, term, 0), fma(slope, q1, zeroth));
      first = fma(value, q1, first);
      if (!pieces.curved()) continue;
      const FloatV q2 = 2.0f * coefficient(polynomial, term, 2), q3 = 6.0f * coefficient(polynomial, term, 3);
      first = fma(slope, q2, first);
      second = fma(value, q2, fma(slope, q3, second));
      third = fma(value, q3, third);
    }
    const Complex decayed = phi.e * z_;
    z_ = {fma(phi.one.re, zeroth, fma(phi.two.re, first, decayed.re)),
          fma(phi.one.im, zeroth, fma(phi.two.im, first, decayed.im))};
    if (!pieces.curved()) return;
    z_ = {fma(phi.three.re, second, fma(phi.four.re, third, z_.re)),
          fma(phi.three.im, second, fma(phi.four.im, third, z_.im))};
  }

  // Between the ends of a piece the output is taken as a straight line.
  void pool(float width, float elapsed, const float* overlaps) {
    const FloatV before = y_, half = splat(0.5f), zero{}, one = splat(1.0f);
    y_ = output();
    sum_ = fma(splat(width), half * (before + y_), sum_);
    when_ = y_ > highest_ ? splat(elapsed) : when_;
    highest_ = max(highest_, y_), lowest_ = min(lowest_, y_);
    const FloatV top = max(before, y_), bottom = min(before, y_);
    const FloatV rise = 1.0f / max(top - bottom, splat(1e-30f));
    for (std::int64_t t = 0; t < bank_.thresholds; ++t) {
      const FloatV high = max(top - threshold_[t], zero), low = bottom - threshold_[t];
      const auto whole = low > 0.0f;
      const FloatV share = whole ? one : min(high * rise, one);
      above_[t] = fma(splat(overlaps[t]), share, above_[t]);
      excess_[t] = fma(splat(overlaps[t]), half * (whole ? high + low : high * share), excess_[t]);
    }
  }

  FloatV output() const { return fma(cosine_, z_.re, -(sine_ * z_.im)); }

  void write(float per_time, const float* windows, float* pooled) const {
    put(pooled, Pool::highest, highest_), put(pooled, Pool::lowest, lowest_);
    put(pooled, Pool::mean, per_time > 0 ? sum_ * per_time : y_), put(pooled, Pool::last, y_);
    put(pooled, Pool::when_highest, when_ * per_time);
    for (std::int64_t t = 0; t < bank_.thresholds; ++t) {
      const auto row = static_cast<std::int64_t>(Pool::count) + 2 * t;
      const FloatV over = max(y_ - threshold_[t], FloatV{});
      const float width = windows[t];
      put(pooled, row, width > 0 ? above_[t] * (1 / width) : (over > 0.0f ? splat(1.0f) : FloatV{}));
      put(pooled, row + 1, width > 0 ? excess_[t] * (1 / width) : over);
    }
  }

  void put(float* pooled, Pool row, FloatV value) const {
    put(pooled, static_cast<std::int64_t>(row), value);
  }
  void put(float* pooled, std::int64_t row, FloatV value) const {
    std::memcpy(pooled + row * bank_.oscillators + column_[0], &value,
                sizeof(float) * static_cast<std::size_t>(stored_));
  }

  const Bank& bank_;
  std::int64_t column_[lanes], terms_ = 0;
  int stored_;
  FloatV rate_, frequency_, cosine_, sine_, relative_, threshold_[most_thresholds];
  std::vector<std::int32_t> channel_;
  std::vector<float> value_weight_, slope_weight_;
  Complex z_;
  FloatV y_, highest_, lowest_, sum_, when_, above_[most_thresholds], excess_[most_thresholds];
};

// The series first .. last.
void pool_oscillators(const Bank& bank, const Signals& signals, std::int64_t pieces, float* pooled,
                      std::int64_t first, std::int64_t last) {
  const std::int64_t row = bank.oscillators * (static_cast<std::int64_t>(Pool::count) + 2 * bank.thresholds);
  Pieces with_time, against_time;
  for (std::int64_t series = first; series < last; ++series) {
    with_time.cut(signals, series, pieces, true, bank);
    if (bank.forward < bank.oscillators) against_time.cut(signals, series, pieces, false, bank);
    for (std::int64_t o = 0; o < bank.oscillators; o += Oscillation::lanes)
      Oscillation(bank, o).run(o < bank.forward ? with_time : against_time, pooled + series * row);
  }
}

}  // namespace denots::DENOTS_TARGET
