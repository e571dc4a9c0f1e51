// Matrix products over lanes against long double loops.
#include <limits>

#include "check.h"
#include "gemm-inl.h"

namespace denots::DENOTS_TARGET {
namespace {

using check::Aligned;
using check::expect_near;

template <class Real>
constexpr long double rounding = std::numeric_limits<Real>::epsilon();

template <class Real>
void test_transpose(std::int64_t size) {
  constexpr int lanes = Simd<Real>::lanes;
  Aligned<Real> from(size * lanes), to(size * lanes);
  for (std::int64_t i = 0; i < from.size(); ++i) from[i] = static_cast<Real>(i);
  transpose_lanes(size, from.data(), to.data());
  for (std::int64_t row = 0; row < size; ++row)
    for (int l = 0; l < lanes; ++l)
      check::expect(to[l * size + row] == from[row * lanes + l], "transpose of %lld rows", (long long)size);
}

template <class Real>
void test_outer(check::Random& random, int stages, std::int64_t rows, std::int64_t columns) {
  constexpr int lanes = Simd<Real>::lanes;
  const std::int64_t gap = 64 / static_cast<std::int64_t>(sizeof(Real));
  const std::int64_t left_stride = rows * lanes + gap, right_stride = columns * lanes + gap;
  Aligned<Real> left(stages * left_stride - gap), right(stages * right_stride - gap), sums(rows * columns);
  random.fill(left), random.fill(right), random.fill(sums);
  std::vector<long double> wanted(sums.data(), sums.data() + sums.size());
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column)
      for (int s = 0; s < stages; ++s)
        for (int l = 0; l < lanes; ++l)
          wanted[row * columns + column] +=
              static_cast<long double>(left[s * left_stride + row * lanes + l]) *
              right[s * right_stride + l * columns + column];
  add_outer(stages, rows, columns, left.data(), left_stride, right.data(), right_stride, sums.data());
  for (std::int64_t i = 0; i < sums.size(); ++i)
    expect_near(sums[i], wanted[i], 2 * (stages * lanes + 1) * rounding<Real>, "add_outer");
}

template <class Real>
void test_product(check::Random& random, std::int64_t rows, std::int64_t inner) {
  constexpr int lanes = Simd<Real>::lanes;
  Aligned<char> memory((rows * inner * static_cast<std::int64_t>(sizeof(Real)) + 63) / 64 * 64);
  Arena arena(memory.data());
  const Packed<Real> packed(rows, inner, arena);
  Aligned<Real> in(inner * lanes), out(rows * lanes), fresh(rows * lanes), bias(rows), summed(rows);
  random.fill(in), random.fill(out), random.fill(bias);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t k = 0; k < inner; ++k) packed.at(row, k) = static_cast<Real>(random.symmetric());
  std::vector<long double> wanted(out.data(), out.data() + out.size()), biased(wanted.size());
  for (std::int64_t row = 0; row < rows; ++row)
    for (int l = 0; l < lanes; ++l) {
      long double sum = 0;
      for (std::int64_t k = 0; k < inner; ++k)
        sum += static_cast<long double>(packed.at(row, k)) * in[k * lanes + l];
      wanted[row * lanes + l] += sum, biased[row * lanes + l] = sum + bias[row];
    }
  add_product(packed, in.data(), out.data(), out.data());
  product(packed, bias.data(), in.data(), fresh.data());
  add_lanes(rows, fresh.data(), summed.data());
  for (std::int64_t i = 0; i < out.size(); ++i) {
    expect_near(out[i], wanted[i], 2 * (inner + 1) * rounding<Real>, "add_product");
    expect_near(fresh[i], biased[i], 2 * (inner + 1) * rounding<Real>, "product");
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    long double sum = 0;
    for (int l = 0; l < lanes; ++l) sum += biased[row * lanes + l];
    expect_near(summed[row], sum, 2 * lanes * (inner + 1) * rounding<Real>, "add_lanes");
  }
}

template <class Real>
void test_all() {
  constexpr int lanes = Simd<Real>::lanes;
  check::Random random(1);
  for (const std::int64_t size : {16, 32, 80}) test_transpose<Real>(size);
  for (const int stages : {1, 3, 7})
    for (const std::int64_t rows : {8, 12, 24, 40})
      for (const std::int64_t vectors : {1, 2, 3, 5}) test_outer<Real>(random, stages, rows, vectors * lanes);
  for (const std::int64_t rows : {8, 16, 72})
    for (const std::int64_t inner : {1, 2, 24, 216}) test_product<Real>(random, rows, inner);
  for (std::int64_t size = 0; size < 40; ++size) {
    const std::int64_t up = round_up(size, 8);
    check::expect(up % 8 == 0 && up >= size && up < size + 8, "round_up of %lld", (long long)size);
  }
}

}  // namespace
}  // namespace denots::DENOTS_TARGET

int main() {
  denots::DENOTS_TARGET::test_all<float>();
  denots::DENOTS_TARGET::test_all<double>();
  return denots::check::verdict("gemm_test");
}
