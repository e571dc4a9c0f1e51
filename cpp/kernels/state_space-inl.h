// A lane is a channel of one series, so that nothing is padded. On the way back a series is run again first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "denots/state_space.h"
#include "gemm-inl.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

template <class Real>
class Selective {
 public:
  using Layer = StateSpace<Real>;
  using V = typename Simd<Real>::V;
  static constexpr int lanes = Simd<Real>::lanes;

  // Parameters, or sums of their gradients, in whole vectors; zeros stand behind those that there are.
  struct Sums {
    Real *kernel, *kernel_bias, *skip, *norm;  // [tap][channel], [channel], [channel], [channel]

    Sums(const Selective& of, Arena& arena)
        : kernel(arena.take<Real>(of.mixer_.taps * of.smoothed_)),
          kernel_bias(arena.take<Real>(of.smoothed_)),
          skip(arena.take<Real>(of.inner_)),
          norm(arena.take<Real>(of.inner_)) {}

    void clear(const Selective& of) const {
      std::fill_n(kernel, of.mixer_.taps * of.smoothed_, Real(0));
      std::fill_n(kernel_bias, of.smoothed_, Real(0));
      std::fill_n(skip, of.inner_, Real(0)), std::fill_n(norm, of.inner_, Real(0));
    }
  };

  Selective(const StateSpace<Real>& mixer, Arena& arena)
      : mixer_(mixer),
        inner_(round_up(mixer.inner, lanes)),
        smoothed_(round_up(inner_ + 2 * mixer.state, lanes)),
        pairs_(round_up(2 * mixer.state, lanes)),
        parameters_(*this, arena) {
    for (std::int64_t i = 0; i < mixer.series; ++i)
      longest_ = std::max(longest_, mixer.offsets[i + 1] - mixer.offsets[i]);
  }

  std::int64_t pieces() const { return mixer_.series; }

  void pack() const {
    parameters_.clear(*this);
    for (std::int64_t c = 0; c < mixer_.smoothed(); ++c) {
      for (std::int64_t k = 0; k < mixer_.taps; ++k)
        parameters_.kernel[k * smoothed_ + place(c)] = mixer_.kernel[c * mixer_.taps + k];
      parameters_.kernel_bias[place(c)] = mixer_.kernel_bias[c];
    }
    spread(mixer_.skip, parameters_.skip);
    std::copy_n(mixer_.norm, mixer_.inner, parameters_.norm);
  }

  // What the longest series needs; the way forward keeps one state.
  struct Memory {
    Real *mixed, *smooth, *slope, *gate, *step, *decay, *y, *states;
    Real *share, *gated, *to_smooth, *to_state, *told, *to_drive, *to_decay, *to_pairs, *turned;

    Memory(const Selective& of, bool back, Arena& arena) {
      const std::int64_t rows = of.longest_, before = of.mixer_.taps - 1, state = of.mixer_.state * of.inner_;
      mixed = arena.take<Real>((rows + before) * of.smoothed_);
      smooth = arena.take<Real>(rows * of.smoothed_);
      slope = arena.take<Real>(rows * of.smoothed_);
      for (Real** part : {&gate, &step, &decay, &y}) *part = arena.take<Real>(rows * of.inner_);
      states = arena.take<Real>((back ? rows + 1 : 1) * state);
      to_smooth = arena.take<Real>(back ? (rows + before) * of.smoothed_ : 0);
      to_state = arena.take<Real>(back ? state : 0);
      for (Real** part : {&share, &gated, &told, &to_drive, &to_decay}) *part = arena.take<Real>(of.inner_);
      to_pairs = arena.take<Real>(of.pairs_ * lanes), turned = arena.take<Real>(of.pairs_ * lanes);
    }
  };

  void forward(std::int64_t series, const Memory& m, Real* found) const {
    const std::int64_t first = mixer_.offsets[series], rows = mixer_.offsets[series + 1] - first;
    read(first, rows, m);
    scan<false>(rows, m);
    for (std::int64_t t = 0; t < rows; ++t) {
      const Real scale = open(t, m);
      for (std::int64_t i = 0; i < inner_; i += lanes)
        store(m.gated + i, load(m.gated + i) * scale * load(parameters_.norm + i));
      copy(m.gated, mixer_.inner, found + (first + t) * mixer_.inner, mixer_.inner);
    }
  }

