// The GRU slope and its pullback. With u the drive, v = W s h + b the recurrent part and
// s = -1 where the gates see the mirrored state:
//   r = sigmoid(u_r + v_r)   z = sigmoid(u_z + v_z)   n = tanh(u_n + r v_n)
//   dh/dt = (1 - z) n + carry z h - leak h
// Units go four at a time: a tile holds rows r r r r z z z z n n n n, so twelve accumulators
// of one vector each fill the registers. Products, gates and their mixture are three passes over memory.
#pragma once

#include "denots/solve.h"
#include "gemm-inl.h"
#include "input-inl.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

enum class Feedback { none, sync, anti };

template <class Number, Feedback feedback>
struct Gru {
  static constexpr const char* name = feedback == Feedback::none   ? "gru-none"
                                      : feedback == Feedback::sync ? "gru-sync"
                                                                   : "gru-anti";
  using Real = Number;
  using V = typename Simd<Real>::V;
  static constexpr int lanes = Simd<Real>::lanes;
  static constexpr int tile = 4;
  static constexpr bool reads_slope = false;
  static constexpr Real mirror = feedback == Feedback::anti ? -1 : 1;

  std::int64_t states, channels, padded;
  Real *recurrent, *input, *candidate_bias;
  Packed<Real> transposed, to_signal;

  // Padded units have zero weights and stay zero.
  Gru(const Problem<Real>& p, Arena& arena)
      : states(p.states),
        channels(p.channels),
        padded(padded_size<Real>(p.states)),
        recurrent(arena.take<Real>(3 * padded * padded)),  // [tile][unit][12]
        input(arena.take<Real>(3 * padded * channels)),    // [tile][channel][12]
        candidate_bias(arena.take<Real>(padded)),
        transposed(padded, 3 * padded, arena),
        to_signal(round_up(channels, 8), 4 * padded, arena) {}

  static Rows rows(std::int64_t states, std::int64_t) { return {3 * states, 3 * states, 0}; }
  std::int64_t drive_size() const { return 3 * states; }  // as the caller counts it
  std::int64_t drive_rows() const { return 3 * padded; }
  std::int64_t kept_rows() const { return 4 * padded; }  // r, z, v_n in tiles, then n; later their cotangents
  std::int64_t sum_rows() const { return 4 * padded; }   // cotangents of the drive in tiles, then of v_n

  static std::int64_t row_of(int gate, std::int64_t unit) {
    return unit / tile * 12 + gate * tile + unit % tile;
  }

  // Sigmoids take half their argument; halving weights is exact.
  static constexpr Real scale_of(int gate) { return gate < 2 ? Real(0.5) : Real(1); }

  void pack(const Problem<Real>& p) const {
    for (std::int64_t i = 0; i < 3 * padded * padded; ++i) recurrent[i] = 0;
    transposed.clear(), to_signal.clear();
    for (std::int64_t i = 0; i < 3 * padded * channels; ++i) input[i] = 0;
    for (std::int64_t i = 0; i < padded; ++i)
      candidate_bias[i] = i < states ? p.bias_hh[2 * states + i] : Real(0);
    for (int gate = 0; gate < 3; ++gate)
      for (std::int64_t unit = 0; unit < states; ++unit) {
        const std::int64_t from = gate * states + unit, row = row_of(gate, unit), in_tile = row % 12;
        for (std::int64_t k = 0; k < states; ++k) {
          const Real weight = mirror * p.weight_hh[from * states + k];
          recurrent[(row / 12 * padded + k) * 12 + in_tile] = scale_of(gate) * weight;
          transposed.at(k, row) = weight;
        }
        // `pull` leaves the cotangent of u_n behind the tiles.
        const std::int64_t driven = gate < 2 ? row : 3 * padded + unit;
        for (std::int64_t c = 0; c < channels; ++c) {
          const Real weight = p.weight_in[from * channels + c];
          input[(row / 12 * channels + c) * 12 + in_tile] = scale_of(gate) * weight;
          to_signal.at(c, driven) = weight;
        }
      }
  }

  // The constant part of the drive of one series, into one lane of [row][lane].
  void load_bias(const Problem<Real>& p, std::int64_t series, Real* bias) const {
    const Real* own = p.bias + (p.bias_rows == 1 ? 0 : series) * 3 * states;
    for (int gate = 0; gate < 3; ++gate)
      for (std::int64_t unit = 0; unit < states; ++unit) {
        const std::int64_t from = gate * states + unit;
        bias[row_of(gate, unit) * lanes] =
            gate < 2 ? scale_of(gate) * (own[from] + p.bias_hh[from]) : own[from];
      }
  }

