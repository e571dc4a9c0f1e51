// A row of a GRU is one evaluation of its field without feedback, whose value is the next state. A lane is a
// series; those of a block should be about as long as each other.
#pragma once

#include <algorithm>

#include "denots/gru_rows.h"
#include "gru-inl.h"

namespace denots::DENOTS_TARGET {

template <class Real>
class GruAlong {
 public:
  using Layer = GruRows<Real>;
  using Field = Gru<Real, Feedback::none>;
  static constexpr int lanes = Simd<Real>::lanes;

  GruAlong(const GruRows<Real>& gru, Arena& arena)
      : gru_(gru), problem_(problem_of(gru)), field_(problem_, arena) {
    for (std::int64_t i = 0; i < gru.series; ++i)
      longest_ = std::max(longest_, gru.offsets[i + 1] - gru.offsets[i]);
  }

  void pack() const { field_.pack(problem_); }
  std::int64_t pieces() const { return (gru_.series + lanes - 1) / lanes; }

  // What a block with the longest series needs; the way forward keeps one state.
  struct Memory {
    Real *h, *x, *bias, *kept, *cotangent, *sums, *scratch;

    Memory(const GruAlong& of, bool back, Arena& arena) {
      const Field& field = of.field_;
      const std::int64_t rows = of.longest_;
      h = arena.take<Real>((back ? rows + 1 : 2) * field.padded * lanes);
      x = arena.take<Real>((back ? rows : 1) * field.channels * lanes);
      bias = arena.take<Real>(field.drive_rows() * lanes);
      kept = arena.take<Real>((back ? max_stages : 1) * field.kept_rows() * lanes);
      cotangent = arena.take<Real>(back ? field.padded * lanes : 0);
      sums = arena.take<Real>(back ? field.sum_rows() * lanes : 0);
      scratch = arena.take<Real>(back ? field.scratch_size() + field.padded * lanes : 0);
    }
  };

  void forward(std::int64_t piece, const Memory& m, Real* found) const {
    const std::int64_t *const block = gru_.order + piece * lanes, count = members(piece);
    begin(block, count, m);
    const std::int64_t size = field_.padded * lanes;
    for (std::int64_t t = 0, rows = longest(block, count); t < rows; ++t) {
      Real *const before = m.h + t % 2 * size, *const after = m.h + (t + 1) % 2 * size;
      read(block, count, t, m.x);
      field_.slope(before, m.x, m.bias, after, m.kept);
      for (std::int64_t lane = 0; lane < count; ++lane)
        if (const std::int64_t row = row_of(block[lane], t); row >= 0)
          for (std::int64_t k = 0; k < gru_.states; ++k)
            found[row * gru_.states + k] = after[k * lanes + lane];
    }
  }

  struct Sums {
    typename Field::Sums field;
    Real* drive;

    Sums(const GruAlong& of, Arena& arena)
        : field(of.field_, arena), drive(arena.take<Real>(of.field_.drive_size())) {}

    void clear(const GruAlong& of) const {
      field.clear(of.field_);
      std::fill_n(drive, of.field_.drive_size(), Real(0));
    }
  };

