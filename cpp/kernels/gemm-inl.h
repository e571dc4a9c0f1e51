// The small matrix products of a block: packed weights times lanes, and sums over lanes.
#pragma once

#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

constexpr std::int64_t round_up(std::int64_t size, std::int64_t unit) {
  return (size + unit - 1) / unit * unit;
}

// States of a field as kernels hold them: whole vectors, and whole groups of rows.
template <class Real>
constexpr std::int64_t padded_size(std::int64_t states) {
  return round_up(states, Simd<Real>::lanes > 8 ? Simd<Real>::lanes : 8);
}

#ifdef __AVX2__
constexpr int square_of(float) { return 8; }
constexpr int square_of(double) { return 4; }

using Square32 = __m256[8];
using Square64 = __m256d[4];

DENOTS_INLINE void transpose(Square32& a) {
  __m256 b[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      a[i + 2 * j] = _mm256_shuffle_ps(b[i + j], b[i + 2 + j], 0x44);
      a[i + 2 * j + 1] = _mm256_shuffle_ps(b[i + j], b[i + 2 + j], 0xee);
    }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    b[i] = _mm256_permute2f128_ps(a[i], a[i + 4], 0x20);
    b[i + 4] = _mm256_permute2f128_ps(a[i], a[i + 4], 0x31);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) a[i] = b[i];
}

DENOTS_INLINE void transpose(Square64& a) {
  __m256d b[4];
#pragma GCC unroll 2
  for (int i = 0; i < 4; i += 2) {
    b[i] = _mm256_unpacklo_pd(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_pd(a[i], a[i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    a[i] = _mm256_permute2f128_pd(b[i], b[i + 2], 0x20);
    a[i + 2] = _mm256_permute2f128_pd(b[i], b[i + 2], 0x31);
  }
}

// Transposes a square whose rows begin at from(i), into rows that begin at to(i).
template <class From, class To>
DENOTS_INLINE void transpose_square(float, From from, To to) {
  Square32 a;
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) a[i] = _mm256_loadu_ps(from(i));
  transpose(a);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) _mm256_storeu_ps(to(i), a[i]);
}

template <class From, class To>
DENOTS_INLINE void transpose_square(double, From from, To to) {
  Square64 a;
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) a[i] = _mm256_loadu_pd(from(i));
  transpose(a);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) _mm256_storeu_pd(to(i), a[i]);
}
#else
constexpr int square_of(float) { return 1; }
constexpr int square_of(double) { return 1; }

template <class Real, class From, class To>
DENOTS_INLINE void transpose_square(Real, From from, To to) {
  *to(0) = *from(0);
}
#endif

// [size][lane] to and from one row for each lane, which begins at row(lane); size is a multiple of the
// square.
template <class Real, class Row>
DENOTS_INLINE void lanes_to_rows(std::int64_t size, const Real* from, Row row) {
  constexpr int lanes = Simd<Real>::lanes, square = square_of(Real{});
  for (std::int64_t at = 0; at < size; at += square)
    for (int lane = 0; lane < lanes; lane += square)
      transpose_square(
          Real{}, [=](int i) { return from + (at + i) * lanes + lane; },
          [=](int i) { return row(lane + i) + at; });
}

template <class Real, class Row>
DENOTS_INLINE void rows_to_lanes(std::int64_t size, Row row, Real* to) {
  constexpr int lanes = Simd<Real>::lanes, square = square_of(Real{});
  for (std::int64_t at = 0; at < size; at += square)
    for (int lane = 0; lane < lanes; lane += square)
      transpose_square(
          Real{}, [=](int i) { return row(lane + i) + at; },
          [=](int i) { return to + (at + i) * lanes + lane; });
}

// [size][lanes] -> [lanes][size], size a multiple of the lanes.
template <class Real>
DENOTS_INLINE void transpose_lanes(std::int64_t size, const Real* from, Real* to) {
  lanes_to_rows(size, from, [=](int lane) { return to + lane * size; });
}

