// A lane is a series; all lanes of a vector follow the same oscillator.
//
// Where z' = lambda z + u and u is a weighted sum of values, v = z + u / lambda tells how far z is from where
// it would rest: v' = lambda v + u' / lambda. So v stays zero, to the last bit, while nothing changes, and
// slopes drive it in the same way. It is turned by the phase, so that an output is a real part.
#pragma once

#include "phi-inl.h"
#include "pieces-inl.h"
#include "rk-inl.h"

namespace denots::DENOTS_TARGET {

// What is the same for all series: lambda, the phase, and how far z rests from zero for a value of one.
struct Oscillator {
  Complex lambda, phase, phase_by_lambda;
  FloatV at_rest;

  Oscillator(const Bank& bank, std::int64_t o)
      : lambda{splat(-bank.rate[o]), splat(bank.frequency[o])},
        phase{splat(bank.cosine[o]), splat(bank.sine[o])} {
    const FloatV inverse = 1.0f / fma(lambda.re, lambda.re, lambda.im * lambda.im);
    phase_by_lambda = phase * Complex{lambda.re * inverse, -lambda.im * inverse};
    at_rest = -phase_by_lambda.re;
  }
};

// A change along a piece, as a polynomial of r, moves v at its end: k! phi_k(z) of the coefficient of r^k.
template <int powers>
struct Move {
  Complex decay, of_slopes[powers], of_values[powers];

  Move(const Oscillator& it, FloatV time) {
    const Phi<powers> phi({it.lambda.re * time, it.lambda.im * time});
    decay = phi.of[0];
    float factorial = 1.0f;
    for (int k = 0; k < powers; ++k) {
      factorial *= static_cast<float>(k + 1);
      const Complex by{phi.of[k + 1].re * factorial, phi.of[k + 1].im * factorial};
      of_slopes[k] = it.phase * by, of_values[k] = it.phase_by_lambda * by;
    }
  }
};

DENOTS_INLINE Complex add_times(Complex factor, FloatV by, Complex sum) {
  return {fma(factor.re, by, sum.re), fma(factor.im, by, sum.im)};
}

// factor v + sum, which the next piece waits for: v goes through two products.
DENOTS_INLINE Complex decayed(Complex factor, Complex v, Complex sum) {
  return {fma(factor.re, v.re, fma(-factor.im, v.im, sum.re)),
          fma(factor.re, v.im, fma(factor.im, v.re, sum.im))};
}

// One oscillator after the other along the series of all lanes: first its outputs at all looks, in the order
// in which they are met, then what is told of them.
class Oscillation {
 public:
  static constexpr int lanes = Simd<float>::lanes;

  Oscillation(const Bank& bank, const Pieces& pieces) : bank_(bank), pieces_(pieces) {}

  void run(std::int64_t o, FloatV span) {
    const auto rows = static_cast<std::size_t>(pieces_.rows());
    values_.resize(rows), slopes_.resize(rows);
    outputs_.resize(static_cast<std::size_t>(pieces_.count() + 1));
    forward_ = o < bank_.forward;
    const FloatV pace = bank_.relative[o] != 0.0f ? (span > 0.0f ? 1.0f / span : splat(1.0f)) : splat(1.0f);
    const bool values = reads(o, bank_.value_weight), slopes = reads(o, bank_.slope_weight);
    if (pieces_.curved())
      mix<true, true>(o), along_curves(o, pace);
    else if (values && slopes)
      mix<true, true>(o), along_lines<true, true>(o, pace);
    else if (values)
      mix<true, false>(o), along_lines<true, false>(o, pace);
    else
      mix<false, true>(o), along_lines<false, true>(o, pace);
  }

  // The share of time above each threshold; `put(row, value)` takes a lane a series. Several thresholds at
  // once, because sums of one alone wait for each other.
  template <class Put>
  void tell_shares(std::int64_t o, Put put) const {
    constexpr std::int64_t at_once = 5;
    for (std::int64_t t = 0; t < bank_.thresholds; t += at_once)
      with_count(static_cast<int>(std::min(at_once, bank_.thresholds - t)), [&](auto count) {
        constexpr int N = decltype(count)::value;
        FloatV found[N];
        pieces_.windows() == 1 ? shares<N, false>(o, t, found) : shares<N, true>(o, t, found);
        for (int i = 0; i < N; ++i) put(t + i, found[i]);
      });
  }

