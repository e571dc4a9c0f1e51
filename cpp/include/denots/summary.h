// A series as one row of numbers.
#pragma once

#include <cstdint>

namespace denots {

// Of the observations of a channel: how many, mean, spread, lowest, highest, first, last, time of the last,
// trend, roughness and longest gap; then the time since the last one, and all but that once more of the late
// ones.
constexpr std::int64_t statistics_at_once = 11, statistics_a_channel = 2 * statistics_at_once + 1;

// times [N] and values [N, C] hold the rows of all series end to end, NaN where nothing was observed; series
// i owns rows offsets[i] .. offsets[i + 1], of which it has at least one, and began at start[i]. Rows from
// the share `late` of its span on are late.
//
// Fills statistics_a_channel numbers for each channel in row i of a table with `columns` columns, from its
// column `first_column` on; NaN where one is not defined. Sums are those of NumPy, to the last bit.
template <class Real>
void summarise(std::int64_t series, std::int64_t channels, const std::int64_t* offsets, const double* times,
               const double* start, const Real* values, double late, std::int64_t columns,
               std::int64_t first_column, double* table, int threads);

}  // namespace denots