// R rows by M vectors of sums[row][column] += sum over stages and lanes of
// left[stage][row][lane] * right[stage][lane][column]. With R M = 12 accumulators and
// R + M loads for R M products, the multipliers stay busy.
template <class Real, int R, int M>
DENOTS_INLINE void outer_tile(int stages, const Real* left, std::int64_t left_stride, const Real* right,
                              std::int64_t right_stride, std::int64_t columns, Real* sums) {
  using V = typename Simd<Real>::V;
  constexpr int lanes = Simd<Real>::lanes;
  V sum[R][M] = {};
  for (int s = 0; s < stages; ++s) {
    const Real* a = left + s * left_stride;
    const Real* b = right + s * right_stride;
    for (int lane = 0; lane < lanes; ++lane, ++a, b += columns) {
      V column[M];
#pragma GCC unroll 4
      for (int m = 0; m < M; ++m) column[m] = load(b + m * lanes);
#pragma GCC unroll 12
      for (int r = 0; r < R; ++r) {
        const V row = splat(a[r * lanes]);
#pragma GCC unroll 4
        for (int m = 0; m < M; ++m) sum[r][m] = fma(row, column[m], sum[r][m]);
      }
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 4
    for (int m = 0; m < M; ++m) {
      Real* const to = sums + r * columns + m * lanes;
      store(to, load(to) + sum[r][m]);
    }
}

// R rows at a time while they last; returns the first row that is left.
template <class Real, int R, int M>
DENOTS_INLINE std::int64_t outer_strip(std::int64_t row, std::int64_t rows, int stages, const Real* left,
                                       std::int64_t left_stride, const Real* right, std::int64_t right_stride,
                                       std::int64_t columns, Real* sums) {
  constexpr int lanes = Simd<Real>::lanes;
  for (; row + R <= rows; row += R)
    outer_tile<Real, R, M>(stages, left + row * lanes, left_stride, right, right_stride, columns,
                           sums + row * columns);
  return row;
}

// rows is a multiple of 4, columns of the lanes; `stages` stages lie `stride` apart.
template <class Real>
__attribute__((noinline)) void add_outer(int stages, std::int64_t rows, std::int64_t columns,
                                         const Real* left, std::int64_t left_stride, const Real* right,
                                         std::int64_t right_stride, Real* sums) {
  constexpr int lanes = Simd<Real>::lanes;
  std::int64_t column = 0;
  for (; column + 2 * lanes <= columns; column += 2 * lanes) {
    const Real* const b = right + column;
    Real* const to = sums + column;
    std::int64_t row =
        outer_strip<Real, 6, 2>(0, rows, stages, left, left_stride, b, right_stride, columns, to);
    row = outer_strip<Real, 4, 2>(row, rows, stages, left, left_stride, b, right_stride, columns, to);
    outer_strip<Real, 2, 2>(row, rows, stages, left, left_stride, b, right_stride, columns, to);
  }
  if (column == columns) return;
  const Real* const b = right + column;
  Real* const to = sums + column;
  const std::int64_t row =
      outer_strip<Real, 12, 1>(0, rows, stages, left, left_stride, b, right_stride, columns, to);
  outer_strip<Real, 4, 1>(row, rows, stages, left, left_stride, b, right_stride, columns, to);
}

// A matrix whose rows lie in groups of eight, [row / 8][k][row % 8]; their number is a multiple of
// eight. Eight accumulators are enough to hide the latency of the multipliers.
template <class Real>
struct Packed {
  static constexpr int group = 8;
  std::int64_t rows, inner;
  Real* data;

  Packed(std::int64_t rows, std::int64_t inner, Arena& arena)
      : rows(rows), inner(inner), data(arena.take<Real>(rows * inner)) {}

  Real& at(std::int64_t row, std::int64_t k) const {
    return data[(row / group * inner + k) * group + row % group];
  }
  void clear() const {
    for (std::int64_t i = 0; i < rows * inner; ++i) data[i] = 0;
  }
};

// Sums of `groups` groups of rows: two at a time leave the multipliers fewer gaps than one, where there are
// registers.
template <int groups, class Real>
DENOTS_INLINE void product_tile(std::int64_t inner, const Real* packed, const Real* in,
                                typename Simd<Real>::V (&sum)[groups][Packed<Real>::group]) {
  using V = typename Simd<Real>::V;
  constexpr int lanes = Simd<Real>::lanes, R = Packed<Real>::group;
  const Real* second = packed + (groups - 1) * R * inner;
  for (std::int64_t k = 0; k < inner; ++k, packed += R, second += R, in += lanes) {
    const V value = load(in);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) sum[0][r] = fma(splat(packed[r]), value, sum[0][r]);
    if (groups == 2)
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sum[groups - 1][r] = fma(splat(second[r]), value, sum[groups - 1][r]);
  }
}

// out[row][lane] = first(row) + matrix[row][k] in[k][lane], from a row on for as many groups at a time as are
// given; returns the first row that is left.
template <int groups, class Real, class First>
DENOTS_INLINE std::int64_t product_strip(std::int64_t row, const Packed<Real>& matrix, const Real* in,
                                         Real* out, First first) {
  constexpr int lanes = Simd<Real>::lanes, R = Packed<Real>::group;
  for (; row + groups * R <= matrix.rows; row += groups * R) {
    typename Simd<Real>::V sum[groups][R];
#pragma GCC unroll 2
    for (int g = 0; g < groups; ++g)
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sum[g][r] = first(row + g * R + r);
    product_tile<groups>(matrix.inner, matrix.data + row * matrix.inner, in, sum);
#pragma GCC unroll 2
    for (int g = 0; g < groups; ++g)
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) store(out + (row + g * R + r) * lanes, sum[g][r]);
  }
  return row;
}

template <class Real, class First>
DENOTS_INLINE void product_from(const Packed<Real>& matrix, const Real* in, Real* out, First first) {
  constexpr int abreast = DENOTS_VECTOR_BYTES == 64 ? 2 : 1;
  const std::int64_t left = product_strip<abreast>(0, matrix, in, out, first);
  if (abreast > 1) product_strip<1>(left, matrix, in, out, first);
}

// out[row][lane] = from[row][lane] + matrix[row][k] in[k][lane]; `from` may be `out`.
template <class Real>
__attribute__((noinline)) void add_product(const Packed<Real>& matrix, const Real* in, const Real* from,
                                           Real* out) {
  constexpr int lanes = Simd<Real>::lanes;
  product_from(matrix, in, out, [=](std::int64_t row) { return load(from + row * lanes); });
}

// out[row][lane] = bias[row] + matrix[row][k] in[k][lane]; no bias is a bias of zero.
template <class Real>
__attribute__((noinline)) void product(const Packed<Real>& matrix, const Real* bias, const Real* in,
                                       Real* out) {
  product_from(matrix, in, out,
               [=](std::int64_t row) { return splat(bias == nullptr ? Real(0) : bias[row]); });
}

// to[row] += sum over lanes of from[row][lane].
template <class Real>
void add_lanes(std::int64_t rows, const Real* from, Real* to) {
  constexpr int lanes = Simd<Real>::lanes;
  for (std::int64_t row = 0; row < rows; ++row)
    for (int lane = 0; lane < lanes; ++lane) to[row] += from[row * lanes + lane];
}

}  // namespace denots::DENOTS_TARGET
