// The two-layer slopes and their pullback. With u the drive:
//   s = f(u + V h + c)   dh/dt = g(W s + b)
// where f and g are tanh, or f is ReLU and g the identity.
#pragma once

#include "denots/solve.h"
#include "gemm-inl.h"
#include "input-inl.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

enum class Activation { tanh, relu };

template <class Number, Activation activation>
struct Mlp {
  static constexpr const char* name = activation == Activation::tanh ? "mlp-tanh" : "mlp-relu";
  using Real = Number;
  using V = typename Simd<Real>::V;
  static constexpr int lanes = Simd<Real>::lanes;
  static constexpr bool reads_slope = false, bounded = activation == Activation::tanh;

  std::int64_t states, channels, padded;
  Packed<Real> input, recurrent, outer, recurrent_back, outer_back, to_signal;
  Real* bias_out;

  // Padded units have zero weights and stay zero.
  Mlp(const Problem<Real>& p, Arena& arena)
      : states(p.states),
        channels(p.channels),
        padded(padded_size<Real>(p.states)),
        input(padded, channels, arena),
        recurrent(padded, padded, arena),
        outer(padded, padded, arena),
        recurrent_back(padded, padded, arena),
        outer_back(padded, padded, arena),
        to_signal(round_up(channels, 8), padded, arena),
        bias_out(arena.take<Real>(padded)) {}

  static Rows rows(std::int64_t states, std::int64_t) { return {states, states, states}; }
  std::int64_t drive_size() const { return states; }
  std::int64_t drive_rows() const { return padded; }
  // Cotangents of the arguments of f and of g, which holds dh/dt until then, and s.
  std::int64_t kept_rows() const { return 3 * padded; }
  std::int64_t sum_rows() const { return 2 * padded; }  // cotangents of the drive and of b

  void pack(const Problem<Real>& p) const {
    input.clear(), recurrent.clear(), outer.clear();
    recurrent_back.clear(), outer_back.clear(), to_signal.clear();
    for (std::int64_t row = 0; row < padded; ++row) bias_out[row] = row < states ? p.bias_out[row] : Real(0);
    for (std::int64_t row = 0; row < states; ++row) {
      for (std::int64_t k = 0; k < states; ++k) {
        recurrent.at(row, k) = recurrent_back.at(k, row) = p.weight_hh[row * states + k];
        outer.at(row, k) = outer_back.at(k, row) = p.weight_out[row * states + k];
      }
      for (std::int64_t c = 0; c < channels; ++c)
        input.at(row, c) = to_signal.at(c, row) = p.weight_in[row * channels + c];
    }
  }

  // The constant part of the drive of one series, with c, into one lane of [row][lane].
  void load_bias(const Problem<Real>& p, std::int64_t series, Real* bias) const {
    const Real* own = p.bias + (p.bias_rows == 1 ? 0 : series) * states;
    for (std::int64_t row = 0; row < states; ++row) bias[row * lanes] = own[row] + p.bias_hh[row];
  }

  void slope(const Real* h, const Real* x, const Real* bias, Real* out, Real* kept) const {
    Real* const hidden = kept + 2 * padded * lanes;
    add_product(input, x, bias, hidden);
    add_product(recurrent, h, hidden, hidden);
    activate(hidden, hidden);
    product(outer, bias_out, hidden, out);
    if (!bounded) return;
    activate(out, out);
    for (std::int64_t at = 0; at < padded * lanes; at += lanes)
      store(kept + padded * lanes + at, load(out + at));
  }

  __attribute__((noinline)) void activate(const Real* from, Real* to) const {
    for (std::int64_t at = 0; at < padded * lanes; at += lanes)
      store(to + at, bounded ? tanh<Real>(load(from + at)) : max(V{}, load(from + at)));
  }

