// A lane is a series; all lanes of a vector follow the same oscillator.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "denots/oscillators.h"
#include "gemm-inl.h"
#include "rk-inl.h"
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
    if (all(near)) return;

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

// The signals of as many series as there are lanes, as polynomials of r in [0, 1] on pieces of time, in the
// order in which they are met. A series with fewer pieces than another stands still, for no time, after its
// last one.
class Pieces {
 public:
  static constexpr int lanes = Simd<float>::lanes;

  Pieces(const Signals& signals, std::int64_t pieces, const Bank& bank, bool forward)
      : signals_(signals), most_(static_cast<double>(pieces)), bank_(bank), forward_(forward) {}

  // Lanes beyond the last series follow none.
  void cut(const std::int64_t* series, int used) {
    std::size_t count = 1;
    for (int lane = 0; lane < lanes; ++lane) {
      parts_[lane].clear();
      if (lane < used) lay_out(series[lane], parts_[lane]);
      count = std::max(count, parts_[lane].size());
    }
    const auto numbers = static_cast<std::size_t>(signals_.channels * powers()), L = std::size_t{lanes};
    widths_.assign(count * L, 0.0f);
    coefficients_.resize(count * numbers * L);
    overlaps_.assign((count + 1) * static_cast<std::size_t>(bank_.thresholds) * L, 0.0f);
    // One lane after the other, and then all lanes number by number: memory is written once, in order.
    rows_.assign(numbers * L, 0.0f);
    for (std::size_t piece = 0; piece < count; ++piece) {
      for (std::size_t lane = 0; lane < static_cast<std::size_t>(used); ++lane) {
        float* const row = rows_.data() + lane * numbers;
        if (piece < parts_[lane].size()) {
          const Part& part = parts_[lane][piece];
          widths_[piece * L + lane] = static_cast<float>(part.width * part.share);
          curved() ? fill_curved(part, row) : fill_straight(part, row);
        } else if (piece == parts_[lane].size()) {
          std::fill_n(row, numbers, 0.0f);
          if (piece == 0) hold(series[lane], row);
        }
      }
      turn(numbers, coefficients_.data() + piece * numbers * L);
    }
    for (int lane = 0; lane < used; ++lane) overlap(static_cast<std::int64_t>(parts_[lane].size()), lane);
  }

  std::int64_t count() const { return static_cast<std::int64_t>(widths_.size()) / lanes; }
  bool curved() const { return signals_.slopes != nullptr; }
  const float* width(std::int64_t piece) const { return widths_.data() + piece * lanes; }
  // The coefficient of r^power in a channel is at (channel * powers() + power) * lanes.
  const float* coefficients(std::int64_t piece) const {
    return coefficients_.data() + piece * signals_.channels * powers() * lanes;
  }
  std::int64_t powers() const { return curved() ? 4 : 2; }
  // How much of a piece lies in the window of each threshold, and how wide those windows are.
  const float* overlaps(std::int64_t piece) const {
    return overlaps_.data() + piece * bank_.thresholds * lanes;
  }
  const float* window_widths() const { return overlaps(count()); }

 private:
  struct Part {
    std::int64_t knot;
    double width;        // of the interval between two knots
    double from, share;  // what this part is of it
  };

  void lay_out(std::int64_t series, std::vector<Part>& parts) const {
    const std::int64_t begin = signals_.begins[series], end = signals_.ends[series];
    for (std::int64_t step = 0; step + 1 < end - begin; ++step) {
      const std::int64_t knot = forward_ ? begin + step : end - 2 - step;
      const double width = signals_.times[knot + 1] - signals_.times[knot];
      if (!(width > 0)) continue;
      const double cuts = std::ceil(width / signals_.spans[series] * most_ - 1e-9);
      const auto count = static_cast<std::int64_t>(std::max(1.0, std::min(cuts, most_)));
      for (std::int64_t k = 0; k < count; ++k)
        parts.push_back({knot, width,
                         static_cast<double>(forward_ ? k : count - 1 - k) / static_cast<double>(count),
                         1.0 / static_cast<double>(count)});
    }
  }

