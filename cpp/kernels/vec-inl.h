// Vectors of lanes, one series a lane, and the functions the fields need of them.
//
// Products are fused only where `fma` is written: the compiler contracts nothing, so that one
// source gives one result on every compiler of a target.
#pragma once

#include <cstddef>
#include <cstdint>
#ifdef __SSE2__
#include <immintrin.h>
#endif

// More lanes than the CPU has are slow but right, so those of a wider CPU can be tested on this one; fewer
// than it has are not supported.
#ifndef DENOTS_VECTOR_BYTES
#if defined(__AVX512F__)
#define DENOTS_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define DENOTS_VECTOR_BYTES 32
#else
#define DENOTS_VECTOR_BYTES 16
#endif
#endif
#define DENOTS_INLINE inline __attribute__((always_inline))

namespace denots::DENOTS_TARGET {

template <class Real>
struct Simd;

template <>
struct Simd<float> {
  static constexpr int lanes = DENOTS_VECTOR_BYTES / 4;
  typedef float V __attribute__((vector_size(DENOTS_VECTOR_BYTES), may_alias));
  typedef std::int32_t I __attribute__((vector_size(DENOTS_VECTOR_BYTES), may_alias));
  using Int = std::int32_t;
};

template <>
struct Simd<double> {
  static constexpr int lanes = DENOTS_VECTOR_BYTES / 8;
  typedef double V __attribute__((vector_size(DENOTS_VECTOR_BYTES), may_alias));
  typedef std::int64_t I __attribute__((vector_size(DENOTS_VECTOR_BYTES), may_alias));
  using Int = std::int64_t;
};

using FloatV = Simd<float>::V;
using DoubleV = Simd<double>::V;

#if defined(__AVX512F__) && DENOTS_VECTOR_BYTES == 64
// The masked forms, with nothing masked: the plain ones warn of an undefined operand in GCC 12.
DENOTS_INLINE FloatV fma(FloatV a, FloatV b, FloatV c) { return _mm512_fmadd_ps(a, b, c); }
DENOTS_INLINE DoubleV fma(DoubleV a, DoubleV b, DoubleV c) { return _mm512_fmadd_pd(a, b, c); }
DENOTS_INLINE FloatV max(FloatV a, FloatV b) { return _mm512_maskz_max_ps(0xffff, a, b); }
DENOTS_INLINE DoubleV max(DoubleV a, DoubleV b) { return _mm512_maskz_max_pd(0xff, a, b); }
DENOTS_INLINE FloatV min(FloatV a, FloatV b) { return _mm512_maskz_min_ps(0xffff, a, b); }
DENOTS_INLINE DoubleV min(DoubleV a, DoubleV b) { return _mm512_maskz_min_pd(0xff, a, b); }
#elif defined(__AVX2__) && DENOTS_VECTOR_BYTES == 32
DENOTS_INLINE FloatV fma(FloatV a, FloatV b, FloatV c) { return _mm256_fmadd_ps(a, b, c); }
DENOTS_INLINE DoubleV fma(DoubleV a, DoubleV b, DoubleV c) { return _mm256_fmadd_pd(a, b, c); }
DENOTS_INLINE FloatV max(FloatV a, FloatV b) { return _mm256_max_ps(a, b); }
DENOTS_INLINE DoubleV max(DoubleV a, DoubleV b) { return _mm256_max_pd(a, b); }
DENOTS_INLINE FloatV min(FloatV a, FloatV b) { return _mm256_min_ps(a, b); }
DENOTS_INLINE DoubleV min(DoubleV a, DoubleV b) { return _mm256_min_pd(a, b); }
#else
DENOTS_INLINE FloatV fma(FloatV a, FloatV b, FloatV c) { return a * b + c; }
DENOTS_INLINE DoubleV fma(DoubleV a, DoubleV b, DoubleV c) { return a * b + c; }
#if defined(__SSE2__) && DENOTS_VECTOR_BYTES == 16
DENOTS_INLINE FloatV max(FloatV a, FloatV b) { return _mm_max_ps(a, b); }
DENOTS_INLINE DoubleV max(DoubleV a, DoubleV b) { return _mm_max_pd(a, b); }
DENOTS_INLINE FloatV min(FloatV a, FloatV b) { return _mm_min_ps(a, b); }
DENOTS_INLINE DoubleV min(DoubleV a, DoubleV b) { return _mm_min_pd(a, b); }
#else
DENOTS_INLINE FloatV max(FloatV a, FloatV b) { return a > b ? a : b; }
DENOTS_INLINE DoubleV max(DoubleV a, DoubleV b) { return a > b ? a : b; }
DENOTS_INLINE FloatV min(FloatV a, FloatV b) { return a < b ? a : b; }
DENOTS_INLINE DoubleV min(DoubleV a, DoubleV b) { return a < b ? a : b; }
#endif
#endif
// max and min return their second operand when either is NaN.

template <class Real>
DENOTS_INLINE typename Simd<Real>::V load(const Real* from) {
  return *reinterpret_cast<const typename Simd<Real>::V*>(from);
}

template <class Real>
DENOTS_INLINE void store(Real* to, typename Simd<Real>::V value) {
  *reinterpret_cast<typename Simd<Real>::V*>(to) = value;
}

template <class Real>
DENOTS_INLINE typename Simd<Real>::V splat(Real value) {
  return value - typename Simd<Real>::V{};
}

// A vector as an element of arrays, which are then aligned for it.
struct Lanes {
  FloatV lanes;

