// Runge-Kutta combinations over a block of lanes, and the rules of step control.
#pragma once

#include "denots/solve.h"
#include "vec-inl.h"

namespace denots::DENOTS_TARGET {

// Rows of a block are [row][lane]; stage s of a block of rows starts at `stages + s * stride`.

// The stages that enter a sum, with their weights; zero weights are left out.
template <class Real>
struct Terms {
  int count = 0;
  int stage[max_stages];
  Real weight[max_stages];

  void add(int s, double w) {
    if (w == 0.0) return;
    stage[count] = s;
    weight[count++] = static_cast<Real>(w);
  }
};

template <class Real>
struct Scheme {
  int stages, order, powers;
  double safety;
  const double *nodes, *dense;
  Terms<Real> input[max_stages];  // slopes -> input of stage s, or the new state for the last s
  Terms<Real> error;
  Terms<Real> later[max_stages];  // slope s -> inputs of later stages and the new state: column s of `input`

  explicit Scheme(const Method& method)
      : stages(method.stages),
        order(method.order),
        powers(method.powers),
        safety(method.safety),
        nodes(method.nodes),
        dense(method.dense) {
    for (int s = 0; s < stages; ++s) {
      error.add(s, method.error[s]);
      for (int j = 0; j < s; ++j) {
        input[s].add(j, method.weights[s * stages + j]);
        later[j].add(s, method.weights[s * stages + j]);
      }
    }
  }

  double dense_weight(int s, double u) const {
    double sum = 0.0;
    for (int p = powers - 1; p >= 0; --p) sum = (sum + dense[s * powers + p]) * u;
    return sum;
  }
};

// Steps land on `stop`, where the observations end, and on no other time: whatever is asked inside a step is
// read off its dense output, so that no question changes the steps.
DENOTS_INLINE bool lands(double t, double step, double stop) { return t < stop && step >= stop - t; }

DENOTS_INLINE double step_end(double t, double step, double stop) {
  return lands(t, step, stop) ? stop : t + step;
}

// When the stages of a step are. Before `stop` rounding must not lead beyond it, where the signal may be held
// and its slope zero. Where a state begins anew at the stop (`exact`), the last stage has to stand there to
// the last bit.
class StageTimes {
 public:
  DENOTS_INLINE StageTimes(double t, double step, double stop, bool exact)
      : t_(t),
        step_(step),
        bound_(t < stop ? stop : __builtin_inf()),
        lands_(exact && lands(t, step, stop)) {}

  DENOTS_INLINE double at(double node) const {
    const double time = t_ + node * step_;
    return time < bound_ && !(lands_ && node == 1.0) ? time : bound_;
  }

 private:
  double t_, step_, bound_;
  bool lands_;
};

// Calls work with a number from 1 to 7 as a compile-time constant.
template <int N>
struct Count {
  static constexpr int value = N;
};

template <class Work>
DENOTS_INLINE auto with_count(int count, Work work) {
  switch (count) {
    case 1:
      return work(Count<1>());
    case 2:
      return work(Count<2>());
    case 3:
      return work(Count<3>());
    case 4:
      return work(Count<4>());
    case 5:
      return work(Count<5>());
    case 6:
      return work(Count<6>());
    case 7:
      return work(Count<7>());
    default:
      __builtin_trap();  // bindings let no such number in
  }
}

// out = base + factor * (sum of weighted stages), the factor being one number a lane. In this order
// slopes near the end of the number range overflow however small the step, and the series fails.
template <class Real>
__attribute__((noinline)) void combine(const Terms<Real>& terms, std::int64_t rows,
                                       typename Simd<Real>::V factor, const Real* base, const Real* stages,
                                       std::int64_t stride, Real* out) {
  using V = typename Simd<Real>::V;
  constexpr int lanes = Simd<Real>::lanes;
  with_count(terms.count, [&](auto count) {
    constexpr int N = decltype(count)::value;
    V weight[N];
    const Real* from[N];
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) {
      weight[i] = splat(terms.weight[i]);
      from[i] = stages + terms.stage[i] * stride;
    }
    for (std::int64_t at = 0; at < rows * lanes; at += lanes) {
      V sum = weight[0] * load(from[0] + at);
#pragma GCC unroll 8
      for (int i = 1; i < N; ++i) sum = fma(weight[i], load(from[i] + at), sum);
      store(out + at, fma(factor, sum, load(base + at)));
    }
  });
}

