// Layers along rows against plain loops in long double, and their gradients against differences, on every
// target that runs here.
#include "denots/layers.h"

#include "check.h"

namespace denots::check {
namespace {

using Wide = long double;
using Numbers = std::vector<double>;

struct Ragged {
  std::vector<std::int64_t> offsets{0};

  Ragged(Random& random, std::int64_t series, std::int64_t shortest, std::int64_t longest) {
    for (std::int64_t i = 0; i < series; ++i)
      offsets.push_back(offsets.back() + random.integer(shortest, longest));
  }
  std::int64_t rows() const { return offsets.back(); }
  std::int64_t series() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
};

Numbers numbers(Random& random, std::int64_t count, double low = -1.0, double high = 1.0) {
  Numbers made(static_cast<std::size_t>(count));
  for (double& number : made) number = random.uniform(low, high);
  return made;
}

Wide sigmoid(Wide x) { return 1 / (1 + std::exp(-x)); }

// `leaves` are what `layer` reads and has gradients for, and `to` where these are written.
template <class Layer>
void judge(const char* name, const Layer& layer, const std::vector<Wide>& wanted, Numbers& told,
           const typename Layer::Gradient& gradient, const std::vector<Numbers*>& leaves,
           const std::vector<Numbers*>& to, Random& random) {
  for (const Target target : widest_first) {
    if (!supported(target)) continue;
    Numbers found(wanted.size(), 7.0), again(wanted.size());
    run_layer(layer, found.data(), 1, target);
    run_layer(layer, again.data(), 3, target);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      expect_near(found[i], wanted[i], 1e-9L, name);
      expect(found[i] == again[i], "%s: threads change number %zu", name, i);
    }
    for (Numbers* each : to) std::fill(each->begin(), each->end(), 0.0);
    pull_layer(layer, gradient, 2, target);
    const auto total = [&](double& number, double value) {
      const double before = number;
      number = value;
      run_layer(layer, again.data(), 1, target);
      number = before;
      Wide sum = 0;
      for (std::size_t i = 0; i < again.size(); ++i) sum += static_cast<Wide>(again[i]) * told[i];
      return sum;
    };
    constexpr double step = 1e-4;
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf)
      for (int look = 0; look < 12 && !leaves[leaf]->empty(); ++look) {
        const auto i =
            static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(leaves[leaf]->size()) - 1));
        double& number = (*leaves[leaf])[i];
        const Wide slope = (total(number, number + step) - total(number, number - step)) / (2 * step);
        expect_near((*to[leaf])[i], slope, 1e-5L * (1 + std::fabs(slope)), name);
      }
  }
}

void test_feed_forward(Random& random, std::int64_t rows, std::int64_t size, std::int64_t width) {
  Numbers x = numbers(random, rows * size), inner = numbers(random, width * size),
          bias = numbers(random, width), outer = numbers(random, size * width),
          told = numbers(random, rows * size);
  std::vector<Wide> wanted(static_cast<std::size_t>(rows * size), 0);
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t unit = 0; unit < width; ++unit) {
      Wide sum = bias[unit];
      for (std::int64_t k = 0; k < size; ++k)
        sum += static_cast<Wide>(inner[unit * size + k]) * x[row * size + k];
      const Wide value = sum * std::erfc(-sum / std::sqrt(2.0L)) / 2;
      for (std::int64_t k = 0; k < size; ++k) wanted[row * size + k] += value * outer[k * width + unit];
    }
  Numbers to_x(x.size()), to_inner(inner.size()), to_bias(bias.size()), to_outer(outer.size());
  const FeedForward<double> layer{rows, size, width, x.data(), inner.data(), bias.data(), outer.data(), 0, 0};
  judge("feed forward", layer, wanted, told,
        {told.data(), to_x.data(), to_inner.data(), to_bias.data(), to_outer.data()},
        {&x, &inner, &bias, &outer}, {&to_x, &to_inner, &to_bias, &to_outer}, random);
}

