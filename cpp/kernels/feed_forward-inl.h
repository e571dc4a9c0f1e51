// A lane is a row. Hidden units are computed a chunk at a time and never leave the cache: what the way back
// needs of them is computed again.
#pragma once

#include <algorithm>
#include <cmath>

#include "denots/feed_forward.h"
#include "dropout-inl.h"
#include "gemm-inl.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

// gelu(x) = x P(x) and its slope P(x) + x p(x), P and p those of the normal distribution.
template <class Real>
struct Gelu {
  using V = typename Simd<Real>::V;
  V value, slope;

  explicit DENOTS_INLINE Gelu(V x) {
    V density, beyond;
    tail(abs(x), density, beyond);
    const V below = x < V{} ? beyond : Real(1) - beyond;
    value = x * below;
    slope = fma(x, density, below);
  }

 private:
  // The tail as a polynomial of 1 / (1 + p x) times the density (Abramowitz and Stegun 7.1.26): off by at
  // most 1e-7, a unit in the last place of one.
  static DENOTS_INLINE void tail(FloatV x, FloatV& density, FloatV& beyond) {
    constexpr float p = 0.23164189f;  // 0.3275911 / sqrt(2)
    const FloatV t = 1.0f / fma(splat(p), x, splat(1.0f));
    const PowerOfTwo<float> e(x * x * static_cast<float>(-0.5 * log2_e));
    const FloatV bell = fma(e.scale, e.rest, e.scale);
    const FloatV sum =
        fma(fma(fma(fma(splat(0.5307027145f), t, splat(-0.7265760135f)), t, splat(0.7107068705f)), t,
                splat(-0.142248368f)),
            t, splat(0.127414796f));
    beyond = bell * t * sum;
    density = bell * 0.3989422804f;
  }

  static DENOTS_INLINE void tail(DoubleV x, DoubleV& density, DoubleV& beyond) {
    for (int lane = 0; lane < Simd<double>::lanes; ++lane) {
      beyond[lane] = 0.5 * std::erfc(x[lane] * 0.70710678118654752);
      density[lane] = 0.39894228040143268 * std::exp(-0.5 * x[lane] * x[lane]);
    }
  }
};

template <class Real>
class HiddenUnits {
 public:
  using Layer = FeedForward<Real>;
  using V = typename Simd<Real>::V;
  static constexpr int lanes = Simd<Real>::lanes;
  static constexpr std::int64_t blocks = 8;       // of lanes, for which weights of a chunk are read once
  static constexpr std::int64_t most_units = 64;  // of a chunk
  static constexpr std::int64_t at_once = blocks * lanes;

  HiddenUnits(const FeedForward<Real>& layer, Arena& arena)
      : layer_(layer),
        size_(padded_size<Real>(layer.size)),
        width_(round_up(layer.width, 8)),
        inner_(width_, size_, arena),
        inner_bias_(arena.take<Real>(width_)),
        from_outer_(width_, size_, arena),
        to_x_(arena.take<Real>(width_ * size_)),
        to_y_(arena.take<Real>(width_ * size_)) {}

  void pack() const {
    const auto [rows, size, width, x, inner, inner_bias, outer, dropped, seed] = layer_;
    for (std::int64_t unit = 0; unit < width_; ++unit) {
      inner_bias_[unit] = unit < width ? inner_bias[unit] : Real(0);
      for (std::int64_t i = 0; i < size_; ++i) {
        const bool real = unit < width && i < size;
        inner_.at(unit, i) = real ? inner[unit * size + i] : Real(0);
        from_outer_.at(unit, i) = real ? outer[i * width + unit] : Real(0);
      }
    }
    for (std::int64_t first = 0; first < width_; first += most_units) {
      const Packed<Real> to_x = chunk(to_x_, first), to_y = chunk(to_y_, first);
      for (std::int64_t k = 0; k < to_x.inner; ++k)
        for (std::int64_t i = 0; i < size_; ++i) {
          to_x.at(i, k) = inner_.at(first + k, i);
          to_y.at(i, k) = from_outer_.at(first + k, i);
        }
    }
  }

  // A piece is so many rows.
  std::int64_t pieces() const { return (layer_.rows + at_once - 1) / at_once; }

  struct Memory {
    Real *x, *x_rows, *y, *y_rows, *pulled_x, *hidden, *pulled, *factors;

    Memory(const HiddenUnits& layer, bool, Arena& arena) {
      const std::int64_t numbers = at_once * layer.size_, units = at_once * most_units;
      for (Real** part : {&x, &x_rows, &y, &y_rows, &pulled_x}) *part = arena.take<Real>(numbers);
      for (Real** part : {&hidden, &pulled}) *part = arena.take<Real>(units);
      factors = arena.take<Real>(lanes * most_units);
    }
  };

  void forward(std::int64_t piece, const Memory& m, Real* y) const {
    const std::int64_t row = piece * at_once, count = std::min(at_once, layer_.rows - row),
                       used = (count + lanes - 1) / lanes;
    const std::int64_t block = size_ * lanes;
    read(layer_.x, row, count, m.x_rows, m.x);
    std::fill_n(m.y, used * block, Real(0));
    const Dropout dropout(layer_.dropped, layer_.seed);
    for (std::int64_t first = 0; first < width_; first += most_units) {
      const Packed<Real> inner = chunk(inner_.data, first, size_), to_y = chunk(to_y_, first);
      for (std::int64_t b = 0; b < used; ++b) {
        product(inner, inner_bias_ + first, m.x + b * block, m.hidden);
        if (dropout.any()) dropout.of_columns(row + b * lanes, first, inner.rows, m.factors);
        for (std::int64_t at = 0; at < inner.rows * lanes; at += lanes) {
          const V value = Gelu<Real>(load(m.hidden + at)).value;
          store(m.hidden + at, dropout.any() ? value * load(m.factors + at) : value);
        }
        add_product(to_y, m.hidden, m.y + b * block, m.y + b * block);
      }
    }
    write(m.y, m.y_rows, row, count, y);
  }

