// Complex numbers a lane, and the functions that solve z' = lambda z + a polynomial in closed form.
#pragma once

#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

struct Complex {
  FloatV re, im;
};

DENOTS_INLINE Complex operator*(Complex a, Complex b) {
  return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
}
DENOTS_INLINE Complex operator+(Complex a, float b) { return {a.re + b, a.im}; }
DENOTS_INLINE Complex select(Simd<float>::I which, Complex a, Complex b) {
  return {which ? a.re : b.re, which ? a.im : b.im};
}

// e^z where the real part is not positive. An angle of thousands belongs to a real part that leaves nothing
// of it.
DENOTS_INLINE Complex exponential(Complex z) {
  const PowerOfTwo<float> power(z.re * static_cast<float>(log2_e));
  const FloatV size = fma(power.scale, power.rest, power.scale);
  constexpr float to_integer = 12582912.0f, two_over_pi = 0.636619772f;
  const FloatV angle = min(splat(3000.0f), max(splat(-3000.0f), z.im));
  const FloatV shifted = angle * two_over_pi + to_integer, turns = shifted - to_integer;
  const Simd<float>::I quadrant = (Simd<float>::I)shifted;
  FloatV f = fma(turns, splat(-1.5703125f), angle);  // pi / 2 in three parts, the first two exact
  f = fma(turns, splat(-4.83751297e-4f), f);
  f = fma(turns, splat(-7.54978995e-8f), f);
  const FloatV f2 = f * f;
  const FloatV sine =
      fma(f * f2, fma(fma(splat(-1.9515296e-4f), f2, splat(8.3321609e-3f)), f2, splat(-1.6666654e-1f)), f);
  const FloatV cosine =
      fma(f2 * f2, fma(fma(splat(2.44331571e-5f), f2, splat(-1.38873162e-3f)), f2, splat(4.16666457e-2f)),
          fma(splat(-0.5f), f2, splat(1.0f)));
  const auto odd = (quadrant & 1) != 0, high = (quadrant & 2) != 0, between = ((quadrant + 1) & 2) != 0;
  const FloatV re = odd ? sine : cosine, im = odd ? cosine : sine;
  return {size * (between ? -re : re), size * (high ? -im : im)};
}

// of[0] = e^z and of[k] = phi_k(z) = sum over j of z^j / (j + k)! up to phi_highest, the weights of
// r^(k-1) / (k-1)! in the integral of e^(z (1 - r)) over r in [0, 1]. Near zero the highest is summed up and
// leads to the others, phi_(k-1) = z phi_k + 1 / (k - 1)!; the other way round would cancel there.
template <int highest>
struct Phi {
  Complex of[highest + 1];

  explicit DENOTS_INLINE Phi(Complex z) {
    constexpr int terms = 12;
    constexpr float inverse_factorial[] = {1.0f,
                                           1.0f,
                                           0.5f,
                                           1.66666667e-01f,
                                           4.16666667e-02f,
                                           8.33333333e-03f,
                                           1.38888889e-03f,
                                           1.98412698e-04f,
                                           2.48015873e-05f,
                                           2.75573192e-06f,
                                           2.75573192e-07f,
                                           2.50521084e-08f,
                                           2.08767570e-09f,
                                           1.60590438e-10f,
                                           1.14707456e-11f};
    static_assert(highest + terms <= 15);
    const FloatV square = fma(z.re, z.re, z.im * z.im);
    const auto near = square < 2.0f;
    // Lanes that are far from zero would overflow here; they take the other way.
    const Complex w{near ? z.re : FloatV{}, near ? z.im : FloatV{}}, w2 = w * w;
    // Even and odd powers by themselves, because each product waits for the one before.
    Complex even{splat(inverse_factorial[highest + terms - 2]), FloatV{}},
        odd{splat(inverse_factorial[highest + terms - 1]), FloatV{}};
#pragma GCC unroll 8
    for (int i = terms - 4; i >= 0; i -= 2) {
      even = even * w2 + inverse_factorial[highest + i];
      odd = odd * w2 + inverse_factorial[highest + i + 1];
    }
    const Complex rest = odd * w;
    of[highest] = {even.re + rest.re, even.im + rest.im};
#pragma GCC unroll 4
    for (int k = highest - 1; k >= 0; --k) of[k] = of[k + 1] * w + inverse_factorial[k];
    if (all(near)) return;

    const FloatV scale = 1.0f / (near ? splat(1.0f) : square);
    const Complex inverse{z.re * scale, -z.im * scale};
    Complex far = exponential(z);
    of[0] = select(near, of[0], far);
#pragma GCC unroll 4
    for (int k = 1; k <= highest; ++k) {
      far = (far + -inverse_factorial[k - 1]) * inverse;
      of[k] = select(near, of[k], far);
    }
  }
};

}  // namespace denots::DENOTS_TARGET