  // Three passes: with the gates at the end of each tile, the CPU waits for their long chains of
  // dependent operations once a tile instead of once a pass (130 against 95 ns at 32 states).
  void slope(const Real* h, const Real* x, const Real* bias, Real* out, Real* kept) const {
    multiply(h, x, bias, out, kept);
    open_gates(kept);
    mix(h, out, kept);
  }

  // Arguments of r and z, halved, and v to `kept`; u_n to `out`. Not inlined: among the values
  // of a caller, the compiler spills accumulators (twice the time).
  __attribute__((noinline)) void multiply(const Real* h, const Real* x, const Real* bias, Real* out,
                                          Real* kept) const {
    const Real *w = recurrent, *w_in = input;
    for (std::int64_t unit = 0; unit < padded; unit += tile, bias += 12 * lanes, kept += 12 * lanes) {
      V sum[12];
#pragma GCC unroll 12
      for (int r = 0; r < 12; ++r) sum[r] = load(bias + r * lanes);
      const Real* signal = x;
      for (std::int64_t c = 0; c < channels; ++c, w_in += 12, signal += lanes) {
        const V value = load(signal);
#pragma GCC unroll 12
        for (int r = 0; r < 12; ++r) sum[r] = fma(splat(w_in[r]), value, sum[r]);
      }
#pragma GCC unroll 4
      for (int i = 0; i < tile; ++i) {
        store(out + (unit + i) * lanes, sum[8 + i]);
        sum[8 + i] = splat(candidate_bias[unit + i]);
      }
      const Real* state = h;
      for (std::int64_t k = 0; k < padded; ++k, w += 12, state += lanes) {
        const V value = load(state);
#pragma GCC unroll 12
        for (int r = 0; r < 12; ++r) sum[r] = fma(splat(w[r]), value, sum[r]);
      }
#pragma GCC unroll 12
      for (int r = 0; r < 12; ++r) store(kept + r * lanes, sum[r]);
    }
  }

  __attribute__((noinline)) void open_gates(Real* kept) const {
    for (std::int64_t unit = 0; unit < padded; unit += tile, kept += 12 * lanes)
#pragma GCC unroll 8
      for (int r = 0; r < 8; ++r) store(kept + r * lanes, sigmoid_of_twice(load(kept + r * lanes)));
  }

  __attribute__((noinline)) void mix(const Real* h, Real* out, Real* kept) const {
    Real* candidate = kept + 3 * padded * lanes;
    for (std::int64_t unit = 0; unit < padded; unit += tile, kept += 12 * lanes) {
#pragma GCC unroll 4
      for (int i = 0; i < tile; ++i) {
        const std::int64_t at = (unit + i) * lanes;
        const V r = load(kept + i * lanes), z = load(kept + (4 + i) * lanes),
                v = load(kept + (8 + i) * lanes);
        const V n = tanh<Real>(fma(r, v, load(out + at)));
        store(candidate + at, n);
        store(out + at, blend(z, n, load(h + at)));
      }
    }
  }

  static DENOTS_INLINE V blend(V z, V n, V h) {
    if (feedback == Feedback::none) return fma(z, h - n, n);
    if (feedback == Feedback::sync) return (Real(1) - z) * (n - h);
    return n - z * (n + h);
  }

  // From the cotangent of the slope to that of the state; turns what `slope` kept into the
  // cotangents of the recurrent rows and of u_n, and adds those of the drive and of v_n to `sums`.
  // Where `signal` is given, it gets the cotangent of the signal.
  void pull(const Real* h, const Real*, const Real* cotangent, Real* kept, Real* sums, Real* out,
            Real* signal) const {
    pull_gates(h, cotangent, kept, sums, out);
    add_product(transposed, kept, out, out);
    if (signal != nullptr) product<Real>(to_signal, nullptr, kept, signal);
  }

