// The gradient of the input matrix of a field, summed over the series of a block.
#pragma once

#include "denots/solve.h"
#include "gemm-inl.h"
#include "rk-inl.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

// Few channels: one sum a lane, added up at the end. Many: summed over lanes at once.
template <class Real>
struct InputSums {
  using V = typename Simd<Real>::V;
  static constexpr int lanes = Simd<Real>::lanes;
  static constexpr int few = 4;

  std::int64_t rows, channels, columns, size;
  Real* data;

  InputSums(std::int64_t rows, std::int64_t channels, Arena& arena)
      : rows(rows), channels(channels), columns(round_up(channels, lanes)) {
    size = channels <= few ? rows * channels * lanes : rows * columns;
    data = arena.take<Real>(size);
  }

  void clear() const {
    for (std::int64_t i = 0; i < size; ++i) data[i] = 0;
  }

  static std::int64_t scratch_size(std::int64_t channels) {
    return max_stages * lanes * round_up(channels, lanes);
  }

  // Cotangents of the rows lie `stride` apart for each stage.
  void add(int stages, const Real* x, const Real* cotangents, std::int64_t stride, Real* scratch) const {
    if (channels <= few) return add_per_lane(stages, x, cotangents, stride);
    const std::int64_t wide = columns * lanes;
    for (int s = 0; s < stages; ++s) transpose_signal(x + s * channels * lanes, scratch + s * wide);
    add_outer(stages, rows, columns, cotangents, stride, scratch, wide, data);
  }

  Real total(std::int64_t row, std::int64_t c) const {
    if (channels > few) return data[row * columns + c];
    Real sum = 0;
    for (int lane = 0; lane < lanes; ++lane) sum += data[(row * channels + c) * lanes + lane];
    return sum;
  }

 private:
  // [channel][lane] -> [lane][column], zero in the columns that are no channel.
  void transpose_signal(const Real* x, Real* to) const {
    constexpr int square = square_of(Real{});
    const std::int64_t whole = channels / square * square, width = columns;
    lanes_to_rows(whole, x, [=](int lane) { return to + lane * width; });
    for (int lane = 0; lane < lanes; ++lane)
      for (std::int64_t c = whole; c < columns; ++c)
        to[lane * columns + c] = c < channels ? x[c * lanes + lane] : Real(0);
  }

  __attribute__((noinline)) void add_per_lane(int stages, const Real* x, const Real* cotangents,
                                              std::int64_t stride) const {
    const std::int64_t count_rows = rows;
    Real* const sums = data;
    with_count(static_cast<int>(channels), [=](auto count) {
      constexpr int C = decltype(count)::value <= few ? decltype(count)::value : 1;
      const Real* cotangent = cotangents;
      Real* to = sums;
      for (std::int64_t row = 0; row < count_rows; ++row, cotangent += lanes, to += C * lanes) {
        V sum[C];
#pragma GCC unroll 4
        for (int c = 0; c < C; ++c) sum[c] = load(to + c * lanes);
        const Real* signal = x;
        for (int s = 0; s < stages; ++s, signal += C * lanes) {
          const V value = load(cotangent + s * stride);
#pragma GCC unroll 4
          for (int c = 0; c < C; ++c) sum[c] = fma(value, load(signal + c * lanes), sum[c]);
        }
#pragma GCC unroll 4
        for (int c = 0; c < C; ++c) store(to + c * lanes, sum[c]);
      }
    });
  }
};

}  // namespace denots::DENOTS_TARGET
