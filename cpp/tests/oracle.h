// The same mathematics in long double, one number at a time.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "denots/solve.h"

namespace denots::check {

using Wide = long double;
using WideVector = std::vector<Wide>;

inline Wide sigmoid(Wide a) { return 1 / (1 + std::exp(-a)); }

// Weights of one GRU, laid out as in Problem with a single row of bias.
struct GruWeights {
  std::int64_t states, channels;
  WideVector weight_hh, bias_hh, weight_in, bias;

  GruWeights(std::int64_t H, std::int64_t C)
      : states(H), channels(C), weight_hh(3 * H * H), bias_hh(3 * H), weight_in(3 * H * C), bias(3 * H) {}

  WideVector slope(Field kind, const WideVector& h, const WideVector& x) const {
    const std::int64_t H = states;
    const Wide mirror = kind == Field::gru_anti ? -1 : 1;
    WideVector u(3 * H), v(3 * H), out(H);
    for (std::int64_t row = 0; row < 3 * H; ++row) {
      u[row] = bias[row];
      v[row] = bias_hh[row];
      for (std::int64_t c = 0; c < channels; ++c) u[row] += weight_in[row * channels + c] * x[c];
      for (std::int64_t k = 0; k < H; ++k) v[row] += weight_hh[row * H + k] * mirror * h[k];
    }
    for (std::int64_t i = 0; i < H; ++i) {
      const Wide r = sigmoid(u[i] + v[i]), z = sigmoid(u[H + i] + v[H + i]);
      const Wide n = std::tanh(u[2 * H + i] + r * v[2 * H + i]);
      out[i] = (1 - z) * n;
      if (kind == Field::gru_none) out[i] += z * h[i];
      if (kind == Field::gru_sync) out[i] += z * h[i] - h[i];
      if (kind == Field::gru_anti) out[i] -= z * h[i];
    }
    return out;
  }
};

// The signal at t: held before the first knot and after the last, a cubic in between. Of knots at
// one time the last one counts from there on.
struct WideSignal {
  std::int64_t channels;
  std::vector<double> times;
  WideVector values, slopes;  // [knots, channels]

  std::int64_t knot_at(double t) const {
    std::int64_t knot = 0;
    for (std::size_t i = 0; i < times.size(); ++i)
      if (times[i] <= t || times[i] == times[0]) knot = static_cast<std::int64_t>(i);
    return knot;
  }

  WideVector at(Wide t, std::int64_t knot) const {
    WideVector x(channels);
    const bool held = knot + 1 == static_cast<std::int64_t>(times.size()) || t <= times[knot];
    const Wide w = held ? Wide(1) : Wide(times[knot + 1]) - times[knot];
    const Wide u = held ? Wide(0) : (t - times[knot]) / w;
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t here = knot * channels + c, next = held ? here : here + channels;
      x[c] = (1 + 2 * u) * (1 - u) * (1 - u) * values[here] + u * u * (3 - 2 * u) * values[next] +
             w * u * (1 - u) * (1 - u) * slopes[here] - w * u * u * (1 - u) * slopes[next];
    }
    return x;
  }
};

// Classical Runge-Kutta from `from` to `to`, `steps` to each stretch without a knot inside.
inline WideVector integrate(Field kind, const GruWeights& gru, const WideSignal& signal, double from,
                            double to, WideVector h, int steps) {
  const std::size_t H = h.size();
  while (from < to) {
    double stop = to;
    for (const double knot : signal.times)
      if (knot > from && knot < stop) stop = knot;
    const std::int64_t knot = signal.knot_at(from);
    const Wide dt = (Wide(stop) - from) / steps;
    const auto moved = [&](const WideVector& k, Wide by) {
      WideVector y = h;
      for (std::size_t i = 0; i < H; ++i) y[i] += by * k[i];
      return y;
    };
    for (int s = 0; s < steps; ++s) {
      const Wide t = from + s * dt;
      const WideVector middle = signal.at(t + dt / 2, knot);
      const WideVector k1 = gru.slope(kind, h, signal.at(t, knot));
      const WideVector k2 = gru.slope(kind, moved(k1, dt / 2), middle);
      const WideVector k3 = gru.slope(kind, moved(k2, dt / 2), middle);
      const WideVector k4 = gru.slope(kind, moved(k3, dt), signal.at(t + dt, knot));
      for (std::size_t i = 0; i < H; ++i) h[i] += dt / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
    from = stop;
  }
  return h;
}

}  // namespace denots::check
