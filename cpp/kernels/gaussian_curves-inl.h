// All of it is products of matrices with one column more than there are directions: in it stands what belongs
// to the value, to the mean or to the right-hand side. A lane is a column.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "denots/gaussian_curves.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

// A matrix whose rows are whole vectors; it begins as zeros.
class Padded {
 public:
  static constexpr std::int64_t lanes = Simd<double>::lanes;

  Padded(std::int64_t rows, std::int64_t columns)
      : stride_((columns + lanes - 1) / lanes * lanes),
        vectors_(static_cast<std::size_t>(rows * stride_ / lanes)) {}

  double* operator[](std::int64_t row) { return &vectors_[0].numbers[0] + row * stride_; }
  std::int64_t stride() const { return stride_; }
  void clear() { std::fill(vectors_.begin(), vectors_.end(), Vector{}); }

 private:
  struct alignas(sizeof(DoubleV)) Vector {
    double numbers[lanes];
  };
  std::int64_t stride_;
  std::vector<Vector> vectors_;
};

template <int rows, int vectors>
DENOTS_INLINE void add_tile(std::int64_t count, const double* a, std::int64_t a_stride, const double* b,
                            std::int64_t b_stride, double* sums, std::int64_t stride) {
  constexpr std::int64_t lanes = Padded::lanes;
  DoubleV sum[rows][vectors];
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < vectors; ++v) sum[i][v] = load(sums + i * stride + v * lanes);
  for (std::int64_t k = 0; k < count; ++k, a += a_stride, b += b_stride) {
    DoubleV right[vectors];
    for (int v = 0; v < vectors; ++v) right[v] = load(b + v * lanes);
    for (int i = 0; i < rows; ++i)
      for (int v = 0; v < vectors; ++v) sum[i][v] = fma(splat(a[i]), right[v], sum[i][v]);
  }
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < vectors; ++v) store(sums + i * stride + v * lanes, sum[i][v]);
}

// sums[i, j] += a[k, i] b[k, j] over k < count, for i in first .. last and j < columns; b is as wide as sums.
// Of the part below the diagonal nothing is wanted if `upper`.
inline void add_products(std::int64_t count, const double* a, std::int64_t a_stride, const double* b,
                         Padded& sums, std::int64_t first, std::int64_t last, std::int64_t columns,
                         bool upper) {
  constexpr std::int64_t lanes = Padded::lanes;
  const std::int64_t stride = sums.stride();
  for (std::int64_t i = first; i < last;) {
    const bool four = last - i >= 4;
    for (std::int64_t j = upper ? i / lanes * lanes : 0; j < columns;) {
      const double* const left = a + i;
      const double* const right = b + j;
      double* const to = sums[i] + j;
      const std::int64_t vectors = (columns - j + lanes - 1) / lanes;
      if (four && vectors >= 2)
        add_tile<4, 2>(count, left, a_stride, right, stride, to, stride), j += 2 * lanes;
      else if (four)
        add_tile<4, 1>(count, left, a_stride, right, stride, to, stride), j += lanes;
      else if (vectors >= 4)
        add_tile<1, 4>(count, left, a_stride, right, stride, to, stride), j += 4 * lanes;
      else
        add_tile<1, 1>(count, left, a_stride, right, stride, to, stride), j += lanes;
    }
    i += four ? 4 : 1;
  }
}

// The evidence of one series after the other.
class Evidence {
 public:
  explicit Evidence(const Curves& curves)
      : curves_(curves),
        table_(curves.points * curves.channels, curves.directions + 1),
        cells_(at_once, curves.directions + 1),
        sums_(curves.directions + 1, curves.directions + 1) {
    const std::int64_t C = curves.channels, P = curves.points, R = curves.directions;
    for (std::int64_t c = 0; c < C; ++c)
      for (std::int64_t p = 0; p < P; ++p) {
        double* const row = table_[p * C + c];
        std::copy_n(curves.along + (c * P + p) * R, R, row);
        row[R] = curves.mean[c * P + p];
      }
  }

