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

#if defined(__AVX512F__)
#define DENOTS_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define DENOTS_VECTOR_BYTES 32
#else
#define DENOTS_VECTOR_BYTES 16
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

#if defined(__AVX512F__)
// The masked forms, with nothing masked: the plain ones warn of an undefined operand in GCC 12.
DENOTS_INLINE FloatV fma(FloatV a, FloatV b, FloatV c) { return _mm512_fmadd_ps(a, b, c); }
DENOTS_INLINE DoubleV fma(DoubleV a, DoubleV b, DoubleV c) { return _mm512_fmadd_pd(a, b, c); }
DENOTS_INLINE FloatV max(FloatV a, FloatV b) { return _mm512_maskz_max_ps(0xffff, a, b); }
DENOTS_INLINE DoubleV max(DoubleV a, DoubleV b) { return _mm512_maskz_max_pd(0xff, a, b); }
DENOTS_INLINE FloatV min(FloatV a, FloatV b) { return _mm512_maskz_min_ps(0xffff, a, b); }
DENOTS_INLINE DoubleV min(DoubleV a, DoubleV b) { return _mm512_maskz_min_pd(0xff, a, b); }
#elif defined(__AVX2__)
DENOTS_INLINE FloatV fma(FloatV a, FloatV b, FloatV c) { return _mm256_fmadd_ps(a, b, c); }
DENOTS_INLINE DoubleV fma(DoubleV a, DoubleV b, DoubleV c) { return _mm256_fmadd_pd(a, b, c); }
DENOTS_INLINE FloatV max(FloatV a, FloatV b) { return _mm256_max_ps(a, b); }
DENOTS_INLINE DoubleV max(DoubleV a, DoubleV b) { return _mm256_max_pd(a, b); }
DENOTS_INLINE FloatV min(FloatV a, FloatV b) { return _mm256_min_ps(a, b); }
DENOTS_INLINE DoubleV min(DoubleV a, DoubleV b) { return _mm256_min_pd(a, b); }
#else
DENOTS_INLINE FloatV fma(FloatV a, FloatV b, FloatV c) { return a * b + c; }
DENOTS_INLINE DoubleV fma(DoubleV a, DoubleV b, DoubleV c) { return a * b + c; }
#ifdef __SSE2__
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

DENOTS_INLINE FloatV abs(FloatV x) { return (FloatV)((Simd<float>::I)x & 0x7fffffff); }
DENOTS_INLINE DoubleV abs(DoubleV x) { return (DoubleV)((Simd<double>::I)x & 0x7fffffffffffffff); }

// 2^f - 1 = f q(f) on [-1/2, 1/2]: minimax in float (relative error 1.1e-8), the Taylor series
// in double (below 1e-17).
template <class Real>
struct Power;

template <>
struct Power<float> {
  static constexpr int count = 6;
  static constexpr float q[count] = {0.693147187926564f,    0.240226497949915f,     0.05550357433560011f,
                                     0.00961823748862617f, 0.0013390735552818967f, 0.00015403514485828578f};
  static constexpr float to_integer = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  static constexpr float limit = 60.0f;             // 2^60 squared is finite
  static constexpr int mantissa = 23;
  static constexpr std::int32_t one = 0x3f800000;
};

template <>
struct Power<double> {
  static constexpr int count = 13;
  static constexpr double q[count] = {0.6931471805599453,     0.24022650695910072,    0.05550410866482158,
                                      0.009618129107628477,   0.0013333558146428443,  0.0001540353039338161,
                                      1.5252733804059841e-05, 1.321548679014431e-06,  1.01780860092397e-07,
                                      7.054911620801123e-09,  4.4455382718708116e-10, 2.5678435993488206e-11,
                                      1.3691488853904128e-12};
  static constexpr double to_integer = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double limit = 500.0;
  static constexpr int mantissa = 52;
  static constexpr std::int64_t one = 0x3ff0000000000000;
};

// 2^t = scale (1 + rest), rest in [-0.3, 0.42]; t is clamped to +-limit, NaN stays NaN.
template <class Real>
struct PowerOfTwo {
  typename Simd<Real>::V scale, rest;
};

template <class Real>
DENOTS_INLINE PowerOfTwo<Real> power_of_two(typename Simd<Real>::V t) {
  using P = Power<Real>;
  using V = typename Simd<Real>::V;
  using I = typename Simd<Real>::I;
  t = min(splat<Real>(P::limit), max(splat<Real>(-P::limit), t));
  const V shifted = t + P::to_integer;
  const V f = t - (shifted - P::to_integer);
  V q = splat<Real>(P::q[P::count - 1]);
#pragma GCC unroll 12
  for (int i = P::count - 2; i >= 0; --i) q = fma(q, f, splat<Real>(P::q[i]));
  const I bits = ((I)shifted << P::mantissa) + P::one;
  return {(V)bits, q * f};
}

constexpr double log2_e = 1.4426950408889634;

// 1 / (1 + e^-a); two at a time share one division.
template <class Real>
DENOTS_INLINE void sigmoid(typename Simd<Real>::V& a, typename Simd<Real>::V& b) {
  const auto p = power_of_two<Real>(a * static_cast<Real>(-log2_e));
  const auto q = power_of_two<Real>(b * static_cast<Real>(-log2_e));
  const typename Simd<Real>::V d = fma(p.scale, p.rest, p.scale + Real(1));
  const typename Simd<Real>::V e = fma(q.scale, q.rest, q.scale + Real(1));
  const typename Simd<Real>::V inverse = Real(1) / (d * e);
  a = e * inverse;
  b = d * inverse;
}

// m / (m + 2) with m = e^(2a) - 1, which keeps small arguments exact to the last bits.
template <class Real>
DENOTS_INLINE typename Simd<Real>::V tanh(typename Simd<Real>::V a) {
  const auto p = power_of_two<Real>(a * static_cast<Real>(2 * log2_e));
  const typename Simd<Real>::V m = fma(p.scale, p.rest, p.scale - Real(1));
  return m / (m + Real(2));
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