  void reverse(std::int64_t piece, const Memory& m, const GruRowsGradient<Real>& gradient,
               const Sums& sums) const {
    const std::int64_t *const block = gru_.order + piece * lanes, count = members(piece);
    begin(block, count, m);
    const std::int64_t size = field_.padded * lanes, wide = field_.channels * lanes,
                       rows = longest(block, count);
    const std::int64_t stride = field_.kept_rows() * lanes;
    for (std::int64_t t = 0; t < rows; ++t) {
      read(block, count, t, m.x + t * wide);
      field_.slope(m.h + t * size, m.x + t * wide, m.bias, m.h + (t + 1) * size, m.kept);
    }
    std::fill_n(m.cotangent, size, Real(0));
    std::fill_n(m.sums, field_.sum_rows() * lanes, Real(0));
    Real* const again = m.scratch + field_.scratch_size();
    for (std::int64_t end = rows; end > 0; end -= std::min<std::int64_t>(max_stages, end)) {
      const std::int64_t first = std::max<std::int64_t>(0, end - max_stages);
      for (std::int64_t t = end - 1; t >= first; --t) {
        Real *const kept = m.kept + (t - first) * stride, *const h = m.h + t * size,
                    *const x = m.x + t * wide;
        field_.slope(h, x, m.bias, again, kept);
        for (std::int64_t lane = 0; lane < count; ++lane)
          if (const std::int64_t row = row_of(block[lane], t); row >= 0)
            for (std::int64_t k = 0; k < gru_.states; ++k)
              m.cotangent[k * lanes + lane] += gradient.found[row * gru_.states + k];
        field_.pull(h, x, m.cotangent, kept, m.sums, m.cotangent, nullptr);
      }
      field_.accumulate(static_cast<int>(end - first), m.h + first * size, m.x + first * wide, m.kept,
                        m.scratch, sums.field);
    }
    const std::int64_t driven = field_.drive_rows();
    add_lanes(field_.sum_rows() - driven, m.sums + driven * lanes, sums.field.shared);
    for (std::int64_t lane = 0; lane < count; ++lane) {
      field_.store_drive(m.sums + lane, m.scratch);
      for (std::int64_t row = 0; row < field_.drive_size(); ++row) sums.drive[row] += m.scratch[row];
      for (std::int64_t k = 0; k < gru_.states; ++k)
        gradient.h0[block[lane] * gru_.states + k] = m.cotangent[k * lanes + lane];
    }
  }

  void add(const Sums& sums, const GruRowsGradient<Real>& to) const {
    Gradient<Real> gradient{};
    gradient.weight_hh = to.weight_hh, gradient.bias_hh = to.bias_hh, gradient.weight_in = to.weight_in;
    field_.unpack(sums.field, gradient);
    field_.unpack_drive(sums.drive, gradient);
    for (std::int64_t row = 0; row < field_.drive_size(); ++row) to.bias_in[row] += sums.drive[row];
  }

 private:
  static Problem<Real> problem_of(const GruRows<Real>& gru) {
    Problem<Real> problem{};
    problem.series = gru.series, problem.channels = gru.channels, problem.states = gru.states;
    problem.h0 = gru.h0, problem.weight_hh = gru.weight_hh, problem.bias_hh = gru.bias_hh;
    problem.weight_in = gru.weight_in, problem.bias = gru.bias_in, problem.bias_rows = 1;
    return problem;
  }

  std::int64_t members(std::int64_t piece) const {
    return std::min<std::int64_t>(lanes, gru_.series - piece * lanes);
  }

  // Of row t of a series; below zero where it has ended.
  std::int64_t row_of(std::int64_t series, std::int64_t t) const {
    const std::int64_t row = gru_.offsets[series] + t;
    return row < gru_.offsets[series + 1] ? row : -1;
  }

  std::int64_t longest(const std::int64_t* block, std::int64_t count) const {
    std::int64_t rows = 0;
    for (std::int64_t lane = 0; lane < count; ++lane)
      rows = std::max(rows, gru_.offsets[block[lane] + 1] - gru_.offsets[block[lane]]);
    return rows;
  }

  void begin(const std::int64_t* block, std::int64_t count, const Memory& m) const {
    std::fill_n(m.h, field_.padded * lanes, Real(0));
    std::fill_n(m.bias, field_.drive_rows() * lanes, Real(0));
    for (std::int64_t lane = 0; lane < count; ++lane) {
      for (std::int64_t k = 0; k < gru_.states; ++k)
        m.h[k * lanes + lane] = gru_.h0[block[lane] * gru_.states + k];
      field_.load_bias(problem_, block[lane], m.bias + lane);
    }
  }

  // Row t of each series of a block; zeros for those that have ended.
  void read(const std::int64_t* block, std::int64_t count, std::int64_t t, Real* x) const {
    std::fill_n(x, field_.channels * lanes, Real(0));
    for (std::int64_t lane = 0; lane < count; ++lane)
      if (const std::int64_t row = row_of(block[lane], t); row >= 0)
        for (std::int64_t c = 0; c < field_.channels; ++c)
          x[c * lanes + lane] = gru_.x[row * field_.channels + c];
  }

  const GruRows<Real>& gru_;
  Problem<Real> problem_;
  Field field_;
  std::int64_t longest_ = 0;
};

}  // namespace denots::DENOTS_TARGET
