// Small maps of rows, each by itself and summed in one order, whoever stands beside it.
#pragma once

#include <cstdint>

namespace denots {

// found [rows, outputs] = x [rows, inputs] weight^T + bias; weight is [outputs, inputs], and bias has one row
// for all or, where `own_bias`, one for each.
template <class Real>
void linear_rows(std::int64_t rows, std::int64_t inputs, std::int64_t outputs, const Real* x,
                 const Real* weight, const Real* bias, bool own_bias, Real* found, int threads);

// Shares [rows, classes] that sum to one, from logits; NaN in one makes its row NaN.
void softmax_rows(std::int64_t rows, std::int64_t classes, const double* logits, double* shares);

}  // namespace denots