// out = base + sum of all stages, each with a weight for every lane: weight is [stage][lane].
template <class Real>
__attribute__((noinline)) void combine_by_lane(int stages, std::int64_t rows, const Real* weight,
                                               const Real* base, const Real* slopes, std::int64_t stride,
                                               Real* out) {
  using V = typename Simd<Real>::V;
  constexpr int lanes = Simd<Real>::lanes;
  for (std::int64_t at = 0; at < rows * lanes; at += lanes) {
    V sum = {};
    for (int s = 0; s < stages; ++s) sum = fma(load(weight + s * lanes), load(slopes + s * stride + at), sum);
    store(out + at, load(base + at) + sum);
  }
}

// Sum over the state of (error / (atol + rtol max(|h|, |y|)))^2, NaN when y is not finite.
template <class Real>
__attribute__((noinline)) typename Simd<Real>::V squared_error(const Terms<Real>& terms, std::int64_t rows,
                                                               typename Simd<Real>::V dt, double rtol,
                                                               double atol, const Real* h, const Real* y,
                                                               const Real* stages, std::int64_t stride) {
  using V = typename Simd<Real>::V;
  constexpr int lanes = Simd<Real>::lanes;
  const V relative = splat(static_cast<Real>(rtol)), absolute = splat(static_cast<Real>(atol));
  return with_count(terms.count, [&](auto count) {
    constexpr int N = decltype(count)::value;
    V weight[N];
    const Real* from[N];
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) {
      weight[i] = splat(terms.weight[i]);
      from[i] = stages + terms.stage[i] * stride;
    }
    V sum = {}, finite = {};
    for (std::int64_t at = 0; at < rows * lanes; at += lanes) {
      V error = weight[0] * load(from[0] + at);
#pragma GCC unroll 8
      for (int i = 1; i < N; ++i) error = fma(weight[i], load(from[i] + at), error);
      const V before = load(h + at), after = load(y + at);
      const V scaled = dt * error / fma(relative, max(abs(before), abs(after)), absolute);
      sum = fma(scaled, scaled, sum);
      finite = fma(after, V{}, finite);
    }
    return sum + finite;
  });
}

constexpr double shrink = 0.2, grow = 10.0;

inline float power(float x, float y) { return __builtin_powf(x, y); }
inline double power(double x, double y) { return __builtin_pow(x, y); }
inline float root(float x) { return __builtin_sqrtf(x); }
inline double root(double x) { return __builtin_sqrt(x); }
template <class Real>
bool is_finite(Real x) {
  return x - x == Real(0);
}

// How much longer the next step may be.
template <class Real>
double step_ratio(Real error, int order, double safety) {
  const Real floor = static_cast<Real>(1e-30);
  const Real ratio =
      static_cast<Real>(safety) * power(error > floor ? error : floor, Real(-1) / static_cast<Real>(order));
  const double wide = static_cast<double>(ratio);
  return wide < shrink ? shrink : wide > grow ? grow : wide;
}

// Root mean square of x[row] / (atol + rtol |h[row]|) down one lane; x - y where y is given.
template <class Real>
Real lane_norm(std::int64_t rows, const Real* x, const Real* y, const Real* h, double rtol, double atol) {
  constexpr int lanes = Simd<Real>::lanes;
  Real sum = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const Real size = h[row * lanes] < 0 ? -h[row * lanes] : h[row * lanes];
    const Real value = y == nullptr ? x[row * lanes] : x[row * lanes] - y[row * lanes];
    const Real scaled = value / (static_cast<Real>(atol) + static_cast<Real>(rtol) * size);
    sum += scaled * scaled;
  }
  return root(sum / static_cast<Real>(rows));
}

// The step tried first, from the sizes of state and slope.
template <class Real>
Real trial_step(Real size, Real speed) {
  const Real small = static_cast<Real>(1e-5);
  const Real trial = static_cast<Real>(0.01) * size / speed;
  const bool usable = size >= small && speed >= small && is_finite(trial) && trial > 0;
  return usable ? trial : static_cast<Real>(1e-6);
}

// The first step, from the speed at both ends of the trial and the distance between the slopes there.
template <class Real>
Real first_step(Real trial, Real speed, Real change, int order) {
  const Real bend = change / trial;
  const Real fastest = bend > speed ? bend : speed;
  Real ahead;
  if (fastest <= static_cast<Real>(1e-15)) {
    ahead = static_cast<Real>(1e-3) * trial;
    if (ahead < static_cast<Real>(1e-6)) ahead = static_cast<Real>(1e-6);
  } else {
    ahead = power(static_cast<Real>(0.01) / fastest, Real(1) / static_cast<Real>(order));
  }
  if (!(is_finite(bend) && ahead > 0)) ahead = trial;
  const Real furthest = 100 * trial;
  return ahead < furthest ? ahead : furthest;
}

}  // namespace denots::DENOTS_TARGET