  // Everything, in the order of Pool and then two rows a threshold.
  template <class Put>
  void tell_all(std::int64_t o, Put put) {
    const std::int64_t count = pieces_.count();
    FloatV y = outputs_[0].lanes, highest = y, lowest = y, sum{}, when{}, elapsed{};
    for (std::int64_t step = 0; step < count; ++step) {
      const FloatV before = y, width = pieces_.width(piece_of(step));
      Lanes& after = outputs_[static_cast<std::size_t>(step + 1)];
      y = after.lanes = width > 0.0f ? after.lanes : y, elapsed += width;
      sum = fma(width, 0.5f * (before + y), sum);
      when = y > highest ? elapsed : when;
      highest = max(highest, y), lowest = min(lowest, y);
    }
    const auto lasted = elapsed > 0.0f;
    const FloatV per_time = lasted ? 1.0f / elapsed : FloatV{};
    std::int64_t row = 0;
    for (const FloatV value : {highest, lowest, lasted ? sum * per_time : y, y, when * per_time})
      put(row++, value);
    tell_shares(o, [&](std::int64_t t, FloatV share) {
      put(row + 2 * t, share), put(row + 2 * t + 1, excess(o, t));
    });
  }

 private:
  std::int64_t piece_of(std::int64_t step) const { return forward_ ? step : pieces_.count() - 1 - step; }

  // Sums of the rows of all channels that an oscillator reads, by the weights of values and of slopes. What
  // is not read is left as it is.
  template <bool reads_values, bool reads_slopes>
  void mix(std::int64_t o) {
    constexpr int at_once = 5;
    const auto count = static_cast<int>(bank_.used[o]);
    for (int first = 0; first < count; first += at_once)
      with_count(std::min(at_once, count - first),
                 [&](auto some) { add<reads_values, reads_slopes, decltype(some)::value>(o, first); });
  }

  template <bool reads_values, bool reads_slopes, int N>
  DENOTS_INLINE void add(std::int64_t o, int first) {
    FloatV by_value[N], by_slope[N];
    const Lanes* from[N];
    for (int i = 0; i < N; ++i) {
      const std::int64_t k = (first + i) * bank_.oscillators + o;
      by_value[i] = splat(bank_.value_weight[k]), by_slope[i] = splat(bank_.slope_weight[k]);
      from[i] = pieces_.channel(bank_.channel[k]);
    }
    Lanes *const values = values_.data(), *const slopes = slopes_.data();
    const std::int64_t rows = pieces_.rows();
    for (std::int64_t row = 0; row < rows; ++row) {
      FloatV value = first == 0 ? FloatV{} : values[row].lanes,
             slope = first == 0 ? FloatV{} : slopes[row].lanes;
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) {
        const FloatV it = from[i][row].lanes;
        if constexpr (reads_values) value = fma(by_value[i], it, value);
        if constexpr (reads_slopes) slope = fma(by_slope[i], it, slope);
      }
      if constexpr (reads_values) values[row].lanes = value;
      if constexpr (reads_slopes) slopes[row].lanes = slope;
    }
  }

  bool reads(std::int64_t o, const float* weight) const {
    std::int64_t term = 0;
    while (term < bank_.used[o] && weight[term * bank_.oscillators + o] == 0.0f) ++term;
    return term < bank_.used[o];
  }

  template <bool reads_values, bool reads_slopes>
  void along_lines(std::int64_t o, FloatV pace) {
    const Oscillator it(bank_, o);
    const std::int64_t count = pieces_.count(), first = forward_ ? 0 : count, ahead = forward_ ? 1 : -1;
    const Lanes *value = values_.data() + first, *slope = slopes_.data() + first;
    Lanes* to = outputs_.data();
    const FloatV at_rest = it.at_rest;
    to->lanes = reads_values ? at_rest * value->lanes : FloatV{};
    FloatV width = pieces_.pace(piece_of(0));
    Move<1> move(it, pace * width);
    Complex v{};
    for (std::int64_t step = 0; step < count; ++step) {
      const FloatV next = pieces_.pace(piece_of(step));
      if (!all(next == width)) width = next, move = Move<1>(it, pace * width);
      Complex moved{};
      if constexpr (reads_slopes) {
        moved = add_times(move.of_slopes[0], slope[ahead].lanes - slope->lanes, moved);
        slope += ahead;
      }
      if constexpr (reads_values) {
        moved = add_times(move.of_values[0], value[ahead].lanes - value->lanes, moved);
        value += ahead;
      }
      v = decayed(move.decay, v, moved);
      (++to)->lanes = reads_values ? fma(at_rest, value->lanes, v.re) : v.re;
    }
  }

