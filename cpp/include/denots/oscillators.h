// Damped oscillators driven by piecewise cubic signals, solved in closed form and pooled along time.
#pragma once

#include <cstdint>

#include "denots/cpu.h"
#include "denots/signals.h"

namespace denots {

constexpr std::int64_t most_thresholds = 8;

// z' = (-rate + i frequency) z + drive, read as y = cosine Re z - sine Im z; a drive is a weighted sum of
// values and slopes of channels. Each table has one column an oscillator; the terms of one come first, then
// zeros.
struct Bank {
  std::int64_t oscillators, terms, thresholds;
  std::int64_t forward;  // so many run with time, the others against it
  const float *rate, *frequency, *cosine, *sine;
  const float* relative;                     // 1: rates are per span of the series, 0: per unit of time
  const std::int32_t* used;                  // terms of each oscillator
  const std::int32_t* channel;               // [terms, oscillators]
  const float *value_weight, *slope_weight;  // [terms, oscillators]
  const float* threshold;                    // [thresholds, oscillators]
  const float* window;  // [2, thresholds]: from where to where a threshold counts, in shares of the series
};

// What is told of each oscillator as a whole before the share of time above, and the mean excess over, each
// threshold.
enum class Pool : int { highest, lowest, mean, last, when_highest, count };

// Rows of numbers an oscillator: of the whole, or one share a threshold and nothing else.
inline std::int64_t pooled_rows(const Bank& bank, bool whole) {
  return whole ? static_cast<std::int64_t>(Pool::count) + 2 * bank.thresholds : bank.thresholds;
}

// Fills pooled [series, pooled_rows(bank, whole), oscillators]. A row depends on nothing but its own
// series. An output is looked at where its signal has a knot, and so often between knots that no look is
// farther from the next than the span of the series divided by `pieces`.
void pool_oscillators(const Bank& bank, const Signals& signals, std::int64_t pieces, bool whole,
                      float* pooled, int threads, Target target);

}  // namespace denots
