#include "bind_layers.h"

#include <nanobind/ndarray.h>

#include <string>

#include "arguments.h"
#include "denots/layers.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace denots::arguments;

namespace {

using Counts = Vector<const std::int64_t>;

template <class Array>
std::int64_t size_of(const Array& array, std::size_t axis) {
  return static_cast<std::int64_t>(array.shape(axis));
}

template <class Layer>
void run(const Layer& layer, typename Layer::Number* found, int threads) {
  const denots::Target target = denots::choose_target().target;
  nb::gil_scoped_release release;
  denots::run_layer(layer, found, threads, target);
}

template <class Layer>
void pull(const Layer& layer, const typename Layer::Gradient& gradient, int threads) {
  const denots::Target target = denots::choose_target().target;
  nb::gil_scoped_release release;
  denots::pull_layer(layer, gradient, threads, target);
}

void expect_dropped(std::uint32_t dropped) {
  require(dropped < 65536, "dropped: expected less than 65536, got " + std::to_string(dropped) + ".");
}

template <class Real>
denots::Attention<Real> attention_of(const Counts& offsets, const Counts& asked, std::int64_t heads,
                                     Matrix<const Real> queries, Matrix<const Real> keys,
                                     Matrix<const Real> values, std::uint32_t dropped, std::uint32_t seed,
                                     int threads) {
  const std::int64_t size = size_of(keys, 1), rows = size_of(keys, 0), series = size_of(offsets, 0) - 1;
  require(heads >= 1 && size >= heads && size % heads == 0, "heads: expected to share the columns of keys.");
  expect_offsets(offsets, rows);
  expect_offsets(asked, size_of(queries, 0));
  expect(asked, "asked", {series + 1});
  for (std::int64_t i = 0; i < series; ++i)
    require(offsets.data()[i] < offsets.data()[i + 1], "offsets: every series needs a row.");
  expect(queries, "queries", {size_of(queries, 0), size});
  expect(values, "values", {rows, size});
  expect_dropped(dropped);
  expect_threads(threads);
  return {series,         offsets.data(), asked.data(),  size,    heads,
          queries.data(), keys.data(),    values.data(), dropped, seed};
}

template <class Real>
void attention(Counts offsets, Counts asked, std::int64_t heads, Matrix<const Real> queries,
               Matrix<const Real> keys, Matrix<const Real> values, std::uint32_t dropped, std::uint32_t seed,
               Matrix<Real> found, int threads) {
  const auto layer = attention_of<Real>(offsets, asked, heads, queries, keys, values, dropped, seed, threads);
  expect(found, "found", {size_of(queries, 0), layer.size});
  run(layer, found.data(), threads);
}

template <class Real>
void pull_attention(Counts offsets, Counts asked, std::int64_t heads, Matrix<const Real> queries,
                    Matrix<const Real> keys, Matrix<const Real> values, std::uint32_t dropped,
                    std::uint32_t seed, Matrix<const Real> gradient, Matrix<Real> to_queries,
                    Matrix<Real> to_keys, Matrix<Real> to_values, int threads) {
  const auto layer = attention_of<Real>(offsets, asked, heads, queries, keys, values, dropped, seed, threads);
  const std::int64_t questions = size_of(queries, 0), rows = size_of(keys, 0);
  expect(gradient, "gradient", {questions, layer.size});
  expect(to_queries, "to_queries", {questions, layer.size});
  expect(to_keys, "to_keys", {rows, layer.size});
  expect(to_values, "to_values", {rows, layer.size});
  pull(layer, {gradient.data(), to_queries.data(), to_keys.data(), to_values.data()}, threads);
}

template <class Real>
denots::FeedForward<Real> feed_forward_of(Matrix<const Real> x, Matrix<const Real> inner,
                                          Vector<const Real> inner_bias, Matrix<const Real> outer,
                                          std::uint32_t dropped, std::uint32_t seed, int threads) {
  const std::int64_t size = size_of(x, 1), width = size_of(inner, 0);
  require(size >= 1 && width >= 1, "inner: expected at least one row and one column.");
  expect(inner, "inner", {width, size});
  expect(inner_bias, "inner_bias", {width});
  expect(outer, "outer", {size, width});
  expect_dropped(dropped);
  expect_threads(threads);
  return {size_of(x, 0), size, width, x.data(), inner.data(), inner_bias.data(), outer.data(), dropped, seed};
}

template <class Real>
void feed_forward(Matrix<const Real> x, Matrix<const Real> inner, Vector<const Real> inner_bias,
                  Matrix<const Real> outer, std::uint32_t dropped, std::uint32_t seed, Matrix<Real> found,
                  int threads) {
  const auto layer = feed_forward_of<Real>(x, inner, inner_bias, outer, dropped, seed, threads);
  expect(found, "found", {layer.rows, layer.size});
  run(layer, found.data(), threads);
}

template <class Real>
void pull_feed_forward(Matrix<const Real> x, Matrix<const Real> inner, Vector<const Real> inner_bias,
                       Matrix<const Real> outer, std::uint32_t dropped, std::uint32_t seed,
                       Matrix<const Real> gradient, Matrix<Real> to_x, Matrix<Real> to_inner,
                       Vector<Real> to_inner_bias, Matrix<Real> to_outer, int threads) {
  const auto layer = feed_forward_of<Real>(x, inner, inner_bias, outer, dropped, seed, threads);
  expect(gradient, "gradient", {layer.rows, layer.size});
  expect(to_x, "to_x", {layer.rows, layer.size});
  expect(to_inner, "to_inner", {layer.width, layer.size});
  expect(to_inner_bias, "to_inner_bias", {layer.width});
  expect(to_outer, "to_outer", {layer.size, layer.width});
  pull(layer, {gradient.data(), to_x.data(), to_inner.data(), to_inner_bias.data(), to_outer.data()},
       threads);
}

template <class Real>
denots::StateSpace<Real> state_space_of(const Counts& offsets, Matrix<const Real> projected,
                                        Matrix<const Real> step, Matrix<const Real> decay,
                                        Matrix<const Real> kernel, Vector<const Real> kernel_bias,
                                        Vector<const Real> skip, Vector<const Real> norm, double epsilon,
                                        int threads) {
  const std::int64_t rows = size_of(projected, 0), inner = size_of(norm, 0), heads = size_of(skip, 0),
                     smoothed = size_of(kernel, 0), taps = size_of(kernel, 1), state = (smoothed - inner) / 2;
  require(heads >= 1 && inner >= 1 && inner % heads == 0, "norm: expected as many entries for each head.");
  require(smoothed > inner && (smoothed - inner) % 2 == 0 && taps >= 1,
          "kernel: expected a row for each channel of x, b and c, and at least one tap.");
  expect_offsets(offsets, rows);
  expect(projected, "projected", {rows, inner + smoothed});
  expect(step, "step", {rows, heads});
  expect(decay, "decay", {rows, heads});
  expect(kernel_bias, "kernel_bias", {smoothed});
  expect_threads(threads);
  return {size_of(offsets, 0) - 1,
          offsets.data(),
          inner,
          state,
          heads,
          taps,
          projected.data(),
          step.data(),
          decay.data(),
          kernel.data(),
          kernel_bias.data(),
          skip.data(),
          norm.data(),
          static_cast<Real>(epsilon)};
}

template <class Real>
void state_space(Counts offsets, Matrix<const Real> projected, Matrix<const Real> step,
                 Matrix<const Real> decay, Matrix<const Real> kernel, Vector<const Real> kernel_bias,
                 Vector<const Real> skip, Vector<const Real> norm, double epsilon, Matrix<Real> found,
                 int threads) {
  const auto mixer = state_space_of<Real>(offsets, projected, step, decay, kernel, kernel_bias, skip, norm,
                                          epsilon, threads);
  expect(found, "found", {size_of(projected, 0), mixer.inner});
  run(mixer, found.data(), threads);
}

template <class Real>
void pull_state_space(Counts offsets, Matrix<const Real> projected, Matrix<const Real> step,
                      Matrix<const Real> decay, Matrix<const Real> kernel, Vector<const Real> kernel_bias,
                      Vector<const Real> skip, Vector<const Real> norm, double epsilon,
                      Matrix<const Real> gradient, Matrix<Real> to_projected, Matrix<Real> to_step,
                      Matrix<Real> to_decay, Matrix<Real> to_kernel, Vector<Real> to_kernel_bias,
                      Vector<Real> to_skip, Vector<Real> to_norm, int threads) {
  const auto mixer = state_space_of<Real>(offsets, projected, step, decay, kernel, kernel_bias, skip, norm,
                                          epsilon, threads);
  const std::int64_t rows = size_of(projected, 0);
  expect(gradient, "gradient", {rows, mixer.inner});
  expect(to_projected, "to_projected", {rows, mixer.width()});
  expect(to_step, "to_step", {rows, mixer.heads});
  expect(to_decay, "to_decay", {rows, mixer.heads});
  expect(to_kernel, "to_kernel", {mixer.smoothed(), mixer.taps});
  expect(to_kernel_bias, "to_kernel_bias", {mixer.smoothed()});
  expect(to_skip, "to_skip", {mixer.heads});
  expect(to_norm, "to_norm", {mixer.inner});
  pull(mixer,
       {gradient.data(), to_projected.data(), to_step.data(), to_decay.data(), to_kernel.data(),
        to_kernel_bias.data(), to_skip.data(), to_norm.data()},
       threads);
}

template <class Real>
denots::GruRows<Real> gru_of(const Counts& offsets, const Counts& order, Matrix<const Real> x,
                             Matrix<const Real> h0, Matrix<const Real> weight_in,
                             Matrix<const Real> weight_hh, Vector<const Real> bias_in,
                             Vector<const Real> bias_hh, int threads) {
  const std::int64_t channels = size_of(x, 1), series = size_of(h0, 0), states = size_of(h0, 1);
  require(channels >= 1 && states >= 1, "h0: expected at least one state, and one channel of x.");
  expect_offsets(offsets, size_of(x, 0));
  expect(offsets, "offsets", {series + 1});
  expect(order, "order", {series});
  for (std::int64_t i = 0; i < series; ++i)
    require(order.data()[i] >= 0 && order.data()[i] < series, "order: there is no such series.");
  expect(weight_in, "weight_in", {3 * states, channels});
  expect(weight_hh, "weight_hh", {3 * states, states});
  expect(bias_in, "bias_in", {3 * states});
  expect(bias_hh, "bias_hh", {3 * states});
  expect_threads(threads);
  return {series,    offsets.data(),   order.data(),     channels,       states,        x.data(),
          h0.data(), weight_in.data(), weight_hh.data(), bias_in.data(), bias_hh.data()};
}

template <class Real>
void gru(Counts offsets, Counts order, Matrix<const Real> x, Matrix<const Real> h0,
         Matrix<const Real> weight_in, Matrix<const Real> weight_hh, Vector<const Real> bias_in,
         Vector<const Real> bias_hh, Matrix<Real> found, int threads) {
  const auto layer = gru_of<Real>(offsets, order, x, h0, weight_in, weight_hh, bias_in, bias_hh, threads);
  expect(found, "found", {size_of(x, 0), layer.states});
  run(layer, found.data(), threads);
}

template <class Real>
void pull_gru(Counts offsets, Counts order, Matrix<const Real> x, Matrix<const Real> h0,
              Matrix<const Real> weight_in, Matrix<const Real> weight_hh, Vector<const Real> bias_in,
              Vector<const Real> bias_hh, Matrix<const Real> gradient, Matrix<Real> to_h0,
              Matrix<Real> to_weight_in, Matrix<Real> to_weight_hh, Vector<Real> to_bias_in,
              Vector<Real> to_bias_hh, int threads) {
  const auto layer = gru_of<Real>(offsets, order, x, h0, weight_in, weight_hh, bias_in, bias_hh, threads);
  expect(gradient, "gradient", {size_of(x, 0), layer.states});
  expect(to_h0, "to_h0", {layer.series, layer.states});
  expect(to_weight_in, "to_weight_in", {3 * layer.states, layer.channels});
  expect(to_weight_hh, "to_weight_hh", {3 * layer.states, layer.states});
  expect(to_bias_in, "to_bias_in", {3 * layer.states});
  expect(to_bias_hh, "to_bias_hh", {3 * layer.states});
  pull(layer,
       {gradient.data(), to_h0.data(), to_weight_in.data(), to_weight_hh.data(), to_bias_in.data(),
        to_bias_hh.data()},
       threads);
}

template <class Real>
void bind(nb::module_& m) {
  m.def("attention", &::attention<Real>, nb::kw_only(), "offsets"_a.noconvert(), "asked"_a.noconvert(),
        "heads"_a, "queries"_a.noconvert(), "keys"_a.noconvert(), "values"_a.noconvert(), "dropped"_a,
        "seed"_a, "found"_a.noconvert(), "threads"_a);
  m.def("pull_attention", &::pull_attention<Real>, nb::kw_only(), "offsets"_a.noconvert(),
        "asked"_a.noconvert(), "heads"_a, "queries"_a.noconvert(), "keys"_a.noconvert(),
        "values"_a.noconvert(), "dropped"_a, "seed"_a, "gradient"_a.noconvert(), "to_queries"_a.noconvert(),
        "to_keys"_a.noconvert(), "to_values"_a.noconvert(), "threads"_a);
  m.def("feed_forward", &::feed_forward<Real>, nb::kw_only(), "x"_a.noconvert(), "inner"_a.noconvert(),
        "inner_bias"_a.noconvert(), "outer"_a.noconvert(), "dropped"_a, "seed"_a, "found"_a.noconvert(),
        "threads"_a);
  m.def("pull_feed_forward", &::pull_feed_forward<Real>, nb::kw_only(), "x"_a.noconvert(),
        "inner"_a.noconvert(), "inner_bias"_a.noconvert(), "outer"_a.noconvert(), "dropped"_a, "seed"_a,
        "gradient"_a.noconvert(), "to_x"_a.noconvert(), "to_inner"_a.noconvert(),
        "to_inner_bias"_a.noconvert(), "to_outer"_a.noconvert(), "threads"_a);
  m.def("state_space", &::state_space<Real>, nb::kw_only(), "offsets"_a.noconvert(),
        "projected"_a.noconvert(), "step"_a.noconvert(), "decay"_a.noconvert(), "kernel"_a.noconvert(),
        "kernel_bias"_a.noconvert(), "skip"_a.noconvert(), "norm"_a.noconvert(), "epsilon"_a,
        "found"_a.noconvert(), "threads"_a);
  m.def("pull_state_space", &::pull_state_space<Real>, nb::kw_only(), "offsets"_a.noconvert(),
        "projected"_a.noconvert(), "step"_a.noconvert(), "decay"_a.noconvert(), "kernel"_a.noconvert(),
        "kernel_bias"_a.noconvert(), "skip"_a.noconvert(), "norm"_a.noconvert(), "epsilon"_a,
        "gradient"_a.noconvert(), "to_projected"_a.noconvert(), "to_step"_a.noconvert(),
        "to_decay"_a.noconvert(), "to_kernel"_a.noconvert(), "to_kernel_bias"_a.noconvert(),
        "to_skip"_a.noconvert(), "to_norm"_a.noconvert(), "threads"_a);
  m.def("gru", &::gru<Real>, nb::kw_only(), "offsets"_a.noconvert(), "order"_a.noconvert(), "x"_a.noconvert(),
        "h0"_a.noconvert(), "weight_in"_a.noconvert(), "weight_hh"_a.noconvert(), "bias_in"_a.noconvert(),
        "bias_hh"_a.noconvert(), "found"_a.noconvert(), "threads"_a);
  m.def("pull_gru", &::pull_gru<Real>, nb::kw_only(), "offsets"_a.noconvert(), "order"_a.noconvert(),
        "x"_a.noconvert(), "h0"_a.noconvert(), "weight_in"_a.noconvert(), "weight_hh"_a.noconvert(),
        "bias_in"_a.noconvert(), "bias_hh"_a.noconvert(), "gradient"_a.noconvert(), "to_h0"_a.noconvert(),
        "to_weight_in"_a.noconvert(), "to_weight_hh"_a.noconvert(), "to_bias_in"_a.noconvert(),
        "to_bias_hh"_a.noconvert(), "threads"_a);
}

}  // namespace

void denots::bind_layers(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}
