// A lane is a point of the grid. Nothing is fused, so that all targets give the same bits.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "denots/convolutions.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

class Convolution {
 public:
  static constexpr int lanes = Simd<float>::lanes;

  Convolution(const Filters& filters, std::int64_t channels, std::int64_t points)
      : filters_(filters),
        channels_(channels),
        points_(points),
        room_((points + lanes - 1) / lanes * lanes),
        widest_(*std::max_element(filters.dilation, filters.dilation + filters.filters)),
        differences_(static_cast<std::size_t>(channels * room_)),
        mixed_(static_cast<std::size_t>(room_ + lanes + 2 * Filters::middle * widest_)),
        filtered_(static_cast<std::size_t>(room_)),
        values_(static_cast<std::size_t>(channels * room_)) {}

  // grid [channels, points], shares [thresholds, filters].
  void run(const float* grid, float* shares) {
    for (std::int64_t c = 0; c < channels_; ++c) {
      float *const value = values_.data() + c * room_, *const difference = differences_.data() + c * room_;
      std::copy_n(grid + c * points_, points_, value);
      for (std::int64_t i = 0; i + 1 < points_; ++i) difference[i] = value[i + 1] - value[i];
    }
    for (std::int64_t f = 0; f < filters_.filters; ++f) {
      mix(f);
      const std::int64_t count = filter(f);
      for (std::int64_t t = 0; t < filters_.thresholds; ++t) {
        const std::int64_t place = t * filters_.filters + f;
        shares[place] = above(filters_.threshold[place], count);
      }
    }
  }

 private:
  static DENOTS_INLINE FloatV load_any(const float* from) {
    FloatV some;
    std::memcpy(&some, from, sizeof(some));
    return some;
  }
  static DENOTS_INLINE void store_any(float* to, FloatV some) { std::memcpy(to, &some, sizeof(some)); }

  // The weighted sum of channels, with zeros on either side.
  void mix(std::int64_t f) {
    const float* const from = filters_.difference[f] != 0 ? differences_.data() : values_.data();
    float* const to = mixed_.data() + Filters::middle * widest_;
    for (std::int64_t i = 0; i < room_; i += lanes) {
      FloatV sum{};
      for (std::int64_t k = 0; k < filters_.used[f]; ++k) {
        const std::int64_t place = k * filters_.filters + f;
        sum += filters_.weight[place] * load_any(from + filters_.channel[place] * room_ + i);
      }
      store_any(to + i, sum);
    }
  }

  // Outputs of a filter from the first of its points to the last; returns how many there are.
  std::int64_t filter(std::int64_t f) {
    const std::int64_t step = filters_.dilation[f], reach = Filters::middle * step;
    const std::int64_t length = points_ - filters_.difference[f];
    const std::int64_t inner = length - 2 * reach, count = filters_.padded[f] != 0 ? length : inner;
    const float* const from =
        mixed_.data() + Filters::middle * widest_ - reach + (filters_.padded[f] != 0 ? 0 : reach);
    const float *const a = from + filters_.places[f] * step,
                       *const b = from + filters_.places[filters_.filters + f] * step,
                       *const c = from + filters_.places[2 * filters_.filters + f] * step;
    for (std::int64_t i = 0; i < count; i += lanes) {
      FloatV all = load_any(from + i);
      for (std::int64_t k = 1; k < Filters::length; ++k) all += load_any(from + k * step + i);
      store_any(filtered_.data() + i, 3.0f * (load_any(a + i) + load_any(b + i) + load_any(c + i)) - all);
    }
    // What is beyond the last point is above no threshold.
    const std::int64_t room = (count + lanes - 1) / lanes * lanes;
    std::fill(filtered_.data() + count, filtered_.data() + room, -std::numeric_limits<float>::infinity());
    return count;
  }

  float above(float threshold, std::int64_t count) const {
    const float* const from = filtered_.data();
    Simd<float>::I found{};
    for (std::int64_t i = 0; i < count; i += lanes) found -= load_any(from + i) > threshold;
    std::int64_t sum = 0;
    for (int lane = 0; lane < lanes; ++lane) sum += found[lane];
    return static_cast<float>(sum) / static_cast<float>(count);
  }

  const Filters& filters_;
  std::int64_t channels_, points_, room_, widest_;
  std::vector<float> differences_, mixed_, filtered_, values_;
};

// Series first .. last.
void pool_convolutions(const Filters& filters, std::int64_t channels, std::int64_t points, const float* grid,
                       float* shares, std::int64_t first, std::int64_t last) {
  Convolution convolution(filters, channels, points);
  for (std::int64_t i = first; i < last; ++i)
    convolution.run(grid + i * channels * points, shares + i * filters.thresholds * filters.filters);
}

}  // namespace denots::DENOTS_TARGET
