// The same mathematics in long double, one number at a time.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "denots/solve.h"

namespace denots::check {

using Wide = long double;
using WideVector = std::vector<Wide>;

inline Wide sigmoid(Wide a) { return 1 / (1 + std::exp(-a)); }

// Weights of one field, laid out as in Problem with a single row of bias.
struct FieldWeights {
  std::string kind;
  std::int64_t states, channels;
  WideVector weight_hh, bias_hh, weight_in, bias, weight_out, bias_out;

  FieldWeights(std::string field, const Rows& rows, std::int64_t H, std::int64_t C)
      : kind(std::move(field)), states(H), channels(C) {
    weight_hh.resize(rows.hidden * H), bias_hh.resize(rows.hidden);
    weight_in.resize(rows.drive * C), bias.resize(rows.drive);
    weight_out.resize(rows.outer * H), bias_out.resize(rows.outer);
  }

  static WideVector affine(const WideVector& weight, const WideVector& bias, const WideVector& in) {
    WideVector out = bias;
    for (std::size_t row = 0; row < bias.size(); ++row)
      for (std::size_t k = 0; k < in.size(); ++k) out[row] += weight[row * in.size() + k] * in[k];
    return out;
  }

  WideVector slope(const WideVector& h, const WideVector& x) const {
    if (kind == "cde") return controlled_slope(h, x);
    if (kind == "mlp-tanh" || kind == "mlp-relu") return mlp_slope(h, x);
    if (kind == "gru-none" || kind == "gru-sync" || kind == "gru-anti") return gru_slope(h, x);
    throw std::invalid_argument("no judge for the field " + kind);
  }

  bool has_kinks() const { return kind == "mlp-relu" || kind == "cde"; }

  // Whether a ReLU is about to switch, where central differences mean nothing.
  bool near_kink(const WideVector& h, const WideVector& x) const {
    if (!has_kinks()) return false;
    WideVector hidden = affine(weight_hh, bias_hh, h);
    const WideVector u = kind == "cde" ? WideVector(hidden.size()) : affine(weight_in, bias, x);
    for (std::size_t i = 0; i < hidden.size(); ++i)
      if (std::fabs(hidden[i] + u[i]) < 1e-3L) return true;
    return false;
  }

  WideVector gru_slope(const WideVector& h, const WideVector& x) const {
    const std::int64_t H = states;
    WideVector shown = h, out(H);
    if (kind == "gru-anti")
      for (Wide& unit : shown) unit = -unit;
    const WideVector u = affine(weight_in, bias, x), v = affine(weight_hh, bias_hh, shown);
    for (std::int64_t i = 0; i < H; ++i) {
      const Wide r = sigmoid(u[i] + v[i]), z = sigmoid(u[H + i] + v[H + i]);
      const Wide n = std::tanh(u[2 * H + i] + r * v[2 * H + i]);
      out[i] = (1 - z) * n;
      if (kind == "gru-none") out[i] += z * h[i];
      if (kind == "gru-sync") out[i] += z * h[i] - h[i];
      if (kind == "gru-anti") out[i] -= z * h[i];
    }
    return out;
  }

  WideVector mlp_slope(const WideVector& h, const WideVector& x) const {
    const bool bounded = kind == "mlp-tanh";
    const WideVector u = affine(weight_in, bias, x);
    WideVector hidden = affine(weight_hh, bias_hh, h);
    for (std::size_t i = 0; i < hidden.size(); ++i) {
      const Wide a = hidden[i] + u[i];
      hidden[i] = bounded ? std::tanh(a) : a > 0 ? a : 0;
    }
    WideVector out = affine(weight_out, bias_out, hidden);
    if (bounded)
      for (Wide& unit : out) unit = std::tanh(unit);
    return out;
  }

  WideVector controlled_slope(const WideVector& h, const WideVector& x) const {
    WideVector hidden = affine(weight_hh, bias_hh, h), out(states);
    for (Wide& unit : hidden) unit = unit > 0 ? unit : 0;
    const WideVector matrix = affine(weight_out, bias_out, hidden);
    for (std::int64_t i = 0; i < states; ++i)
      for (std::int64_t c = 0; c < channels; ++c) out[i] += std::tanh(matrix[i * channels + c]) * x[c];
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

  // Its derivative: zero where it is held, at the last knot the slope that led there.
  WideVector slope_at(Wide t, std::int64_t knot) const {
    WideVector x(channels);
    const bool last = knot + 1 == static_cast<std::int64_t>(times.size());
    if (t < times[knot] || (last && t > times[knot])) return x;
    const Wide w = last ? Wide(1) : Wide(times[knot + 1]) - times[knot], u = last ? 0 : (t - times[knot]) / w;
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t here = knot * channels + c, next = last ? here : here + channels;
      x[c] = 6 * u * (1 - u) * (values[next] - values[here]) / w + (1 - u) * (1 - 3 * u) * slopes[here] +
             u * (3 * u - 2) * slopes[next];
    }
    return x;
  }

  // What a field reads on a stretch where the signal is held, or not, including both its ends.
  WideVector read(const std::string& kind, Wide t, std::int64_t knot, bool held) const {
    if (kind != "cde") return at(t, knot);
    return held ? WideVector(channels) : slope_at(t, knot);
  }
};

// Classical Runge-Kutta from `from` to `to`, `steps` to each stretch without a knot inside.
inline WideVector integrate(const FieldWeights& field, const WideSignal& signal, double from, double to,
                            WideVector h, int steps) {
  const std::size_t H = h.size();
  while (from < to) {
    double stop = to;
    for (const double knot : signal.times)
      if (knot > from && knot < stop) stop = knot;
    const std::int64_t knot = signal.knot_at(from);
    const bool held = stop <= signal.times.front() || from >= signal.times.back();
    const Wide dt = (Wide(stop) - from) / steps;
    const auto moved = [&](const WideVector& k, Wide by) {
      WideVector y = h;
      for (std::size_t i = 0; i < H; ++i) y[i] += by * k[i];
      return y;
    };
    for (int s = 0; s < steps; ++s) {
      const Wide t = from + s * dt;
      const WideVector middle = signal.read(field.kind, t + dt / 2, knot, held);
      const WideVector k1 = field.slope(h, signal.read(field.kind, t, knot, held));
      const WideVector k2 = field.slope(moved(k1, dt / 2), middle);
      const WideVector k3 = field.slope(moved(k2, dt / 2), middle);
      const WideVector k4 = field.slope(moved(k3, dt), signal.read(field.kind, t + dt, knot, held));
      for (std::size_t i = 0; i < H; ++i) h[i] += dt / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
    from = stop;
  }
  return h;
}

}  // namespace denots::check