  // rows_ [lane][number] to [number][lane].
  void turn(std::size_t numbers, float* to) const {
    const float* const from = rows_.data();
    const std::size_t whole = numbers - numbers % square_of(0.0f);
    rows_to_lanes(
        static_cast<std::int64_t>(whole),
        [=](int lane) { return from + static_cast<std::size_t>(lane) * numbers; }, to);
    for (std::size_t k = whole; k < numbers; ++k)
      for (std::size_t lane = 0; lane < lanes; ++lane) to[k * lanes + lane] = from[lane * numbers + k];
  }

  // One moment: its values, held for no time.
  void hold(std::int64_t series, float* to) const {
    const std::int64_t knot = forward_ ? signals_.begins[series] : signals_.ends[series] - 1;
    for (std::int64_t c = 0; c < signals_.channels; ++c)
      to[c * powers()] = signals_.values[knot * signals_.channels + c];
  }

  void fill_straight(const Part& part, float* to) const {
    const float *const here = signals_.values + part.knot * signals_.channels, *const there =
                                                                                   here + signals_.channels;
    const double from = part.from + (forward_ ? 0 : part.share), share = forward_ ? part.share : -part.share;
    for (std::int64_t c = 0; c < signals_.channels; ++c) {
      const double a = here[c], rise = there[c] - a;
      to[2 * c] = static_cast<float>(a + from * rise);
      to[2 * c + 1] = static_cast<float>(rise * share);
    }
  }

  void fill_curved(const Part& part, float* to) const {
    const double width = part.width, from = part.from, share = part.share;
    for (std::int64_t c = 0; c < signals_.channels; ++c) {
      const std::int64_t here = part.knot * signals_.channels + c, there = here + signals_.channels;
      const double a = signals_.values[here], rise = signals_.values[there] - a;
      const double left = signals_.slopes[here] * width, right = signals_.slopes[there] * width;
      const double p1 = left, p2 = 3 * rise - 2 * left - right, p3 = left + right - 2 * rise;
      double q[] = {a + from * (p1 + from * (p2 + from * p3)), (p1 + from * (2 * p2 + from * 3 * p3)) * share,
                    (p2 + 3 * from * p3) * share * share, p3 * share * share * share};
      if (!forward_) {  // r -> 1 - r
        q[0] += q[1] + q[2] + q[3], q[1] = -(q[1] + 2 * q[2] + 3 * q[3]), q[2] += 3 * q[3], q[3] = -q[3];
      }
      for (int power = 0; power < 4; ++power) to[4 * c + power] = static_cast<float>(q[power]);
    }
  }

  void overlap(std::int64_t parts, int lane) {
    const auto slot = [&](std::int64_t piece, std::int64_t t) -> float& {
      return overlaps_[static_cast<std::size_t>((piece * bank_.thresholds + t) * lanes + lane)];
    };
    double whole = 0;
    for (std::int64_t piece = 0; piece < parts; ++piece) whole += width(piece)[lane];
    for (std::int64_t t = 0; t < bank_.thresholds; ++t) {
      const double from = bank_.window[t], to = bank_.window[bank_.thresholds + t];
      if (t > 0 && from == bank_.window[t - 1] && to == bank_.window[bank_.thresholds + t - 1]) {
        for (std::int64_t piece = 0; piece < parts; ++piece) slot(piece, t) = slot(piece, t - 1);
        slot(count(), t) = slot(count(), t - 1);
        continue;
      }
      const double first = (forward_ ? from : 1 - to) * whole, last = (forward_ ? to : 1 - from) * whole;
      double begin = 0, sum = 0;
      for (std::int64_t piece = 0; piece < parts; ++piece) {
        const double end = begin + width(piece)[lane];
        const double shared = std::max(0.0, std::min(end, last) - std::max(begin, first));
        slot(piece, t) = static_cast<float>(shared);
        sum += shared, begin = end;
      }
      slot(count(), t) = static_cast<float>(sum);
    }
  }