  float* data() { return reinterpret_cast<float*>(&lanes); }
  const float* data() const { return reinterpret_cast<const float*>(&lanes); }
};

DENOTS_INLINE bool all(Simd<float>::I which) {
#if defined(__AVX512F__) && DENOTS_VECTOR_BYTES == 64
  return _mm512_movepi32_mask((__m512i)which) == 0xffff;
#elif defined(__AVX2__) && DENOTS_VECTOR_BYTES == 32
  return _mm256_movemask_ps((__m256)which) == 0xff;
#elif defined(__SSE2__) && DENOTS_VECTOR_BYTES == 16
  return _mm_movemask_ps((__m128)which) == 0xf;
#else
  std::int32_t every = -1;
  for (int lane = 0; lane < Simd<float>::lanes; ++lane) every &= which[lane];
  return every != 0;
#endif
}

DENOTS_INLINE bool none(Simd<float>::I which) {
#if defined(__AVX512F__) && DENOTS_VECTOR_BYTES == 64
  return _mm512_movepi32_mask((__m512i)which) == 0;
#elif defined(__AVX2__) && DENOTS_VECTOR_BYTES == 32
  return _mm256_movemask_ps((__m256)which) == 0;
#elif defined(__SSE2__) && DENOTS_VECTOR_BYTES == 16
  return _mm_movemask_ps((__m128)which) == 0;
#else
  std::int32_t any = 0;
  for (int lane = 0; lane < Simd<float>::lanes; ++lane) any |= which[lane];
  return any == 0;
#endif
}

// How often a lane was above a threshold, of all that were added.
#if (defined(__AVX512F__) && DENOTS_VECTOR_BYTES == 64) || (defined(__AVX2__) && DENOTS_VECTOR_BYTES == 32)
class Tally {
 public:
  DENOTS_INLINE void add(FloatV x, FloatV threshold) {
#if DENOTS_VECTOR_BYTES == 64
    count_ += __builtin_popcount(_mm512_cmp_ps_mask(x, threshold, _CMP_GT_OQ));
#else
    count_ += __builtin_popcount(_mm256_movemask_ps(_mm256_cmp_ps(x, threshold, _CMP_GT_OQ)));
#endif
  }
  DENOTS_INLINE int total() const { return count_; }

 private:
  int count_ = 0;
};
#else
class Tally {
 public:
  DENOTS_INLINE void add(FloatV x, FloatV threshold) { counts_ -= x > threshold; }
  DENOTS_INLINE int total() const {
    int sum = 0;
    for (int lane = 0; lane < Simd<float>::lanes; ++lane) sum += counts_[lane];
    return sum;
  }

 private:
  Simd<float>::I counts_{};
};
#endif

// Which lanes are among the first so many.
DENOTS_INLINE Simd<float>::I first_lanes(int count) {
  Simd<float>::I lane;
  for (int i = 0; i < Simd<float>::lanes; ++i) lane[i] = i;
  return lane < count;
}

// How many lanes hold at most what those of `most` hold.
DENOTS_INLINE int count_up_to(DoubleV x, DoubleV most) {
#if defined(__AVX512F__) && DENOTS_VECTOR_BYTES == 64
  return __builtin_popcount(_mm512_cmp_pd_mask(x, most, _CMP_LE_OQ));
#elif defined(__AVX2__) && DENOTS_VECTOR_BYTES == 32
  return __builtin_popcount(_mm256_movemask_pd(_mm256_cmp_pd(x, most, _CMP_LE_OQ)));
#else
  int count = 0;
  for (int lane = 0; lane < Simd<double>::lanes; ++lane) count += x[lane] <= most[lane];
  return count;
#endif
}

DENOTS_INLINE FloatV abs(FloatV x) { return (FloatV)((Simd<float>::I)x & 0x7fffffff); }
DENOTS_INLINE DoubleV abs(DoubleV x) { return (DoubleV)((Simd<double>::I)x & 0x7fffffffffffffff); }

// 2^t = scale + scale * rest with scale a power of two and rest in [-0.3, 0.42]; t is clamped
// to +-limit, NaN stays NaN. rest = f q(f) for the fraction f in [-1/2, 1/2]; q is minimax in
// float (relative error 1.1e-8) and the Taylor series in double (below 1e-17).
template <class Real>
struct PowerOfTwo;

template <>
struct PowerOfTwo<float> {
  FloatV scale, rest;

