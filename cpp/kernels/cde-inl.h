// The slope of a controlled equation and its pullback. With x the slope of the signal:
//   s = relu(V h + c)   F = tanh(W s + b)   dh_i/dt = sum over channels of F_ic x_c
// Rows of W go by eight units, then channels, then the units of the eight: so each vector of F
// meets the signal of one channel, and the eight slopes stay in registers.
#pragma once

#include "denots/solve.h"
#include "gemm-inl.h"
#include "rk-inl.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

template <class Number>
struct Cde {
  static constexpr const char* name = "cde";
  using Real = Number;
  using V = typename Simd<Real>::V;
  static constexpr int lanes = Simd<Real>::lanes, tile = Packed<Real>::group;
  static constexpr bool reads_slope = true;

  std::int64_t states, channels, padded, entries;  // entries of F
  Packed<Real> recurrent, outer, recurrent_back, outer_back;
  Real *bias_hh, *bias_out;

  // Padded units have zero weights and stay zero.
  Cde(const Problem<Real>& p, Arena& arena)
      : states(p.states),
        channels(p.channels),
        padded(padded_size<Real>(p.states)),
        entries(padded * channels),
        recurrent(padded, padded, arena),
        outer(entries, padded, arena),
        recurrent_back(padded, padded, arena),
        outer_back(padded, entries, arena),
        bias_hh(arena.take<Real>(padded)),
        bias_out(arena.take<Real>(entries)) {}

  static Rows rows(std::int64_t states, std::int64_t channels) { return {0, states, states * channels}; }
  std::int64_t drive_size() const { return 0; }
  std::int64_t drive_rows() const { return 0; }
  // The cotangent of the argument of relu, s, and F, later the cotangent of its argument.
  std::int64_t kept_rows() const { return 2 * padded + entries; }
  std::int64_t sum_rows() const { return padded + entries; }  // cotangents of c and of b

  std::int64_t row_of(std::int64_t unit, std::int64_t c) const {
    return (unit / tile * channels + c) * tile + unit % tile;
  }