  const Signals& signals_;
  double most_;
  const Bank& bank_;
  bool forward_;
  std::vector<Part> parts_[lanes];
  std::vector<float> widths_, coefficients_, overlaps_, rows_;
};

DENOTS_INLINE FloatV load_any(const float* from) {
  FloatV some;
  std::memcpy(&some, from, sizeof(some));
  return some;
}

// One oscillator after the other along the series of all lanes: first its outputs at the ends of all pieces,
// then what is told of them. Variables of loops are local, because a vector may alias anything that is not.
class Oscillation {
 public:
  static constexpr int lanes = Simd<float>::lanes;

  explicit Oscillation(const Bank& bank) : bank_(bank), terms_(static_cast<std::size_t>(bank.terms)) {}

  void run(std::int64_t o, const Pieces& pieces, FloatV span) {
    terms_.resize(static_cast<std::size_t>(bank_.used[o]));
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      const std::int64_t k = static_cast<std::int64_t>(i) * bank_.oscillators + o;
      terms_[i] = {bank_.channel[k] * pieces.powers() * lanes, bank_.value_weight[k], bank_.slope_weight[k],
                   FloatV{}};
    }
    outputs_.resize(static_cast<std::size_t>((pieces.count() + 1) * lanes));
    const FloatV pace = bank_.relative[o] != 0.0f ? (span > 0.0f ? 1.0f / span : splat(1.0f)) : splat(1.0f);
    const bool values = reads(&Term::value), slopes = reads(&Term::slope);
    if (pieces.curved())
      solve<true, true, true>(o, pieces, pace);
    else if (values && slopes)
      solve<false, true, true>(o, pieces, pace);
    else
      values ? solve<false, true, false>(o, pieces, pace) : solve<false, false, true>(o, pieces, pace);
  }

  // The share of time above each threshold; `put(row, value)` takes a lane a series. Several thresholds at
  // once, because sums of one alone wait for each other.
  template <class Put>
  void tell_shares(std::int64_t o, const Pieces& pieces, Put put) const {
    constexpr std::int64_t at_once = 5;
    for (std::int64_t t = 0; t < bank_.thresholds; t += at_once)
      with_count(static_cast<int>(std::min(at_once, bank_.thresholds - t)), [&](auto count) {
        constexpr int N = decltype(count)::value;
        FloatV found[N];
        shares<N>(o, t, pieces, found);
        for (int i = 0; i < N; ++i) put(t + i, found[i]);
      });
  }

  // Everything, in the order of Pool and then two rows a threshold.
  template <class Put>
  void tell_all(std::int64_t o, const Pieces& pieces, Put put) {
    const std::int64_t count = pieces.count();
    FloatV y = output(0), highest = y, lowest = y, sum{}, when{}, elapsed{};
    for (std::int64_t piece = 0; piece < count; ++piece) {
      const FloatV before = y, width = load_any(pieces.width(piece));
      y = output(piece + 1), elapsed += width;
      sum = fma(width, 0.5f * (before + y), sum);
      when = y > highest ? elapsed : when;
      highest = max(highest, y), lowest = min(lowest, y);
    }
    const auto lasted = elapsed > 0.0f;
    const FloatV per_time = lasted ? 1.0f / elapsed : FloatV{};
    segments_.resize(static_cast<std::size_t>(count));
    for (std::int64_t piece = 0; piece < count; ++piece)
      segments_[static_cast<std::size_t>(piece)] = Segment(output(piece), output(piece + 1));
    std::int64_t row = 0;
    for (const FloatV value : {highest, lowest, lasted ? sum * per_time : y, y, when * per_time})
      put(row++, value);
    for (std::int64_t t = 0; t < bank_.thresholds; ++t) {
      const Above found = above(o, t, pieces);
      put(row++, found.share), put(row++, found.excess);
    }
  }

 private:
  struct Term {
    std::int64_t offset;  // of the channel in the coefficients of a piece
    float value, slope;
    FloatV paced;  // the value for the width of a piece
  };
  struct Above {
    FloatV share, excess;
  };
  // An output between the ends of a piece, as a straight line.
  struct Segment {
    FloatV top, bottom, rise;  // the last one: inverse of how far it rises or falls

    Segment() = default;
    DENOTS_INLINE Segment(FloatV from, FloatV to)
        : top(max(from, to)), bottom(min(from, to)), rise(1.0f / max(top - bottom, splat(1e-30f))) {}
    // The part of it that is above a threshold.
    DENOTS_INLINE FloatV above(FloatV threshold) const {
      const FloatV one = splat(1.0f), high = max(top - threshold, FloatV{});
      return bottom - threshold > 0.0f ? one : min(high * rise, one);
    }
  };

  FloatV output(std::int64_t end) const { return load_any(outputs_.data() + end * lanes); }

  bool reads(float Term::* weight) const {
    return std::any_of(terms_.begin(), terms_.end(), [=](const Term& term) { return term.*weight != 0.0f; });
  }

  template <int N>
  DENOTS_INLINE void shares(std::int64_t o, std::int64_t first, const Pieces& pieces, FloatV* found) const {
    const std::int64_t count = pieces.count(), stride = bank_.thresholds * lanes;
    const float *overlaps = pieces.overlaps(0) + first * lanes, *y = outputs_.data();
    FloatV threshold[N], share[N] = {};
    for (int i = 0; i < N; ++i) threshold[i] = splat(bank_.threshold[(first + i) * bank_.oscillators + o]);
    FloatV before = load_any(y);
    for (std::int64_t piece = 0; piece < count; ++piece, overlaps += stride) {
      const FloatV after = load_any(y += lanes);
      const Segment it(before, after);
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i)
        share[i] = fma(load_any(overlaps + i * lanes), it.above(threshold[i]), share[i]);
      before = after;
    }
    for (int i = 0; i < N; ++i) {
      const FloatV window = load_any(overlaps + i * lanes), zero{}, one = splat(1.0f);
      const auto wide = window > 0.0f;
      found[i] =
          wide ? share[i] * (1.0f / (wide ? window : one)) : (before - threshold[i] > 0.0f ? one : zero);
    }
  }

  // With u(r) = q0 + q1 r + q2 r^2 + q3 r^3 the integral of e^(Z (1 - r)) u(r) is the sum of k! q_k
  // phi_(k+1)(Z).
  // Weights that are zero are not read.
  template <bool curved, bool reads_values, bool reads_slopes>
  void solve(std::int64_t o, const Pieces& pieces, FloatV pace) {
    const Complex lambda{-(bank_.rate[o] * pace), bank_.frequency[o] * pace};
    const FloatV cosine = splat(bank_.cosine[o]), sine = splat(bank_.sine[o]);
    float* to = outputs_.data();
    const auto put = [&](Complex z) {
      const FloatV y = fma(cosine, z.re, -(sine * z.im));
      std::memcpy(to, &y, sizeof(y));
      to += lanes;
    };
    // At rest with the first value held for ever: z = -u / lambda.
    FloatV held{};
    for (const Term& term : terms_)
      held = fma(splat(term.value), load_any(pieces.coefficients(0) + term.offset), held);
    const FloatV scale = held * pace / fma(lambda.re, lambda.re, lambda.im * lambda.im);
    Complex z{-lambda.re * scale, lambda.im * scale};
    put(z);
    FloatV width = splat(-1.0f), paced{};
    Phi phi({FloatV{}, FloatV{}});
    for (std::int64_t piece = 0; piece < pieces.count(); ++piece) {
      const FloatV next = load_any(pieces.width(piece));
      if (!all(next == width)) {
        width = next, paced = pace * width;
        phi = Phi({lambda.re * width, lambda.im * width});
        for (Term& term : terms_) term.paced = term.value * paced;
      }
      const float* const polynomial = pieces.coefficients(piece);
      FloatV zeroth{}, first{}, second{}, third{};  // factors of phi_1 .. phi_4
      for (const Term& term : terms_) {
        const FloatV value = term.paced, slope = splat(term.slope);
        const float* const q = polynomial + term.offset;
        const FloatV q1 = load_any(q + lanes);
        if constexpr (reads_slopes) zeroth = fma(slope, q1, zeroth);
        if constexpr (reads_values) zeroth = fma(value, load_any(q), zeroth), first = fma(value, q1, first);
        if constexpr (curved) {
          const FloatV q2 = 2.0f * load_any(q + 2 * lanes), q3 = 6.0f * load_any(q + 3 * lanes);
          first = fma(slope, q2, first);
          second = fma(value, q2, fma(slope, q3, second));
          third = fma(value, q3, third);
        }
      }
      const Complex decayed = phi.e * z;
      z = decayed;
      if constexpr (reads_values) z = {fma(phi.two.re, first, z.re), fma(phi.two.im, first, z.im)};
      z = {fma(phi.one.re, zeroth, z.re), fma(phi.one.im, zeroth, z.im)};
      if constexpr (curved)
        z = {fma(phi.three.re, second, fma(phi.four.re, third, z.re)),
             fma(phi.three.im, second, fma(phi.four.im, third, z.im))};
      put(z);
    }
  }

  DENOTS_INLINE Above above(std::int64_t o, std::int64_t t, const Pieces& pieces) const {
    const std::int64_t count = pieces.count(), stride = bank_.thresholds * lanes;
    const float* overlaps = pieces.overlaps(0) + t * lanes;
    const FloatV threshold = splat(bank_.threshold[t * bank_.oscillators + o]), zero{}, one = splat(1.0f);
    const Segment* const segments = segments_.data();
    FloatV share{}, excess{};
    for (std::int64_t piece = 0; piece < count; ++piece, overlaps += stride) {
      const Segment& it = segments[piece];
      const FloatV overlap = load_any(overlaps), high = max(it.top - threshold, zero),
                   low = it.bottom - threshold;
      const auto over = low > 0.0f;
      const FloatV part = over ? one : min(high * it.rise, one);
      share = fma(overlap, part, share);
      excess = fma(overlap, 0.5f * (over ? high + low : high * part), excess);
    }
    const FloatV window = load_any(overlaps);
    const auto wide = window > 0.0f;
    const FloatV per_window = 1.0f / (wide ? window : one), over = max(output(count) - threshold, zero);
    return {wide ? share * per_window : (over > 0.0f ? one : zero), wide ? excess * per_window : over};
  }

  const Bank& bank_;
  std::vector<Term> terms_;
  std::vector<float> outputs_;
  std::vector<Segment> segments_;
};