  // From the cotangent of the slope to that of the state, and of the signal where it is asked for;
  // turns what `slope` kept into cotangents and adds them to `sums`.
  void pull(const Real*, const Real*, const Real* cotangent, Real* kept, Real* sums, Real* out,
            Real* signal) const {
    pull_outer(cotangent, kept, sums);
    product<Real>(outer_back, nullptr, kept + padded * lanes, kept);
    pull_hidden(kept, sums);
    product<Real>(recurrent_back, nullptr, kept, out);
    if (signal != nullptr) product<Real>(to_signal, nullptr, kept, signal);
  }

  __attribute__((noinline)) void pull_outer(const Real* cotangent, Real* kept, Real* sums) const {
    Real *const outward = kept + padded * lanes, *const sum = sums + padded * lanes;
    for (std::int64_t at = 0; at < padded * lanes; at += lanes) {
      const V g = load(cotangent + at), k = load(outward + at);
      const V to = bounded ? g * (Real(1) - k * k) : g;
      store(outward + at, to);
      store(sum + at, load(sum + at) + to);
    }
  }

  __attribute__((noinline)) void pull_hidden(Real* kept, Real* sums) const {
    const Real* const hidden = kept + 2 * padded * lanes;
    for (std::int64_t at = 0; at < padded * lanes; at += lanes) {
      const V g = load(kept + at), s = load(hidden + at);
      const V to = bounded ? g * (Real(1) - s * s) : s > V{} ? g : V{};
      store(kept + at, to);
      store(sums + at, load(sums + at) + to);
    }
  }

  // The sums of one block of series, filled by `accumulate`.
  struct Sums {
    Real *recurrent, *outer, *shared;  // shared: b
    InputSums<Real> input;

    Sums(const Mlp& field, Arena& arena)
        : recurrent(arena.take<Real>(field.padded * field.padded)),
          outer(arena.take<Real>(field.padded * field.padded)),
          shared(arena.take<Real>(field.padded)),
          input(field.padded, field.channels, arena) {}

    void clear(const Mlp& field) const {
      for (std::int64_t i = 0; i < field.padded * field.padded; ++i) recurrent[i] = outer[i] = 0;
      for (std::int64_t i = 0; i < field.padded; ++i) shared[i] = 0;
      input.clear();
    }
  };

  // h and x hold the inputs of all stages, `kept` what `pull` left there.
  __attribute__((noinline)) void accumulate(int stages, const Real* h, const Real* x, Real* kept,
                                            Real* scratch, const Sums& sums) const {
    const std::int64_t size = padded * lanes, stride = kept_rows() * lanes;
    for (int s = 0; s < stages; ++s) transpose_lanes(padded, h + s * size, scratch + s * size);
    add_outer(stages, padded, padded, kept, stride, scratch, size, sums.recurrent);
    for (int s = 0; s < stages; ++s)
      transpose_lanes(padded, kept + s * stride + 2 * size, scratch + s * size);
    add_outer(stages, padded, padded, kept + size, stride, scratch, size, sums.outer);
    sums.input.add(stages, x, kept, stride, scratch);
  }

  std::int64_t scratch_size() const {
    const std::int64_t own = max_stages * lanes * padded, wide = InputSums<Real>::scratch_size(channels);
    return own > wide ? own : wide;
  }

  // One lane of the summed cotangents of the drive, in the order of the caller.
  void store_drive(const Real* sums, Real* to) const {
    for (std::int64_t row = 0; row < states; ++row) to[row] = sums[row * lanes];
  }

  // The biases of drive and state meet only in their sum.
  void unpack_drive(const Real* drive, const Gradient<Real>& to) const {
    for (std::int64_t row = 0; row < states; ++row) to.bias_hh[row] += drive[row];
  }

  void unpack(const Sums& sums, const Gradient<Real>& to) const {
    for (std::int64_t row = 0; row < states; ++row) {
      for (std::int64_t k = 0; k < states; ++k) {
        to.weight_hh[row * states + k] += sums.recurrent[row * padded + k];
        to.weight_out[row * states + k] += sums.outer[row * padded + k];
      }
      for (std::int64_t c = 0; c < channels; ++c)
        to.weight_in[row * channels + c] += sums.input.total(row, c);
      to.bias_out[row] += sums.shared[row];
    }
  }
};

}  // namespace denots::DENOTS_TARGET