  void reverse(std::int64_t series, const Memory& m, const StateSpaceGradient<Real>& gradient,
               const Sums& sums) const {
    const std::int64_t first = mixer_.offsets[series], rows = mixer_.offsets[series + 1] - first;
    read(first, rows, m);
    scan<true>(rows, m);
    std::fill_n(m.to_state, mixer_.state * inner_, Real(0));
    std::fill_n(m.to_smooth, (rows + mixer_.taps - 1) * smoothed_, Real(0));
    for (std::int64_t t = 0; t < rows; ++t) pull_gate(first + t, t, m, gradient, sums);
    for (std::int64_t t = rows - 1; t >= 0; --t) pull_state(first + t, t, m, gradient, sums);
    pull_smooth(first, rows, m, gradient, sums);
  }

  void add(const Sums& sums, const StateSpaceGradient<Real>& to) const {
    for (std::int64_t c = 0; c < mixer_.smoothed(); ++c) {
      for (std::int64_t k = 0; k < mixer_.taps; ++k)
        to.kernel[c * mixer_.taps + k] += sums.kernel[k * smoothed_ + place(c)];
      to.kernel_bias[c] += sums.kernel_bias[place(c)];
    }
    for (std::int64_t i = 0; i < mixer_.inner; ++i) {
      to.skip[i / head()] += sums.skip[i];
      to.norm[i] += sums.norm[i];
    }
  }

 private:
  std::int64_t head() const { return mixer_.inner / mixer_.heads; }

  // Where a channel of the convolution stands: those of b and c begin with a vector.
  std::int64_t place(std::int64_t c) const { return c < mixer_.inner ? c : inner_ + c - mixer_.inner; }

  // Calls the work with the width of a head, which the compiler knows where it is the usual one.
  template <class Work>
  void with_width(Work work) const {
    constexpr std::integral_constant<std::int64_t, 8> usual;
    if (head() == usual)
      work(usual);
    else
      work(head());
  }

  void spread(const Real* heads, Real* channels) const {
    with_width([=](auto width) {
      for (std::int64_t h = 0; h < mixer_.heads; ++h)
        for (std::int64_t k = 0; k < width; ++k) channels[h * width + k] = heads[h];
    });
    for (std::int64_t i = mixer_.inner; i < inner_; ++i) channels[i] = 0;
  }

  static Real total(V some) {
    alignas(64) Real sums[lanes];
    store(sums, some);
    for (int half = lanes / 2; half > 0; half /= 2)
      for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    return sums[0];
  }

