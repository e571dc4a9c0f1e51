// A lane is a channel of one series, so that nothing is padded. On the way back a series is run again first.
#pragma once

#include <algorithm>
#include <cmath>

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
    Real *to_smooth, *to_state, *to_y, *to_drive, *to_decay, *to_pairs, *turned;

    Memory(const Selective& of, bool back, Arena& arena) {
      const std::int64_t rows = of.longest_, before = of.mixer_.taps - 1, state = of.mixer_.state * of.inner_;
      mixed = arena.take<Real>((rows + before) * of.smoothed_);
      smooth = arena.take<Real>(rows * of.smoothed_);
      slope = arena.take<Real>(rows * of.smoothed_);
      for (Real** part : {&gate, &step, &decay, &y}) *part = arena.take<Real>(rows * of.inner_);
      states = arena.take<Real>((back ? rows + 1 : 1) * state);
      to_smooth = arena.take<Real>(back ? (rows + before) * of.smoothed_ : 0);
      to_state = arena.take<Real>(back ? state : 0);
      for (Real** part : {&to_y, &to_drive, &to_decay}) *part = arena.take<Real>(of.inner_);
      to_pairs = arena.take<Real>(of.pairs_ * lanes), turned = arena.take<Real>(of.pairs_ * lanes);
    }
  };

  void forward(std::int64_t series, const Memory& m, Real* found) const {
    const std::int64_t first = mixer_.offsets[series], rows = mixer_.offsets[series + 1] - first;
    read(first, rows, m);
    scan<false>(rows, m);
    alignas(64) Real gated[lanes];
    for (std::int64_t t = 0; t < rows; ++t) {
      Real* const to = found + (first + t) * mixer_.inner;
      const Real scale = scale_of(m.y + t * inner_, m.gate + t * inner_);
      for (std::int64_t i = 0; i < inner_; i += lanes) {
        const V gate = load(m.gate + t * inner_ + i);
        const V z = load(m.y + t * inner_ + i) * gate * sigmoid_of_twice(gate * Real(0.5));
        store(gated, z * scale * load(parameters_.norm + i));
        std::copy_n(gated, std::min<std::int64_t>(lanes, mixer_.inner - i), to + i);
      }
    }
  }

  void reverse(std::int64_t series, const Memory& m, const StateSpaceGradient<Real>& gradient,
               const Sums& sums) const {
    const std::int64_t first = mixer_.offsets[series], rows = mixer_.offsets[series + 1] - first;
    read(first, rows, m);
    scan<true>(rows, m);
    std::fill_n(m.to_state, mixer_.state * inner_, Real(0));
    std::fill_n(m.to_smooth, (rows + mixer_.taps - 1) * smoothed_, Real(0));
    for (std::int64_t t = rows - 1; t >= 0; --t) {
      pull_gate(first + t, t, m, gradient, sums);
      pull_state(first + t, t, m, gradient, sums);
    }
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

  void spread(const Real* heads, Real* channels) const {
    const std::int64_t width = head();
    for (std::int64_t h = 0; h < mixer_.heads; ++h) std::fill_n(channels + h * width, width, heads[h]);
    std::fill(channels + mixer_.inner, channels + inner_, Real(0));
  }

  static Real total(V lanes_of) {
    Real sum = 0;
    for (int lane = 0; lane < lanes; ++lane) sum += lanes_of[lane];
    return sum;
  }

  void read(std::int64_t first, std::int64_t rows, const Memory& m) const {
    const std::int64_t before = mixer_.taps - 1;
    std::fill_n(m.mixed, before * smoothed_, Real(0));
    for (std::int64_t t = 0; t < rows; ++t) {
      const Real* const from = mixer_.projected + (first + t) * mixer_.width();
      Real *const gate = m.gate + t * inner_, *const mixed = m.mixed + (before + t) * smoothed_;
      std::fill(gate + mixer_.inner, std::copy_n(from, mixer_.inner, gate) + (inner_ - mixer_.inner),
                Real(0));
      std::fill_n(mixed, smoothed_, Real(0));
      std::copy_n(from + mixer_.inner, mixer_.inner, mixed);
      std::copy_n(from + 2 * mixer_.inner, 2 * mixer_.state, mixed + inner_);
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

  // What makes the mean square of a gated row one.
  Real scale_of(const Real* y, const Real* gate) const {
    V squares{};
    for (std::int64_t i = 0; i < inner_; i += lanes) {
      const V open = load(gate + i), z = load(y + i) * open * sigmoid_of_twice(open * Real(0.5));
      squares = fma(z, z, squares);
    }
    return Real(1) / std::sqrt(total(squares) / static_cast<Real>(mixer_.inner) + mixer_.epsilon);
  }

  // From the gradient of a row to those of y and of the gate.
  void pull_gate(std::int64_t row, std::int64_t t, const Memory& m, const StateSpaceGradient<Real>& gradient,
                 const Sums& sums) const {
    const Real *const y = m.y + t * inner_, *const gate = m.gate + t * inner_;
    const Real scale = scale_of(y, gate);
    Real* const told = m.to_y;
    std::fill(std::copy_n(gradient.found + row * mixer_.inner, mixer_.inner, told), told + inner_, Real(0));
    V along{};
    for (std::int64_t i = 0; i < inner_; i += lanes) {
      const V open = load(gate + i), z = load(y + i) * open * sigmoid_of_twice(open * Real(0.5));
      const V from = load(told + i);
      store(sums.norm + i, fma(from, z * scale, load(sums.norm + i)));
      along = fma(from * load(parameters_.norm + i), z, along);
    }
    const Real pulled = total(along) * scale * scale * scale / static_cast<Real>(mixer_.inner);
    Real* const to_gate = gradient.projected + row * mixer_.width();
    alignas(64) Real some[lanes];
    for (std::int64_t i = 0; i < inner_; i += lanes) {
      const V open = load(gate + i), share = sigmoid_of_twice(open * Real(0.5)), value = load(y + i);
      const V to_z = load(told + i) * load(parameters_.norm + i) * scale - value * open * share * pulled;
      store(some, to_z * value * share * fma(open, Real(1) - share, splat(Real(1))));
      std::copy_n(some, std::min<std::int64_t>(lanes, mixer_.inner - i), to_gate + i);
      store(m.to_y + i, to_z * open * share);
    }
  }

  void pull_state(std::int64_t row, std::int64_t t, const Memory& m, const StateSpaceGradient<Real>& gradient,
                  const Sums& sums) const {
    const std::int64_t size = mixer_.state * inner_;
    const Real *const x = m.smooth + t * smoothed_, *const b = x + inner_, *const c = b + mixer_.state;
    const Real *const before = m.states + t * size, *const after = before + size;
    const Real *const step = m.step + t * inner_, *const decay = m.decay + t * inner_;
    std::fill_n(m.to_pairs, pairs_ * lanes, Real(0));
    Real* const to_x = m.to_smooth + (mixer_.taps - 1 + t) * smoothed_;
    for (std::int64_t i = 0; i < inner_; i += lanes) {
      const V to_y = load(m.to_y + i), signal = load(x + i), drive = signal * load(step + i),
              fade = load(decay + i);
      V to_drive{}, to_decay{};
      for (std::int64_t n = 0; n < mixer_.state; ++n) {
        Real* const to_state = m.to_state + n * inner_ + i;
        Real *const to_b = m.to_pairs + n * lanes, *const to_c = to_b + mixer_.state * lanes;
        const V from = fma(splat(c[n]), to_y, load(to_state));
        store(to_c, fma(load(after + n * inner_ + i), to_y, load(to_c)));
        store(to_b, fma(from, drive, load(to_b)));
        to_drive = fma(from, splat(b[n]), to_drive);
        to_decay = fma(from, load(before + n * inner_ + i), to_decay);
        store(to_state, from * fade);
      }
      store(m.to_drive + i, to_drive * signal);
      store(m.to_decay + i, to_decay);
      store(sums.skip + i, fma(to_y, signal, load(sums.skip + i)));
      store(to_x + i, fma(to_drive, load(step + i), to_y * load(parameters_.skip + i)));
    }
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
    const std::int64_t width = head();
    for (std::int64_t h = 0; h < mixer_.heads; ++h) {
      Real sum = 0;
      for (std::int64_t i = h * width; i < (h + 1) * width; ++i) sum += channels[i];
      to[h] = sum;
    }
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
      std::copy_n(pulled, mixer_.inner, projected);
      std::copy_n(pulled + inner_, 2 * mixer_.state, projected + mixer_.inner);
    }
  }

  const StateSpace<Real>& mixer_;
  std::int64_t inner_, smoothed_, pairs_, longest_ = 0;
  Sums parameters_;
};

}  // namespace denots::DENOTS_TARGET
