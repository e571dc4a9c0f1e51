// Columns of a table by rank, as normal quantiles.
#pragma once

#include <cstdint>

namespace denots {

// table [rows, columns]; edges [columns, quantiles] ascend in each column, and levels [quantiles] are their
// ranks, in (0, 1) and at least 1e-12 from both ends.
//
// Fills scores [rows, columns + holes]: the normal quantile of the rank of each number, on a straight line
// between two edges, and in the middle of the ranks of edges that it equals; zero where it is not finite.
// Then 1 for each column hole[k] where it is not finite, else 0.
void normal_scores(std::int64_t rows, std::int64_t columns, const double* table, std::int64_t quantiles,
                   const double* edges, const double* levels, std::int64_t holes, const std::int64_t* hole,
                   float* scores, int threads);

// The number below which a normal one lies with probability p, for p as in `levels`.
double normal_quantile(double p);

}  // namespace denots