  // Pairs of terms instead of one long chain: the window of the CPU, not the number of
  // products, limits what can be done per cycle (8.9 instead of 10.3 cycles a tanh).
  explicit DENOTS_INLINE PowerOfTwo(FloatV t) {
    constexpr float limit = 30.0f,
                    to_integer = 12582912.0f;  // 1.5 * 2^23 rounds to an integer in the low bits
    t = min(splat(limit), max(splat(-limit), t));
    const FloatV shifted = t + to_integer, f = t - (shifted - to_integer), f2 = f * f;
    const FloatV low = fma(splat(0.240226497949915f), f, splat(0.693147187926564f));
    const FloatV middle = fma(splat(0.00961823748862617f), f, splat(0.05550357433560011f));
    const FloatV high = fma(splat(0.00015403514485828578f), f, splat(0.0013390735552818967f));
    scale = (FloatV)(((Simd<float>::I)shifted << 23) + 0x3f800000);
    rest = f * fma(fma(high, f2, middle), f2, low);
  }
};

template <>
struct PowerOfTwo<double> {
  DoubleV scale, rest;

  explicit DENOTS_INLINE PowerOfTwo(DoubleV t) {
    constexpr double limit = 500.0, to_integer = 6755399441055744.0;  // 1.5 * 2^52
    constexpr int terms = 13;
    constexpr double q[terms] = {0.6931471805599453,     0.24022650695910072,    0.05550410866482158,
                                 0.009618129107628477,   0.0013333558146428443,  0.0001540353039338161,
                                 1.5252733804059841e-05, 1.321548679014431e-06,  1.01780860092397e-07,
                                 7.054911620801123e-09,  4.4455382718708116e-10, 2.5678435993488206e-11,
                                 1.3691488853904128e-12};
    t = min(splat(limit), max(splat(-limit), t));
    const DoubleV shifted = t + to_integer, f = t - (shifted - to_integer);
    DoubleV sum = splat(q[terms - 1]);
#pragma GCC unroll 12
    for (int i = terms - 2; i >= 0; --i) sum = fma(sum, f, splat(q[i]));
    scale = (DoubleV)(((Simd<double>::I)shifted << 52) + 0x3ff0000000000000);
    rest = f * sum;
  }
};

constexpr double log2_e = 1.4426950408889634;

// m / (m + 2) with m = e^(2a) - 1, which keeps small arguments exact to the last bits.
// Error in float: 1.1e-7.
template <class Real>
DENOTS_INLINE typename Simd<Real>::V tanh(typename Simd<Real>::V a) {
  const PowerOfTwo<Real> e(a * static_cast<Real>(2 * log2_e));
  const typename Simd<Real>::V m = fma(e.scale, e.rest, e.scale - Real(1));
  return m / (m + Real(2));
}

// 1 / (1 + e^-2a) = 1/2 + tanh(a) / 2, from half the usual argument. In float, tanh is the
// quotient of two polynomials, a third faster than through e^a; the error is 1.6e-7. Beyond 8.8
// the quotient exceeds 1 and is cut there: a saturated gate must be exactly 0 or 1, because its
// derivative may meet a state of any size.
DENOTS_INLINE FloatV sigmoid_of_twice(FloatV a) {
  constexpr float limit = 9.2f;
  a = min(splat(limit), max(splat(-limit), a));
  const FloatV a2 = a * a, a4 = a2 * a2;
  const FloatV p0 = fma(splat(0.134062037f), a2, splat(0.99999994f));
  const FloatV p1 = fma(splat(1.40991698e-08f), a4, fma(splat(2.11215101e-05f), a2, splat(0.00352581544f)));
  const FloatV q0 = fma(splat(0.467395157f), a2, splat(0.99999994f));
  const FloatV q1 = fma(splat(8.07358788e-07f), a4, fma(splat(0.000333568431f), a2, splat(0.0259911213f)));
  const FloatV half = splat(0.5f);
  const FloatV cut = min(half, max(-half, half * a * fma(p1, a4, p0) / fma(q1, a4, q0)));
  return half + cut;
}

DENOTS_INLINE DoubleV sigmoid_of_twice(DoubleV a) {
  const PowerOfTwo<double> e(a * (-2 * log2_e));
  return 1.0 / fma(e.scale, e.rest, e.scale + 1.0);
}

// A piece of memory handed out front to back; without memory it only measures.
class Arena {
 public:
  explicit Arena(void* memory) : memory_(static_cast<char*>(memory)) {}

  template <class T>
  T* take(std::int64_t count) {
    T* const piece = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + used_);
    used_ += (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
    return piece;
  }

  std::size_t used() const { return used_; }

 private:
  char* memory_;
  std::size_t used_ = 0;
};

}  // namespace denots::DENOTS_TARGET