  // The sums of the gradients of weights over some rows.
  struct Sums {
    Real *inner, *inner_bias, *outer;  // [width][size], [width][lane], [width][size]
    std::int64_t numbers, lane_numbers;

    Sums(const HiddenUnits& layer, Arena& arena)
        : numbers(layer.width_ * layer.size_), lane_numbers(layer.width_ * lanes) {
      inner = arena.take<Real>(numbers), inner_bias = arena.take<Real>(lane_numbers);
      outer = arena.take<Real>(numbers);
    }

    void clear(const HiddenUnits&) const {
      std::fill_n(inner, numbers, Real(0)), std::fill_n(outer, numbers, Real(0));
      std::fill_n(inner_bias, lane_numbers, Real(0));
    }
  };

  void reverse(std::int64_t piece, const Memory& m, const FeedForwardGradient<Real>& gradient,
               const Sums& sums) const {
    const std::int64_t row = piece * at_once, count = std::min(at_once, layer_.rows - row),
                       used = (count + lanes - 1) / lanes;
    const std::int64_t block = size_ * lanes, stride = most_units * lanes;
    read(layer_.x, row, count, m.x_rows, m.x);
    std::fill_n(m.pulled_x, used * block, Real(0));
    read(gradient.y, row, count, m.y_rows, m.y);
    const Dropout dropout(layer_.dropped, layer_.seed);
    for (std::int64_t first = 0; first < width_; first += most_units) {
      const Packed<Real> inner = chunk(inner_.data, first, size_),
                         from_outer = chunk(from_outer_.data, first, size_), to_x = chunk(to_x_, first);
      for (std::int64_t b = 0; b < used; ++b) {
        Real *const hidden = m.hidden + b * stride, *const pulled = m.pulled + b * stride;
        product(inner, inner_bias_ + first, m.x + b * block, hidden);
        product<Real>(from_outer, nullptr, m.y + b * block, pulled);
        if (dropout.any()) dropout.of_columns(row + b * lanes, first, inner.rows, m.factors);
        Real* const bias = sums.inner_bias + first * lanes;
        for (std::int64_t at = 0; at < inner.rows * lanes; at += lanes) {
          const Gelu<Real> gelu(load(hidden + at));
          const V factor = dropout.any() ? load(m.factors + at) : splat(Real(1));
          const V back = load(pulled + at) * factor * gelu.slope;
          store(hidden + at, gelu.value * factor);
          store(pulled + at, back);
          store(bias + at, load(bias + at) + back);
        }
        Real* const x = m.pulled_x + b * block;
        add_product(to_x, pulled, x, x);
      }
      const auto stages = static_cast<int>(used);
      add_outer(stages, inner.rows, size_, m.pulled, stride, m.x_rows, block, sums.inner + first * size_);
      add_outer(stages, inner.rows, size_, m.hidden, stride, m.y_rows, block, sums.outer + first * size_);
    }
    write(m.pulled_x, m.x_rows, row, count, gradient.x);
  }

  void add(const Sums& sums, const FeedForwardGradient<Real>& to) const {
    for (std::int64_t unit = 0; unit < layer_.width; ++unit) {
      for (std::int64_t i = 0; i < layer_.size; ++i) {
        to.inner[unit * layer_.size + i] += sums.inner[unit * size_ + i];
        to.outer[i * layer_.width + unit] += sums.outer[unit * size_ + i];
      }
      for (int lane = 0; lane < lanes; ++lane) to.inner_bias[unit] += sums.inner_bias[unit * lanes + lane];
    }
  }

 private:
  // A chunk of a matrix with a column for each unit.
  Packed<Real> chunk(Real* from, std::int64_t first) const {
    Arena none(nullptr);
    Packed<Real> part(size_, std::min(most_units, width_ - first), none);
    part.data = from + first * size_;
    return part;
  }

  // The same where units are rows.
  Packed<Real> chunk(Real* from, std::int64_t first, std::int64_t columns) const {
    Arena none(nullptr);
    Packed<Real> part(std::min(most_units, width_ - first), columns, none);
    part.data = from + first * columns;
    return part;
  }

  // Rows as they are, and as lanes; zeros where there is none.
  void read(const Real* from, std::int64_t row, std::int64_t count, Real* rows, Real* to) const {
    const std::int64_t blocks_used = (count + lanes - 1) / lanes, size = size_;
    for (std::int64_t r = 0; r < blocks_used * lanes; ++r)
      for (std::int64_t i = 0; i < size; ++i)
        rows[r * size + i] = r < count && i < layer_.size ? from[(row + r) * layer_.size + i] : Real(0);
    for (std::int64_t b = 0; b < blocks_used; ++b)
      rows_to_lanes(size, [=](int lane) { return rows + (b * lanes + lane) * size; }, to + b * size * lanes);
  }

  void write(const Real* from, Real* rows, std::int64_t row, std::int64_t count, Real* to) const {
    for (std::int64_t b = 0; b * lanes < count; ++b)
      transpose_lanes(size_, from + b * size_ * lanes, rows + b * size_ * lanes);
    for (std::int64_t r = 0; r < count; ++r)
      std::copy_n(rows + r * size_, layer_.size, to + (row + r) * layer_.size);
  }

  const FeedForward<Real>& layer_;
  std::int64_t size_, width_;
  Packed<Real> inner_;
  Real* inner_bias_;
  Packed<Real> from_outer_;
  Real *to_x_, *to_y_;
};

}  // namespace denots::DENOTS_TARGET
