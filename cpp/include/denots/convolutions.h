// Dilated convolutions of series on even grids, pooled along the grid.
#pragma once

#include <cstdint>

#include "denots/cpu.h"
#include "denots/signals.h"

namespace denots {

// Filters of nine places, `dilation` points apart: three of them, `places`, weigh 2 and the others -1, so
// that a signal which stands still gives nothing. What is filtered is a weighted sum of channels, or of their
// differences from one point to the next. Each table has one column a filter; the terms of one come first.
struct Filters {
  static constexpr std::int64_t length = 9, middle = 4;

  std::int64_t filters, terms, thresholds;
  const std::int32_t* places;      // [3, filters], ascending
  const std::int32_t* dilation;    // [filters]
  const std::int32_t* difference;  // [filters]: 1 where differences are filtered
  const std::int32_t*
      padded;                // [filters]: 1 where zeros stand beyond the ends, 0 where a filter stays inside
  const std::int32_t* used;  // terms of each filter
  const std::int32_t* channel;  // [terms, filters]
  const float* weight;          // [terms, filters]
  const float* threshold;       // [thresholds, filters]
};

// Fills grid [series, channels, points] with the values of signals at even times from the first knot of each
// to its last.
void sample_evenly(const Signals& signals, std::int64_t points, float* grid, int threads);

// Fills shares [series, thresholds, filters] with the share of points at which a filter is above a threshold.
// A row depends on nothing but its own series, and is the same on every target.
void pool_convolutions(const Filters& filters, std::int64_t series, std::int64_t channels,
                       std::int64_t points, const float* grid, float* shares, int threads, Target target);

}  // namespace denots
