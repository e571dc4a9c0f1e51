// Which numbers are kept, by a hash of a seed and of where they stand; what is kept is divided by its share.
#pragma once

#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

class Dropout {
 public:
  Dropout(std::uint32_t dropped, std::uint32_t seed) : dropped_(dropped), seed_(mixed(seed)) {}

  bool any() const { return dropped_ != 0; }

  // Factors of so many columns from `first` on, [column][lane], where a lane is a row.
  template <class Real>
  void of_columns(std::int64_t row, std::int64_t first, std::int64_t columns, Real* factors) const {
    constexpr int lanes = Simd<Real>::lanes;
    std::uint32_t keys[lanes];
    for (int lane = 0; lane < lanes; ++lane) keys[lane] = key_of(row + lane);
    for (std::int64_t column = first; column < first + columns; ++column, factors += lanes)
      for (int lane = 0; lane < lanes; ++lane) factors[lane] = factor<Real>(keys[lane], column);
  }

  // Factors of the columns of one row, whole vectors of them.
  template <class Real>
  void of_row(std::int64_t row, std::int64_t columns, Real* factors) const {
    constexpr int lanes = Simd<Real>::lanes;
    const std::uint32_t key = key_of(row);
    for (std::int64_t first = 0; first < columns; first += lanes)
      for (int lane = 0; lane < lanes; ++lane) factors[first + lane] = factor<Real>(key, first + lane);
  }

 private:
  DENOTS_INLINE std::uint32_t key_of(std::int64_t row) const {
    return mixed(static_cast<std::uint32_t>(row) ^ seed_);
  }

  template <class Real>
  DENOTS_INLINE Real factor(std::uint32_t key, std::int64_t column) const {
    const Real kept = Real(65536) / static_cast<Real>(65536 - dropped_);
    return (mixed(key + static_cast<std::uint32_t>(column) * 0x9e3779b9u) >> 16) < dropped_ ? Real(0) : kept;
  }

  static DENOTS_INLINE std::uint32_t mixed(std::uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return x ^ (x >> 16);
  }

  std::uint32_t dropped_, seed_;
};

}  // namespace denots::DENOTS_TARGET
