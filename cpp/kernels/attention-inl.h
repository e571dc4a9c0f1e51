// A lane is a row that is attended to. Shares are computed again on the way back.
#pragma once

#include <algorithm>
#include <cmath>

#include "denots/attention.h"
#include "dropout-inl.h"
#include "gemm-inl.h"

namespace denots::DENOTS_TARGET {

template <class Real>
class Attending {
 public:
  using Layer = Attention<Real>;
  using V = typename Simd<Real>::V;
  static constexpr int lanes = Simd<Real>::lanes;

  Attending(const Attention<Real>& layer, Arena&)
      : layer_(layer),
        width_(layer.size / layer.heads),
        scale_(Real(1) / std::sqrt(static_cast<Real>(width_))) {
    for (std::int64_t i = 0; i < layer.series; ++i)
      longest_ = std::max(longest_, layer.offsets[i + 1] - layer.offsets[i]);
  }

  void pack() const {}
  std::int64_t pieces() const { return layer_.series; }

  struct Memory {
    Real *keys, *values, *to_keys, *to_values;  // [column][row]
    Real *share, *factor, *real;                // [row]

    Memory(const Attending& of, bool back, Arena& arena) {
      const std::int64_t rows = round_up(of.longest_, lanes), size = rows * of.layer_.size;
      keys = arena.take<Real>(size), values = arena.take<Real>(size);
      to_keys = arena.take<Real>(back ? size : 0), to_values = arena.take<Real>(back ? size : 0);
      share = arena.take<Real>(rows), factor = arena.take<Real>(rows), real = arena.take<Real>(rows);
    }
  };

  // Nothing that series share has a gradient.
  struct Sums {
    Sums(const Attending&, Arena&) {}
    void clear(const Attending&) const {}
  };
  void add(const Sums&, const AttentionGradient<Real>&) const {}

  void forward(std::int64_t series, const Memory& m, Real* found) const {
    const std::int64_t rows = read(series, m);
    for (std::int64_t question = layer_.asked[series]; question < layer_.asked[series + 1]; ++question)
      for (std::int64_t head = 0; head < layer_.heads; ++head) {
        const std::int64_t at = question * layer_.size + head * width_;
        share(question, head, rows, m);
        for (std::int64_t k = 0; k < width_; ++k) {
          const Real* const value = m.values + (head * width_ + k) * rows;
          V sum{};
          for (std::int64_t j = 0; j < rows; j += lanes)
            sum = fma(load(m.share + j) * load(m.factor + j), load(value + j), sum);
          found[at + k] = total(sum);
        }
      }
  }

  void reverse(std::int64_t series, const Memory& m, const AttentionGradient<Real>& gradient,
               const Sums&) const {
    const std::int64_t rows = read(series, m);
    std::fill_n(m.to_keys, rows * layer_.size, Real(0)),
        std::fill_n(m.to_values, rows * layer_.size, Real(0));
    for (std::int64_t question = layer_.asked[series]; question < layer_.asked[series + 1]; ++question)
      for (std::int64_t head = 0; head < layer_.heads; ++head) {
        share(question, head, rows, m);
        pull(question, head, rows, m, gradient);
      }
    write(series, rows, m.to_keys, gradient.keys);
    write(series, rows, m.to_values, gradient.values);
  }

 private:
  static Real total(V some) {
    Real sum = 0;
    for (int lane = 0; lane < lanes; ++lane) sum += some[lane];
    return sum;
  }

  // Keys and values of a series, column by column, in whole vectors; returns the length of a column.
  std::int64_t read(std::int64_t series, const Memory& m) const {
    const std::int64_t first = layer_.offsets[series], count = layer_.offsets[series + 1] - first,
                       rows = round_up(count, lanes);
    for (std::int64_t k = 0; k < layer_.size; ++k)
      for (std::int64_t j = 0; j < rows; ++j) {
        const std::int64_t from = (first + std::min(j, count - 1)) * layer_.size + k;
        m.keys[k * rows + j] = layer_.keys[from], m.values[k * rows + j] = layer_.values[from];
      }
    for (std::int64_t j = 0; j < rows; ++j) m.real[j] = j < count ? Real(1) : Real(0), m.factor[j] = Real(1);
    return rows;
  }