void test_attention(Random& random, std::int64_t heads, std::int64_t width) {
  const std::int64_t size = heads * width;
  const Ragged rows(random, 5, 1, 40), asked(random, 5, 0, 3);
  Numbers queries = numbers(random, asked.rows() * size), keys = numbers(random, rows.rows() * size),
          values = numbers(random, rows.rows() * size), told = numbers(random, asked.rows() * size);
  std::vector<Wide> wanted(queries.size(), 0);
  for (std::int64_t i = 0; i < rows.series(); ++i)
    for (std::int64_t q = asked.offsets[i]; q < asked.offsets[i + 1]; ++q)
      for (std::int64_t head = 0; head < heads; ++head) {
        const std::int64_t column = head * width;
        Wide total = 0;
        std::vector<Wide> sums(static_cast<std::size_t>(width), 0);
        for (std::int64_t j = rows.offsets[i]; j < rows.offsets[i + 1]; ++j) {
          Wide score = 0;
          for (std::int64_t k = column; k < column + width; ++k)
            score += static_cast<Wide>(queries[q * size + k]) * keys[j * size + k];
          const Wide share = std::exp(score / std::sqrt(static_cast<Wide>(width)));
          total += share;
          for (std::int64_t k = 0; k < width; ++k) sums[k] += share * values[j * size + column + k];
        }
        for (std::int64_t k = 0; k < width; ++k) wanted[q * size + column + k] = sums[k] / total;
      }
  Numbers to_queries(queries.size()), to_keys(keys.size()), to_values(values.size());
  const Attention<double> layer{rows.series(),  rows.offsets.data(), asked.offsets.data(), size, heads,
                                queries.data(), keys.data(),         values.data(),        0,    0};
  judge("attention", layer, wanted, told, {told.data(), to_queries.data(), to_keys.data(), to_values.data()},
        {&queries, &keys, &values}, {&to_queries, &to_keys, &to_values}, random);
}

void test_state_space(Random& random, std::int64_t heads, std::int64_t head, std::int64_t state,
                      std::int64_t taps) {
  const std::int64_t inner = heads * head, smoothed = inner + 2 * state, wide = inner + smoothed;
  const Ragged ragged(random, 5, 0, 20);
  const std::int64_t rows = ragged.rows();
  Numbers projected = numbers(random, rows * wide), step = numbers(random, rows * heads, 0.0, 0.5),
          decay = numbers(random, rows * heads, 0.0, 1.0), kernel = numbers(random, smoothed * taps),
          bias = numbers(random, smoothed), skip = numbers(random, heads), norm = numbers(random, inner),
          told = numbers(random, rows * inner);
  constexpr double epsilon = 1e-5;
  std::vector<Wide> wanted(static_cast<std::size_t>(rows * inner));
  for (std::int64_t i = 0; i < ragged.series(); ++i) {
    std::vector<Wide> states(static_cast<std::size_t>(inner * state), 0);
    for (std::int64_t t = ragged.offsets[i]; t < ragged.offsets[i + 1]; ++t) {
      std::vector<Wide> smooth(static_cast<std::size_t>(smoothed));
      for (std::int64_t c = 0; c < smoothed; ++c) {
        Wide sum = bias[c];
        for (std::int64_t k = 0; k < taps; ++k)
          if (t - k >= ragged.offsets[i])
            sum += static_cast<Wide>(kernel[c * taps + taps - 1 - k]) * projected[(t - k) * wide + inner + c];
        smooth[c] = sum * sigmoid(sum);
      }
      Wide squares = 0;
      for (std::int64_t c = 0; c < inner; ++c) {
        const std::int64_t h = c / head;
        Wide y = skip[h] * smooth[c];
        for (std::int64_t n = 0; n < state; ++n) {
          Wide& s = states[c * state + n];
          s = decay[t * heads + h] * s + step[t * heads + h] * smooth[c] * smooth[inner + n];
          y += s * smooth[inner + state + n];
        }
        const Wide gate = projected[t * wide + c], z = y * gate * sigmoid(gate);
        wanted[t * inner + c] = z * norm[c];
        squares += z * z;
      }
      for (std::int64_t c = 0; c < inner; ++c) wanted[t * inner + c] /= std::sqrt(squares / inner + epsilon);
    }
  }
  Numbers to_projected(projected.size()), to_step(step.size()), to_decay(decay.size()),
      to_kernel(kernel.size()), to_bias(bias.size()), to_skip(skip.size()), to_norm(norm.size());
  const StateSpace<double> layer{ragged.series(),
                                 ragged.offsets.data(),
                                 inner,
                                 state,
                                 heads,
                                 taps,
                                 projected.data(),
                                 step.data(),
                                 decay.data(),
                                 kernel.data(),
                                 bias.data(),
                                 skip.data(),
                                 norm.data(),
                                 epsilon};
  judge("state space", layer, wanted, told,
        {told.data(), to_projected.data(), to_step.data(), to_decay.data(), to_kernel.data(), to_bias.data(),
         to_skip.data(), to_norm.data()},
        {&projected, &step, &decay, &kernel, &bias, &skip, &norm},
        {&to_projected, &to_step, &to_decay, &to_kernel, &to_bias, &to_skip, &to_norm}, random);
}