  void pack(const Problem<Real>& p) const {
    recurrent.clear(), outer.clear(), recurrent_back.clear(), outer_back.clear();
    for (std::int64_t row = 0; row < padded; ++row) bias_hh[row] = row < states ? p.bias_hh[row] : Real(0);
    for (std::int64_t row = 0; row < entries; ++row) bias_out[row] = 0;
    for (std::int64_t unit = 0; unit < states; ++unit) {
      for (std::int64_t k = 0; k < states; ++k)
        recurrent.at(unit, k) = recurrent_back.at(k, unit) = p.weight_hh[unit * states + k];
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t from = unit * channels + c, row = row_of(unit, c);
        bias_out[row] = p.bias_out[from];
        for (std::int64_t k = 0; k < states; ++k)
          outer.at(row, k) = outer_back.at(k, row) = p.weight_out[from * states + k];
      }
    }
  }

  void load_bias(const Problem<Real>&, std::int64_t, Real*) const {}

  void slope(const Real* h, const Real* x, const Real*, Real* out, Real* kept) const {
    Real *const hidden = kept + padded * lanes, *const matrix = hidden + padded * lanes;
    product(recurrent, bias_hh, h, hidden);
    for (std::int64_t at = 0; at < padded * lanes; at += lanes)
      store(hidden + at, max(V{}, load(hidden + at)));
    product(outer, bias_out, hidden, matrix);
    activate(matrix);
    contract(x, matrix, out);
  }

  __attribute__((noinline)) void activate(Real* matrix) const {
    for (std::int64_t at = 0; at < entries * lanes; at += lanes)
      store(matrix + at, tanh<Real>(load(matrix + at)));
  }

  __attribute__((noinline)) void contract(const Real* x, const Real* matrix, Real* out) const {
    for (std::int64_t unit = 0; unit < padded; unit += tile) {
      V sum[tile] = {};
      for (std::int64_t c = 0; c < channels; ++c, matrix += tile * lanes) {
        const V signal = load(x + c * lanes);
#pragma GCC unroll 8
        for (int i = 0; i < tile; ++i) sum[i] = fma(load(matrix + i * lanes), signal, sum[i]);
      }
#pragma GCC unroll 8
      for (int i = 0; i < tile; ++i) store(out + (unit + i) * lanes, sum[i]);
    }
  }

  // From the cotangent of the slope to that of the state, and of the signal where it is asked for;
  // turns what `slope` kept into cotangents and adds them to `sums`.
  void pull(const Real*, const Real* x, const Real* cotangent, Real* kept, Real* sums, Real* out,
            Real* signal) const {
    Real *const hidden = kept + padded * lanes, *const matrix = hidden + padded * lanes;
    if (signal != nullptr) pull_signal(cotangent, matrix, signal);
    pull_matrix(x, cotangent, matrix, sums + padded * lanes);
    product<Real>(outer_back, nullptr, matrix, kept);
    for (std::int64_t at = 0; at < padded * lanes; at += lanes) {
      const V to = load(hidden + at) > V{} ? load(kept + at) : V{};
      store(kept + at, to);
      store(sums + at, load(sums + at) + to);
    }
    product<Real>(recurrent_back, nullptr, kept, out);
  }

  __attribute__((noinline)) void pull_signal(const Real* cotangent, const Real* matrix, Real* signal) const {
    for (std::int64_t at = 0; at < channels * lanes; at += lanes) store(signal + at, V{});
    for (std::int64_t unit = 0; unit < padded; unit += tile)
      for (std::int64_t c = 0; c < channels; ++c, matrix += tile * lanes) {
        V sum = load(signal + c * lanes);
#pragma GCC unroll 8
        for (int i = 0; i < tile; ++i)
          sum = fma(load(cotangent + (unit + i) * lanes), load(matrix + i * lanes), sum);
        store(signal + c * lanes, sum);
      }
  }

  __attribute__((noinline)) void pull_matrix(const Real* x, const Real* cotangent, Real* matrix,
                                             Real* sums) const {
    for (std::int64_t unit = 0; unit < padded; unit += tile)
      for (std::int64_t c = 0; c < channels; ++c, matrix += tile * lanes, sums += tile * lanes) {
        const V signal = load(x + c * lanes);
#pragma GCC unroll 8
        for (int i = 0; i < tile; ++i) {
          const V entry = load(matrix + i * lanes);
          const V to = load(cotangent + (unit + i) * lanes) * signal * (Real(1) - entry * entry);
          store(matrix + i * lanes, to);
          store(sums + i * lanes, load(sums + i * lanes) + to);
        }
      }
  }

  // The sums of one block of series, filled by `accumulate`.
  struct Sums {
    Real *recurrent, *outer, *shared;  // shared: c, then b

    Sums(const Cde& field, Arena& arena)
        : recurrent(arena.take<Real>(field.padded * field.padded)),
          outer(arena.take<Real>(field.entries * field.padded)),
          shared(arena.take<Real>(field.sum_rows())) {}

    void clear(const Cde& field) const {
      for (std::int64_t i = 0; i < field.padded * field.padded; ++i) recurrent[i] = 0;
      for (std::int64_t i = 0; i < field.entries * field.padded; ++i) outer[i] = 0;
      for (std::int64_t i = 0; i < field.sum_rows(); ++i) shared[i] = 0;
    }
  };

  // h holds the states of all stages, `kept` what `pull` left there.
  __attribute__((noinline)) void accumulate(int stages, const Real* h, const Real*, Real* kept, Real* scratch,
                                            const Sums& sums) const {
    const std::int64_t size = padded * lanes, stride = kept_rows() * lanes;
    for (int s = 0; s < stages; ++s) transpose_lanes(padded, h + s * size, scratch + s * size);
    add_outer(stages, padded, padded, kept, stride, scratch, size, sums.recurrent);
    for (int s = 0; s < stages; ++s) transpose_lanes(padded, kept + s * stride + size, scratch + s * size);
    add_outer(stages, entries, padded, kept + 2 * size, stride, scratch, size, sums.outer);
  }

  std::int64_t scratch_size() const { return max_stages * lanes * padded; }

  void store_drive(const Real*, Real*) const {}
  void unpack_drive(const Real*, const Gradient<Real>&) const {}

  void unpack(const Sums& sums, const Gradient<Real>& to) const {
    for (std::int64_t unit = 0; unit < states; ++unit) {
      for (std::int64_t k = 0; k < states; ++k)
        to.weight_hh[unit * states + k] += sums.recurrent[unit * padded + k];
      to.bias_hh[unit] += sums.shared[unit];
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t target = unit * channels + c, row = row_of(unit, c);
        for (std::int64_t k = 0; k < states; ++k)
          to.weight_out[target * states + k] += sums.outer[row * padded + k];
        to.bias_out[target] += sums.shared[padded + row];
      }
    }
  }
};

}  // namespace denots::DENOTS_TARGET