  // A jump between two pieces moves v with the value; slopes know nothing of it.
  void along_curves(std::int64_t o, FloatV pace) {
    const Oscillator it(bank_, o);
    const std::int64_t count = pieces_.count();
    FloatV width = pieces_.pace(piece_of(0)), value = curve(values_, 0).start;
    Move<3> move(it, pace * width);
    Complex v{};
    outputs_[0].lanes = it.at_rest * value;
    for (std::int64_t step = 0; step < count; ++step) {
      const FloatV next = pieces_.pace(piece_of(step));
      if (!all(next == width)) width = next, move = Move<3>(it, pace * width);
      const Curve values = curve(values_, step), slopes = curve(slopes_, step);
      Complex moved = decayed(move.decay, add_times(it.phase_by_lambda, values.start - value, v), Complex{});
      for (int k = 0; k < 3; ++k) {
        moved = add_times(move.of_slopes[k], slopes.change[k], moved);
        moved = add_times(move.of_values[k], values.change[k], moved);
      }
      const auto lasts = pieces_.width(piece_of(step)) > 0.0f;
      v = select(lasts, moved, v), value = lasts ? values.end : value;
      outputs_[static_cast<std::size_t>(step + 1)].lanes = fma(it.at_rest, value, v.re);
    }
  }

  // A piece as it is met, and the coefficients of r, r^2 and r^3 in it.
  struct Curve {
    FloatV start, end, change[3];
  };

  Curve curve(const std::vector<Lanes>& rows, std::int64_t step) const {
    const Lanes* const q = rows.data() + 4 * piece_of(step);
    const FloatV q0 = q[0].lanes, q1 = q[1].lanes, q2 = q[2].lanes, q3 = q[3].lanes, q4 = q0 + q1 + q2 + q3;
    if (forward_) return {q0, q4, {q1, q2, q3}};
    return {q4, q0, {-(q1 + 2.0f * q2 + 3.0f * q3), q2 + 3.0f * q3, -q3}};  // r -> 1 - r
  }

  // Between two looks an output is a straight line. What is above a threshold of a line from a to b is
  // (max(b, threshold) - max(a, threshold)) / (b - a) of it, whether it rises or falls. What stands still is
  // above as a whole or not at all.
  template <int N, bool own_windows>
  void shares(std::int64_t o, std::int64_t first, FloatV* found) const {
    const std::int64_t count = pieces_.count();
    const FloatV zero{}, one = splat(1.0f);
    const Lanes* y = outputs_.data();
    FloatV threshold[N], above[N], share[N] = {}, a = y->lanes;
    for (int i = 0; i < N; ++i) {
      threshold[i] = splat(bank_.threshold[(first + i) * bank_.oscillators + o]);
      above[i] = max(a, threshold[i]);
    }
    const std::int64_t ahead = forward_ ? pieces_.windows() : -pieces_.windows();
    const Lanes* overlap = pieces_.overlaps(piece_of(0)) + (own_windows ? first : 0);
    for (std::int64_t step = 0; step < count; ++step, overlap += ahead) {
      const FloatV b = (++y)->lanes, rise = b - a;
      const auto still = abs(rise) < 1e-30f;
      const FloatV per_rise = 1.0f / (still ? one : rise), shared = overlap->lanes * per_rise;
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) {
        const FloatV before = above[i];
        above[i] = max(b, threshold[i]);
        share[i] = fma(own_windows ? overlap[i].lanes * per_rise : shared, above[i] - before, share[i]);
      }
      if (!none(still))
#pragma GCC unroll 8
        for (int i = 0; i < N; ++i)
          share[i] += still & (a > threshold[i]) ? overlap[own_windows ? i : 0].lanes : zero;
      a = b;
    }
    const auto lasts = pieces_.whole() > 0.0f;
    for (int i = 0; i < N; ++i)
      found[i] = lasts ? min(max(share[i], zero), one) : (outputs_[0].lanes > threshold[i] ? one : zero);
  }

  // The mean, over the window of a threshold, of what is above it.
  FloatV excess(std::int64_t o, std::int64_t t) const {
    const FloatV threshold = splat(bank_.threshold[t * bank_.oscillators + o]), zero{}, one = splat(1.0f);
    FloatV sum{}, a = outputs_[0].lanes - threshold;
    for (std::int64_t step = 0; step < pieces_.count(); ++step) {
      const FloatV b = outputs_[static_cast<std::size_t>(step + 1)].lanes - threshold, top = max(a, b),
                   bottom = min(a, b);
      const FloatV part = min(max(top, zero) / max(top - bottom, splat(1e-30f)), one);
      const FloatV overlap = pieces_.overlaps(piece_of(step))[pieces_.windows() == 1 ? 0 : t].lanes;
      sum = fma(overlap, 0.5f * (bottom > 0.0f ? top + bottom : max(top, zero) * part), sum);
      a = b;
    }
    return pieces_.whole() > 0.0f ? sum : max(outputs_[0].lanes - threshold, zero);
  }

  const Bank& bank_;
  const Pieces& pieces_;
  bool forward_ = true;
  std::vector<Lanes> values_, slopes_, outputs_;
};