  __attribute__((noinline)) void pull_gates(const Real* h, const Real* cotangent, Real* kept, Real* sums,
                                            Real* out) const {
    Real *gates = kept, *candidate = kept + 3 * padded * lanes, *sum = sums,
         *sum_v = sums + 3 * padded * lanes;
    for (std::int64_t unit = 0; unit < padded; unit += tile, gates += 12 * lanes, sum += 12 * lanes) {
#pragma GCC unroll 4
      for (int i = 0; i < tile; ++i) {
        const std::int64_t at = (unit + i) * lanes, at_r = i * lanes, at_z = (4 + i) * lanes,
                           at_n = (8 + i) * lanes;
        const V g = load(cotangent + at), state = load(h + at);
        const V r = load(gates + at_r), z = load(gates + at_z), v = load(gates + at_n),
                n = load(candidate + at);
        const V keep_n = Real(1) - z;
        const V to_n = g * keep_n * (Real(1) - n * n);
        const V to_z = g * (feedback == Feedback::anti ? -state - n : state - n) * (z * keep_n);
        const V to_v = to_n * r, to_r = to_n * v * (r * (Real(1) - r));
        store(out + at, feedback == Feedback::none   ? g * z
                        : feedback == Feedback::sync ? -g * keep_n
                                                     : -g * z);
        store(gates + at_r, to_r);
        store(gates + at_z, to_z);
        store(gates + at_n, to_v);
        store(candidate + at, to_n);
        store(sum + at_r, load(sum + at_r) + to_r);
        store(sum + at_z, load(sum + at_z) + to_z);
        store(sum + at_n, load(sum + at_n) + to_n);
        store(sum_v + at, load(sum_v + at) + to_v);
      }
    }
  }

  // The sums of one block of series, filled by `accumulate`.
  struct Sums {
    Real *recurrent, *shared;  // shared: the bias of v_n
    InputSums<Real> input;

    Sums(const Gru& field, Arena& arena)
        : recurrent(arena.take<Real>(3 * field.padded * field.padded)),
          shared(arena.take<Real>(field.padded)),
          input(3 * field.padded, field.channels, arena) {}

    void clear(const Gru& field) const {
      for (std::int64_t i = 0; i < 3 * field.padded * field.padded; ++i) recurrent[i] = 0;
      for (std::int64_t i = 0; i < field.padded; ++i) shared[i] = 0;
      input.clear();
    }
  };

  // h and x hold the inputs of all stages, `kept` what `pull` left there.
  __attribute__((noinline)) void accumulate(int stages, const Real* h, const Real* x, Real* kept,
                                            Real* scratch, const Sums& sums) const {
    const std::int64_t size = padded * lanes, kept_stride = kept_rows() * lanes;
    for (int s = 0; s < stages; ++s) transpose_lanes(padded, h + s * size, scratch + s * size);
    add_outer(stages, 3 * padded, padded, kept, kept_stride, scratch, size, sums.recurrent);
    for (int s = 0; s < stages; ++s)
      for (std::int64_t unit = 0; unit < padded; ++unit) {
        Real* const from = kept + s * kept_stride;
        store(from + row_of(2, unit) * lanes, load(from + (3 * padded + unit) * lanes));
      }
    sums.input.add(stages, x, kept, kept_stride, scratch);
  }

  std::int64_t scratch_size() const {
    const std::int64_t own = max_stages * lanes * padded, wide = InputSums<Real>::scratch_size(channels);
    return own > wide ? own : wide;
  }

  // One lane of the summed cotangents of the drive, in the order of the caller.
  void store_drive(const Real* sums, Real* to) const {
    for (int gate = 0; gate < 3; ++gate)
      for (std::int64_t unit = 0; unit < states; ++unit)
        to[gate * states + unit] = sums[row_of(gate, unit) * lanes];
  }

  // Recurrent and input biases of r and z meet only in their sum.
  void unpack_drive(const Real* drive, const Gradient<Real>& to) const {
    for (std::int64_t row = 0; row < 2 * states; ++row) to.bias_hh[row] += drive[row];
  }

  void unpack(const Sums& sums, const Gradient<Real>& to) const {
    for (int gate = 0; gate < 3; ++gate)
      for (std::int64_t unit = 0; unit < states; ++unit) {
        const std::int64_t row = row_of(gate, unit), target = gate * states + unit;
        for (std::int64_t k = 0; k < states; ++k)
          to.weight_hh[target * states + k] += mirror * sums.recurrent[row * padded + k];
        for (std::int64_t c = 0; c < channels; ++c)
          to.weight_in[target * channels + c] += sums.input.total(row, c);
      }
    for (std::int64_t unit = 0; unit < states; ++unit) to.bias_hh[2 * states + unit] += sums.shared[unit];
  }
};

}  // namespace denots::DENOTS_TARGET
