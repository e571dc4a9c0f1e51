// A lane is a point of the grid. Nothing is fused, so that all targets give the same bits.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

#include "denots/convolutions.h"
#include "rk-inl.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

class Convolution {
 public:
  static constexpr int lanes = Simd<float>::lanes;

  Convolution(const Filters& filters, std::int64_t channels, std::int64_t points)
      : filters_(filters),
        channels_(channels),
        points_(points),
        room_(vectors(points)),
        margin_(vectors(Filters::middle *
                        *std::max_element(filters.dilation, filters.dilation + filters.filters))),
        stride_(room_ + 1 + 2 * margin_),
        differences_(static_cast<std::size_t>(channels * room_)),
        values_(static_cast<std::size_t>(channels * room_)),
        mixed_(static_cast<std::size_t>(at_once * stride_)),
        counts_(static_cast<std::size_t>(filters.filters)),
        offsets_(static_cast<std::size_t>(filters.filters)) {
    for (std::int64_t f = 0; f < filters.filters; ++f)
      counts_[f] = static_cast<float>(count(f)), offsets_[f] = Offsets(filters, f);
  }

  // grid [channels, points], shares [thresholds, filters].
  void run(const float* grid, float* shares) {
    const std::int64_t F = filters_.filters;
    for (std::int64_t c = 0; c < channels_; ++c) {
      float *const value = values_[c * room_].data(), *const difference = differences_[c * room_].data();
      std::copy_n(grid + c * points_, points_, value);
      for (std::int64_t i = 0; i + 1 < points_; ++i) difference[i] = value[i + 1] - value[i];
    }
    for (std::int64_t first = 0; first < F; first += at_once) {
      const std::int64_t last = std::min(first + at_once, F);
      Lanes* const mixed = mixed_.data() + margin_;
      for (std::int64_t f = first; f < last; ++f) mix(f, mixed + (f - first) * stride_);
      for (std::int64_t f = first; f < last; ++f) count_above(f, mixed[(f - first) * stride_].data(), shares);
    }
    for (std::int64_t t = 0; t < filters_.thresholds; ++t)
      for (std::int64_t f = 0; f < F; ++f) shares[t * F + f] /= counts_[f];
  }

 private:
  // Filters whose signals are mixed before the first of them is read: what was written just now, and is read
  // across two vectors, would have to wait for both.
  static constexpr std::int64_t at_once = 16;

  // How far the places of a filter are from its first point: those that weigh 2, then the others.
  struct Offsets {
    std::int64_t twice[3], others[6];

    Offsets() = default;
    Offsets(const Filters& filters, std::int64_t f) {
      const std::int64_t step = filters.dilation[f],
                         begin = filters.padded[f] != 0 ? -Filters::middle * step : 0;
      int found = 0;
      for (std::int64_t place = 0, other = 0; place < Filters::length; ++place) {
        const bool chosen = found < 3 && filters.places[found * filters.filters + f] == place;
        (chosen ? twice[found++] : others[other++]) = begin + place * step;
      }
    }
  };

  static DENOTS_INLINE FloatV load_any(const float* from) {
    FloatV some;
    std::memcpy(&some, from, sizeof(some));
    return some;
  }

  static std::int64_t vectors(std::int64_t points) { return (points + lanes - 1) / lanes; }

  // How many points a filter has.
  std::int64_t count(std::int64_t f) const {
    const std::int64_t length = points_ - filters_.difference[f];
    return filters_.padded[f] != 0 ? length : length - 2 * Filters::middle * filters_.dilation[f];
  }

  // The weighted sum of channels; zeros stand on either side.
  void mix(std::int64_t f, Lanes* to) const {
    const Lanes* const from = filters_.difference[f] != 0 ? differences_.data() : values_.data();
    std::int64_t i = 0;
    for (; i + 4 <= room_; i += 4) mix_some<4>(f, from + i, to + i);
    for (; i < room_; ++i) mix_some<1>(f, from + i, to + i);
  }

  template <int N>
  DENOTS_INLINE void mix_some(std::int64_t f, const Lanes* from, Lanes* to) const {
    FloatV sum[N] = {};
    for (std::int64_t k = f; k < filters_.used[f] * filters_.filters; k += filters_.filters) {
      const FloatV weight = splat(filters_.weight[k]);
      const Lanes* const channel = from + filters_.channel[k] * room_;
#pragma GCC unroll 4
      for (int i = 0; i < N; ++i) sum[i] += weight * channel[i].lanes;
    }
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i) to[i].lanes = sum[i];
  }

  // At how many points a filter is above each of its thresholds.
  void count_above(std::int64_t f, const float* mixed, float* shares) const {
    constexpr std::int64_t thresholds_at_once = 5;
    for (std::int64_t t = 0; t < filters_.thresholds; t += thresholds_at_once)
      with_count(static_cast<int>(std::min(thresholds_at_once, filters_.thresholds - t)), [&](auto some) {
        constexpr int N = decltype(some)::value;
        FloatV threshold[N];
        Tally above[N];
        for (int i = 0; i < N; ++i) threshold[i] = splat(filters_.threshold[(t + i) * filters_.filters + f]);
        over_points(f, mixed, [&](FloatV response) {
#pragma GCC unroll 8
          for (int i = 0; i < N; ++i) above[i].add(response, threshold[i]);
        });
        for (int i = 0; i < N; ++i)
          shares[(t + i) * filters_.filters + f] = static_cast<float>(above[i].total());
      });
  }

  // Calls work with the responses at all points; what is beyond the last is above no threshold.
  template <class Work>
  DENOTS_INLINE void over_points(std::int64_t f, const float* mixed, Work work) const {
    const std::int64_t count = this->count(f);
    const Offsets& offsets = offsets_[f];
    // In pairs, so that what stands still gives nothing, to the last bit.
    const auto response = [&](std::int64_t i) {
      const float* const from = mixed + i;
      FloatV sums[3];
#pragma GCC unroll 3
      for (int k = 0; k < 3; ++k) {
        const FloatV it = load_any(from + offsets.twice[k]);
        sums[k] =
            (it - load_any(from + offsets.others[2 * k])) + (it - load_any(from + offsets.others[2 * k + 1]));
      }
      return sums[0] + sums[1] + sums[2];
    };
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) work(response(i));
    if (i < count) work(first_lanes(static_cast<int>(count - i)) ? response(i) : splat(-infinity));
  }

  static constexpr float infinity = std::numeric_limits<float>::infinity();

  const Filters& filters_;
  std::int64_t channels_, points_, room_, margin_, stride_;  // the last three in vectors
  std::vector<Lanes> differences_, values_, mixed_;
  std::vector<float> counts_;
  std::vector<Offsets> offsets_;
};

// Series first .. last.
void pool_convolutions(const Filters& filters, std::int64_t channels, std::int64_t points, const float* grid,
                       float* shares, std::int64_t first, std::int64_t last) {
  Convolution convolution(filters, channels, points);
  for (std::int64_t i = first; i < last; ++i)
    convolution.run(grid + i * channels * points, shares + i * filters.thresholds * filters.filters);
}

}  // namespace denots::DENOTS_TARGET