  void run(const Scores& scores, std::int64_t i, const Sums<double>& to) {
    const std::int64_t C = curves_.channels, R = curves_.directions, first = scores.offsets[i],
                       last = scores.offsets[i + 1];
    sums_.clear();
    seen_ = count_ = 0;
    if (first < last) {
      const double begin = std::isnan(curves_.start) ? scores.times[first] : curves_.start,
                   end = std::isnan(curves_.end) ? scores.times[last - 1] : curves_.end,
                   span = end > begin ? end - begin : curves_.span;
      for (std::int64_t row = first; row < last; ++row)
        add_row(scores.values + row * C, (scores.times[row] - begin) / span);
      add_cells();
    }
    for (std::int64_t a = 0; a < R; ++a)
      for (std::int64_t b = a; b < R; ++b)
        to.gram[(i * R + a) * R + b] = to.gram[(i * R + b) * R + a] = sums_[a][b];
    std::copy_n(sums_[R], R, to.told + i * R);
    to.square[i] = sums_[R][R];
    to.seen[i] = static_cast<double>(seen_);
  }

 private:
  static constexpr std::int64_t at_once = 64;  // cells that are still at hand when they are summed

  void add_row(const float* values, double along) {
    const std::int64_t C = curves_.channels, R = curves_.directions, ends = curves_.points - 1,
                       stride = table_.stride();
    // Taken in this order, what is no number is zero.
    const double steps = std::min(1.0, std::max(0.0, along)) * static_cast<double>(ends);
    const std::int64_t place = std::min(static_cast<std::int64_t>(steps), ends - 1);
    const double share = steps - static_cast<double>(place);
    const DoubleV before = splat(1 - share), after = splat(share);
    const double *here = table_[place * C], *next = table_[(place + 1) * C];
    for (std::int64_t c = 0; c < C; ++c, here += stride, next += stride) {
      if (std::isnan(values[c])) continue;
      double* const cell = cells_[count_];
      for (std::int64_t j = 0; j < stride; j += Padded::lanes)
        store(cell + j, fma(load(next + j), after, load(here + j) * before));
      cell[R] = (static_cast<double>(values[c]) - curves_.centre[c]) / curves_.scale[c] - cell[R];
      if (++count_ == at_once) add_cells();
    }
  }

  void add_cells() {
    const std::int64_t R = curves_.directions;
    add_products(count_, cells_[0], cells_.stride(), cells_[0], sums_, 0, R, R, true);
    add_products(count_, cells_[0], cells_.stride(), cells_[0], sums_, R, R + 1, R + 1, false);
    seen_ += count_, count_ = 0;
  }

  const Curves& curves_;
  Padded table_;  // at each point of the grid, of each channel: directions, then the mean
  Padded cells_,
      sums_;  // the same of observed values, but for the values in place of the mean; their products
  std::int64_t count_ = 0, seen_ = 0;
};

// What evidence makes of the weights of a class, as the mean plus L times weights that are standard normal.
class ClassWeights {
 public:
  explicit ClassWeights(const Classes& classes)
      : classes_(classes),
        own_(classes.classes * classes.directions, classes.directions + 1),
        turned_(classes.directions, classes.directions + 1),
        within_(classes.directions, classes.directions + 1),
        solved_(classes.directions, classes.directions + 1),
        shares_(classes.directions, classes.directions + 1),
        sums_(classes.directions, classes.directions + 1),
        pivots_(1, classes.directions) {
    const std::int64_t R = classes.directions;
    for (std::int64_t row = 0; row < classes.classes * R; ++row) {
      std::copy_n(classes.factors + row * R, R, own_[row]);
      own_[row][R] = classes.means[row];
    }
  }

  double log_likelihood(std::int64_t k, std::int64_t i, const Sums<const double>& sums) {
    const double square = sums.square[i] + whiten(k, i, sums);
    eliminate(false);
    double lost = 0, explained = 0;
    for (std::int64_t j = 0; j < classes_.directions; ++j) {
      const double pivot = pivots_[0][j], left = within_[j][classes_.directions];
      lost += std::log(pivot), explained += left * left / pivot;
    }
    return -0.5 * (lost + square / classes_.noise - explained);
  }