void test_gru(Random& random, std::int64_t series, std::int64_t channels, std::int64_t states) {
  const Ragged ragged(random, series, 0, 20);
  const std::int64_t rows = ragged.rows();
  std::vector<std::int64_t> order;
  for (std::int64_t i = series; i-- > 0;) order.push_back(i);
  Numbers x = numbers(random, rows * channels), h0 = numbers(random, series * states),
          in = numbers(random, 3 * states * channels), hh = numbers(random, 3 * states * states),
          bias_in = numbers(random, 3 * states), bias_hh = numbers(random, 3 * states),
          told = numbers(random, rows * states);
  std::vector<Wide> wanted(told.size());
  for (std::int64_t i = 0; i < series; ++i) {
    std::vector<Wide> h(h0.begin() + i * states, h0.begin() + (i + 1) * states);
    for (std::int64_t t = ragged.offsets[i]; t < ragged.offsets[i + 1]; ++t) {
      std::vector<Wide> u(static_cast<std::size_t>(3 * states)), v(u.size()), next(h.size());
      for (std::int64_t row = 0; row < 3 * states; ++row) {
        u[row] = bias_in[row], v[row] = bias_hh[row];
        for (std::int64_t c = 0; c < channels; ++c)
          u[row] += static_cast<Wide>(in[row * channels + c]) * x[t * channels + c];
        for (std::int64_t k = 0; k < states; ++k) v[row] += hh[row * states + k] * h[k];
      }
      for (std::int64_t k = 0; k < states; ++k) {
        const Wide r = sigmoid(u[k] + v[k]), z = sigmoid(u[states + k] + v[states + k]);
        next[k] = (1 - z) * std::tanh(u[2 * states + k] + r * v[2 * states + k]) + z * h[k];
        wanted[t * states + k] = next[k];
      }
      h = next;
    }
  }
  Numbers to_h0(h0.size()), to_in(in.size()), to_hh(hh.size()), to_bias_in(bias_in.size()),
      to_bias_hh(bias_hh.size());
  const GruRows<double> layer{
      series,    ragged.offsets.data(), order.data(),  channels, states, x.data(), h0.data(), in.data(),
      hh.data(), bias_in.data(),        bias_hh.data()};
  judge("gru", layer, wanted, told,
        {told.data(), to_h0.data(), to_in.data(), to_hh.data(), to_bias_in.data(), to_bias_hh.data()},
        {&h0, &in, &hh, &bias_in, &bias_hh}, {&to_h0, &to_in, &to_hh, &to_bias_in, &to_bias_hh}, random);
}

}  // namespace
}  // namespace denots::check

int main() {
  using namespace denots::check;
  Random random(1);
  for (const std::int64_t rows : {1, 5, 150}) test_feed_forward(random, rows, 6, 70);
  test_feed_forward(random, 20, 16, 64);
  for (const std::int64_t width : {1, 3, 4}) test_attention(random, 8, width);
  test_state_space(random, 8, 8, 16, 4), test_state_space(random, 3, 8, 5, 2),
      test_state_space(random, 2, 3, 4, 1);
  test_gru(random, 1, 1, 3), test_gru(random, 19, 5, 8), test_gru(random, 40, 9, 17);
  return verdict("layers_test");
}