// The series order[first] .. order[last].
void pool_oscillators(const Bank& bank, const Signals& signals, std::int64_t pieces, bool whole,
                      float* pooled, const std::int64_t* order, std::int64_t first, std::int64_t last) {
  constexpr int lanes = Simd<float>::lanes;
  const std::int64_t size = bank.oscillators * pooled_rows(bank, whole);
  Pieces with_time(signals, pieces, bank, true), against_time(signals, pieces, bank, false);
  Oscillation oscillation(bank);
  for (std::int64_t begin = first; begin < last; begin += lanes) {
    const int used = static_cast<int>(std::min<std::int64_t>(lanes, last - begin));
    alignas(64) float spans[lanes] = {};
    float* rows[lanes] = {};
    for (int lane = 0; lane < used; ++lane) {
      const std::int64_t series = order[begin + lane];
      spans[lane] = static_cast<float>(signals.spans[series]), rows[lane] = pooled + series * size;
    }
    with_time.cut(order + begin, used);
    if (bank.forward < bank.oscillators) against_time.cut(order + begin, used);
    for (std::int64_t o = 0; o < bank.oscillators; ++o) {
      const Pieces& met = o < bank.forward ? with_time : against_time;
      const auto put = [&](std::int64_t row, FloatV value) {
        for (int lane = 0; lane < used; ++lane) rows[lane][row * bank.oscillators + o] = value[lane];
      };
      oscillation.run(o, met, load(spans));
      whole ? oscillation.tell_all(o, met, put) : oscillation.tell_shares(o, met, put);
    }
  }
}

}  // namespace denots::DENOTS_TARGET