  void write(std::int64_t series, std::int64_t rows, const Real* from, Real* to) const {
    const std::int64_t first = layer_.offsets[series], count = layer_.offsets[series + 1] - first;
    for (std::int64_t k = 0; k < layer_.size; ++k)
      for (std::int64_t j = 0; j < count; ++j) to[(first + j) * layer_.size + k] = from[k * rows + j];
  }

  // The share of each row in the answer to a question, and what dropout makes of it.
  void share(std::int64_t question, std::int64_t head, std::int64_t rows, const Memory& m) const {
    const Real* const query = layer_.queries + question * layer_.size + head * width_;
    const Real* const keys = m.keys + head * width_ * rows;
    const Real unit = scale_ * static_cast<Real>(log2_e);
    V highest{};
    for (std::int64_t j = 0; j < rows; j += lanes) {
      V score{};
      for (std::int64_t k = 0; k < width_; ++k)
        score = fma(splat(query[k] * unit), load(keys + k * rows + j), score);
      store(m.share + j, score);
      highest = j == 0 ? score : max(highest, score);
    }
    Real top = highest[0];
    for (int lane = 1; lane < lanes; ++lane) top = std::max(top, highest[lane]);
    V sum{};
    for (std::int64_t j = 0; j < rows; j += lanes) {
      const PowerOfTwo<Real> e(load(m.share + j) - top);
      const V size = fma(e.scale, e.rest, e.scale) * load(m.real + j);
      store(m.share + j, size);
      sum += size;
    }
    const Real whole = Real(1) / total(sum);
    for (std::int64_t j = 0; j < rows; j += lanes) store(m.share + j, load(m.share + j) * whole);
    const Dropout dropout(layer_.dropped, layer_.seed);
    if (dropout.any()) dropout.of_row(question * layer_.heads + head, rows, m.factor);
  }

  void pull(std::int64_t question, std::int64_t head, std::int64_t rows, const Memory& m,
            const AttentionGradient<Real>& gradient) const {
    const std::int64_t at = question * layer_.size + head * width_, column = head * width_ * rows;
    const Real *const query = layer_.queries + at, *const told = gradient.found + at;
    V mean{};
    for (std::int64_t j = 0; j < rows; j += lanes) {
      V from{};
      const V kept = load(m.share + j) * load(m.factor + j);
      for (std::int64_t k = 0; k < width_; ++k) {
        Real* const to = m.to_values + column + k * rows + j;
        from = fma(splat(told[k]), load(m.values + column + k * rows + j), from);
        store(to, fma(kept, splat(told[k]), load(to)));
      }
      from = from * load(m.factor + j);
      mean = fma(load(m.share + j), from, mean);
      store(m.factor + j, from);
    }
    const Real level = total(mean);
    for (std::int64_t j = 0; j < rows; j += lanes)
      store(m.share + j, load(m.share + j) * (load(m.factor + j) - level) * scale_);
    for (std::int64_t k = 0; k < width_; ++k) {
      V sum{};
      for (std::int64_t j = 0; j < rows; j += lanes) {
        const V from = load(m.share + j);
        Real* const to = m.to_keys + column + k * rows + j;
        sum = fma(from, load(m.keys + column + k * rows + j), sum);
        store(to, fma(from, splat(query[k]), load(to)));
      }
      gradient.queries[at + k] = total(sum);
    }
    std::fill_n(m.factor, rows, Real(1));
  }

  const Attention<Real>& layer_;
  std::int64_t width_, longest_ = 0;
  Real scale_;
};

}  // namespace denots::DENOTS_TARGET