  // Numbers at any address, in whole vectors where there are any; `to` is filled up with zeros to `size`.
  static void copy(const Real* from, std::int64_t count, Real* to, std::int64_t size) {
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) std::memcpy(to + i, from + i, sizeof(V));
    for (; i < count; ++i) to[i] = from[i];
    for (; i < size; ++i) to[i] = 0;
  }

  void read(std::int64_t first, std::int64_t rows, const Memory& m) const {
    const std::int64_t before = mixer_.taps - 1;
    std::fill_n(m.mixed, before * smoothed_, Real(0));
    for (std::int64_t t = 0; t < rows; ++t) {
      const Real* const from = mixer_.projected + (first + t) * mixer_.width();
      Real* const mixed = m.mixed + (before + t) * smoothed_;
      copy(from, mixer_.inner, m.gate + t * inner_, inner_);
      copy(from + mixer_.inner, mixer_.inner, mixed, inner_);
      copy(from + 2 * mixer_.inner, 2 * mixer_.state, mixed + inner_, smoothed_ - inner_);
      spread(mixer_.step + (first + t) * mixer_.heads, m.step + t * inner_);
      spread(mixer_.decay + (first + t) * mixer_.heads, m.decay + t * inner_);
    }
    for (std::int64_t t = 0; t < rows; ++t)
      for (std::int64_t c = 0; c < smoothed_; c += lanes) {
        V sum = load(parameters_.kernel_bias + c);
        for (std::int64_t k = 0; k < mixer_.taps; ++k)
          sum =
              fma(load(parameters_.kernel + k * smoothed_ + c), load(m.mixed + (t + k) * smoothed_ + c), sum);
        const V share = sigmoid_of_twice(sum * Real(0.5));
        store(m.smooth + t * smoothed_ + c, sum * share);
        store(m.slope + t * smoothed_ + c, share * fma(sum, Real(1) - share, splat(Real(1))));
      }
  }

  // Fills y; keeps every state, or the last.
  template <bool keep>
  void scan(std::int64_t rows, const Memory& m) const {
    const std::int64_t size = mixer_.state * inner_;
    std::fill_n(m.states, size, Real(0));
    const Real* before = m.states;
    for (std::int64_t t = 0; t < rows; ++t) {
      Real* const after = m.states + (keep ? (t + 1) * size : 0);
      const Real *const x = m.smooth + t * smoothed_, *const b = x + inner_, *const c = b + mixer_.state;
      for (std::int64_t i = 0; i < inner_; i += lanes) {
        const V signal = load(x + i), drive = signal * load(m.step + t * inner_ + i);
        const V decay = load(m.decay + t * inner_ + i);
        V even = load(parameters_.skip + i) * signal, odd{};
        const auto advance = [&](std::int64_t n, V& sum) {
          const V state = fma(decay, load(before + n * inner_ + i), drive * splat(b[n]));
          store(after + n * inner_ + i, state);
          sum = fma(splat(c[n]), state, sum);
        };
        std::int64_t n = 0;
        for (; n + 2 <= mixer_.state; n += 2) advance(n, even), advance(n + 1, odd);
        if (n < mixer_.state) advance(n, even);
        store(m.y + t * inner_ + i, even + odd);
      }
      before = after;
    }
  }

  // How far the gate is open, and a gated row; returns what makes its mean square one.
  Real open(std::int64_t t, const Memory& m) const {
    V squares{};
    for (std::int64_t i = 0; i < inner_; i += lanes) {
      const V gate = load(m.gate + t * inner_ + i), share = sigmoid_of_twice(gate * Real(0.5));
      const V z = load(m.y + t * inner_ + i) * gate * share;
      store(m.share + i, share), store(m.gated + i, z);
      squares = fma(z, z, squares);
    }
    return Real(1) / std::sqrt(total(squares) / static_cast<Real>(mixer_.inner) + mixer_.epsilon);
  }

  // From the gradient of a row to those of its gate and, in the place of y, of y.
  void pull_gate(std::int64_t row, std::int64_t t, const Memory& m, const StateSpaceGradient<Real>& gradient,
                 const Sums& sums) const {
    const Real scale = open(t, m);
    Real *const y = m.y + t * inner_, *const told = m.told;
    copy(gradient.found + row * mixer_.inner, mixer_.inner, told, inner_);
    V along{};
    for (std::int64_t i = 0; i < inner_; i += lanes) {
      const V from = load(told + i), z = load(m.gated + i);
      store(sums.norm + i, fma(from, z * scale, load(sums.norm + i)));
      along = fma(from * load(parameters_.norm + i), z, along);
    }
    const Real pulled = total(along) * scale * scale * scale / static_cast<Real>(mixer_.inner);
    for (std::int64_t i = 0; i < inner_; i += lanes) {
      const V gate = load(m.gate + t * inner_ + i), share = load(m.share + i);
      const V to_z = load(told + i) * load(parameters_.norm + i) * scale - load(m.gated + i) * pulled;
      store(m.gated + i, to_z * load(y + i) * share * fma(gate, Real(1) - share, splat(Real(1))));
      store(y + i, to_z * gate * share);
    }
    copy(m.gated, mixer_.inner, gradient.projected + row * mixer_.width(), mixer_.inner);
  }

  void pull_state(std::int64_t row, std::int64_t t, const Memory& m, const StateSpaceGradient<Real>& gradient,
                  const Sums& sums) const {
    const std::int64_t size = mixer_.state * inner_;
    const Real *const x = m.smooth + t * smoothed_, *const b = x + inner_, *const c = b + mixer_.state;
    const Real *const before = m.states + t * size, *const after = before + size;
    const Real *const step = m.step + t * inner_, *const decay = m.decay + t * inner_;
    std::fill_n(m.to_pairs, pairs_ * lanes, Real(0));
    Real* const to_x = m.to_smooth + (mixer_.taps - 1 + t) * smoothed_;
    const auto strip = [&](std::int64_t i, auto count) {
      constexpr int vectors = decltype(count)::value;
      V to_y[vectors], drive[vectors], to_drive[vectors] = {}, to_decay[vectors] = {};
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        to_y[v] = load(m.y + t * inner_ + i + v * lanes);
        drive[v] = load(x + i + v * lanes) * load(step + i + v * lanes);
      }
      for (std::int64_t n = 0; n < mixer_.state; ++n) {
        Real *const to_b = m.to_pairs + n * lanes, *const to_c = to_b + mixer_.state * lanes;
        V sum_b = load(to_b), sum_c = load(to_c);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) {
          const std::int64_t at = n * inner_ + i + v * lanes;
          const V from = fma(splat(c[n]), to_y[v], load(m.to_state + at));
          sum_b = fma(from, drive[v], sum_b);
          sum_c = fma(load(after + at), to_y[v], sum_c);
          to_drive[v] = fma(from, splat(b[n]), to_drive[v]);
          to_decay[v] = fma(from, load(before + at), to_decay[v]);
          store(m.to_state + at, from * load(decay + i + v * lanes));
        }
        store(to_b, sum_b), store(to_c, sum_c);
      }
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        const std::int64_t at = i + v * lanes;
        const V signal = load(x + at);
        store(m.to_drive + at, to_drive[v] * signal);
        store(m.to_decay + at, to_decay[v]);
        store(sums.skip + at, fma(to_y[v], signal, load(sums.skip + at)));
        store(to_x + at, fma(to_drive[v], load(step + at), to_y[v] * load(parameters_.skip + at)));
      }
    };
    std::int64_t i = 0;
    for (; i + 4 * lanes <= inner_; i += 4 * lanes) strip(i, std::integral_constant<int, 4>());
    for (; i < inner_; i += lanes) strip(i, std::integral_constant<int, 1>());
    add_heads(m.to_drive, gradient.step + row * mixer_.heads);
    add_heads(m.to_decay, gradient.decay + row * mixer_.heads);
    transpose_lanes(pairs_, m.to_pairs, m.turned);
    for (std::int64_t n = 0; n < 2 * mixer_.state; n += lanes) {
      V sum{};
      for (int lane = 0; lane < lanes; ++lane) sum += load(m.turned + lane * pairs_ + n);
      store(to_x + inner_ + n, sum);
    }
  }

  void add_heads(const Real* channels, Real* to) const {
    with_width([=](auto width) {
      for (std::int64_t h = 0; h < mixer_.heads; ++h) {
        Real sum = 0;
        for (std::int64_t k = 0; k < width; ++k) sum += channels[h * width + k];
        to[h] = sum;
      }
    });
  }

  // Through the SiLU and the convolution; the gradient of a row is complete once all after it have been seen.
  void pull_smooth(std::int64_t first, std::int64_t rows, const Memory& m,
                   const StateSpaceGradient<Real>& gradient, const Sums& sums) const {
    const std::int64_t before = mixer_.taps - 1;
    Real* const to = m.to_smooth + before * smoothed_;
    for (std::int64_t t = 0; t < rows; ++t)
      for (std::int64_t c = 0; c < smoothed_; c += lanes) {
        const V from = load(to + t * smoothed_ + c) * load(m.slope + t * smoothed_ + c);
        store(to + t * smoothed_ + c, from);
        store(sums.kernel_bias + c, load(sums.kernel_bias + c) + from);
        for (std::int64_t k = 0; k < mixer_.taps; ++k) {
          Real* const sum = sums.kernel + k * smoothed_ + c;
          store(sum, fma(from, load(m.mixed + (t + k) * smoothed_ + c), load(sum)));
        }
      }
    for (std::int64_t t = 0; t < rows; ++t) {
      Real* const pulled = m.slope + t * smoothed_;
      for (std::int64_t c = 0; c < smoothed_; c += lanes) {
        V sum{};
        for (std::int64_t k = 0; k < mixer_.taps && t + k < rows; ++k)
          sum = fma(load(parameters_.kernel + (before - k) * smoothed_ + c),
                    load(to + (t + k) * smoothed_ + c), sum);
        store(pulled + c, sum);
      }
      Real* const projected = gradient.projected + (first + t) * mixer_.width() + mixer_.inner;
      copy(pulled, mixer_.inner, projected, mixer_.inner);
      copy(pulled + inner_, 2 * mixer_.state, projected + mixer_.inner, 2 * mixer_.state);
    }
  }

  const StateSpace<Real>& mixer_;
  std::int64_t inner_, smoothed_, pairs_, longest_ = 0;
  Sums parameters_;
};

}  // namespace denots::DENOTS_TARGET