// Numbers of as many oscillators as there are lanes, before they are written to the rows of their series.
class Told {
 public:
  static constexpr int lanes = Simd<float>::lanes;

  Told(const Bank& bank, std::int64_t rows)
      : bank_(bank), rows_(rows), told_(static_cast<std::size_t>(rows * lanes)) {}

  void put(std::int64_t row, std::int64_t o, FloatV value) {
    told_[static_cast<std::size_t>(row * lanes + o % lanes)].lanes = value;
  }

  // Once oscillator o is told; `series` are those of the lanes that are used.
  void write(std::int64_t o, float* const* series, int used) {
    const std::int64_t first = o - o % lanes;
    if (o + 1 < bank_.oscillators && o + 1 < first + lanes) return;
    for (std::int64_t row = 0; row < rows_; ++row) {
      const float* const from = told_[static_cast<std::size_t>(row * lanes)].data();
      const std::int64_t at = row * bank_.oscillators + first;
      if (used == lanes && o + 1 == first + lanes)
        lanes_to_rows(lanes, from, [=](int lane) { return series[lane] + at; });
      else
        for (int lane = 0; lane < used; ++lane)
          for (std::int64_t k = 0; k <= o - first; ++k) series[lane][at + k] = from[k * lanes + lane];
    }
  }

 private:
  const Bank& bank_;
  std::int64_t rows_;
  std::vector<Lanes> told_;
};

// The series order[first] .. order[last].
void pool_oscillators(const Bank& bank, const Signals& signals, std::int64_t pieces, bool whole,
                      float* pooled, const std::int64_t* order, std::int64_t first, std::int64_t last) {
  constexpr int lanes = Simd<float>::lanes;
  const std::int64_t rows = pooled_rows(bank, whole), size = bank.oscillators * rows;
  Pieces cut(signals, pieces, bank);
  Oscillation oscillation(bank, cut);
  Told told(bank, rows);
  for (std::int64_t begin = first; begin < last; begin += lanes) {
    const int used = static_cast<int>(std::min<std::int64_t>(lanes, last - begin));
    Lanes spans{};
    float* series[lanes] = {};
    for (int lane = 0; lane < used; ++lane) {
      spans.data()[lane] = static_cast<float>(signals.spans[order[begin + lane]]);
      series[lane] = pooled + order[begin + lane] * size;
    }
    cut.cut(order + begin, used);
    for (std::int64_t o = 0; o < bank.oscillators; ++o) {
      const auto put = [&](std::int64_t row, FloatV value) { told.put(row, o, value); };
      oscillation.run(o, spans.lanes);
      whole ? oscillation.tell_all(o, put) : oscillation.tell_shares(o, put);
      told.write(o, series, used);
    }
  }
}

}  // namespace denots::DENOTS_TARGET