  void posterior(std::int64_t k, std::int64_t i, const Sums<const double>& sums, double* mean,
                 double* covariance) {
    const std::int64_t R = classes_.directions;
    whiten(k, i, sums);
    for (std::int64_t a = 0; a < R; ++a) {
      for (std::int64_t b = 0; b < R; ++b) solved_[a][b] = own_[k * R + b][a];
      solved_[a][R] = within_[a][R];
    }
    eliminate(true);
    for (std::int64_t a = 0; a < R; ++a)
      for (std::int64_t b = 0; b <= R; ++b) shares_[a][b] = solved_[a][b] / pivots_[0][a];
    sums_.clear();
    add_products(R, solved_[0], solved_.stride(), shares_[0], sums_, 0, R, R + 1, true);
    for (std::int64_t a = 0; a < R; ++a) {
      mean[a] = own_[k * R + a][R] + sums_[a][R];
      for (std::int64_t b = a; b < R; ++b) covariance[a * R + b] = covariance[b * R + a] = sums_[a][b];
    }
  }

 private:
  // Fills `within` with the precision I + L' gram L / noise, its upper half, and what is told of the weights,
  // L' (told - gram mean) / noise. Returns by how much the mean changes the sum of squares of what is left.
  double whiten(std::int64_t k, std::int64_t i, const Sums<const double>& sums) {
    const std::int64_t R = classes_.directions;
    const double *const gram = sums.gram + i * R * R, *const told = sums.told + i * R;
    turned_.clear();
    add_products(R, gram, R, own_[k * R], turned_, 0, R, R + 1, false);
    const double by_noise = 1 / classes_.noise;
    double changed = 0;
    for (std::int64_t a = 0; a < R; ++a) {
      double* const row = turned_[a];
      changed += own_[k * R + a][R] * (row[R] - 2 * told[a]);
      row[R] = told[a] - row[R];
      for (std::int64_t j = 0; j < turned_.stride(); j += Padded::lanes)
        store(row + j, load(row + j) * by_noise);
    }
    within_.clear();
    for (std::int64_t a = 0; a < R; ++a) within_[a][a] = 1;
    add_products(R, own_[k * R], own_.stride(), turned_[0], within_, 0, R, R + 1, true);
    return changed;
  }

  // Cholesky's elimination without roots, of `within` with what is told, and of `solved` beside it.
  void eliminate(bool beside) {
    const std::int64_t R = classes_.directions, stride = within_.stride();
    for (std::int64_t k = 0; k < R; ++k) {
      const double *const row = within_[k], *const other = solved_[k];
      const double pivot = pivots_[0][k] = row[k], inverse = 1 / pivot;
      for (std::int64_t i = k + 1; i < R; ++i) {
        const DoubleV factor = splat(-row[i] * inverse);
        double *const to = within_[i], *const to_other = solved_[i];
        for (std::int64_t j = i / Padded::lanes * Padded::lanes; j < stride; j += Padded::lanes)
          store(to + j, fma(factor, load(row + j), load(to + j)));
        for (std::int64_t j = 0; beside && j < stride; j += Padded::lanes)
          store(to_other + j, fma(factor, load(other + j), load(to_other + j)));
      }
    }
  }

  const Classes& classes_;
  Padded own_;  // rows of L of each class, and of the mean
  Padded turned_, within_, solved_, shares_, sums_, pivots_;
};

void sum_evidence(const Curves& curves, const Scores& scores, const Sums<double>& sums, std::int64_t first,
                  std::int64_t last) {
  Evidence evidence(curves);
  for (std::int64_t i = first; i < last; ++i) evidence.run(scores, i, sums);
}

void log_likelihoods(const Classes& classes, const Sums<const double>& sums, double* found,
                     std::int64_t first, std::int64_t last) {
  ClassWeights weights(classes);
  for (std::int64_t i = first; i < last; ++i)
    for (std::int64_t k = 0; k < classes.classes; ++k)
      found[i * classes.classes + k] = weights.log_likelihood(k, i, sums);
}

void posteriors(const Classes& classes, const Sums<const double>& sums, const std::int64_t* of, double* mean,
                double* covariance, std::int64_t first, std::int64_t last) {
  const std::int64_t R = classes.directions;
  ClassWeights weights(classes);
  for (std::int64_t i = first; i < last; ++i)
    weights.posterior(of[i], i, sums, mean + i * R, covariance + i * R * R);
}

}  // namespace denots::DENOTS_TARGET
