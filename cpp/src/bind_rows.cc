#include "bind_rows.h"

#include <nanobind/ndarray.h>

#include <string>

#include "arguments.h"
#include "denots/boosted_trees.h"
#include "denots/rows.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace denots::arguments;

namespace {

template <class Real>
void linear_rows(Matrix<const Real> x, Matrix<const Real> weight, Matrix<const Real> bias, Matrix<Real> found,
                 int threads) {
  const auto rows = static_cast<std::int64_t>(x.shape(0)), inputs = static_cast<std::int64_t>(x.shape(1)),
             outputs = static_cast<std::int64_t>(weight.shape(0));
  expect(weight, "weight", {outputs, inputs});
  const bool own_bias = bias.shape(0) != 1;
  expect(bias, "bias", {own_bias ? rows : 1, outputs});
  expect(found, "found", {rows, outputs});
  expect_threads(threads);
  nb::gil_scoped_release release;
  denots::linear_rows<Real>(rows, inputs, outputs, x.data(), weight.data(), bias.data(), own_bias,
                            found.data(), threads);
}

void softmax_rows(Matrix<const double> logits, Matrix<double> shares) {
  const auto rows = static_cast<std::int64_t>(logits.shape(0)),
             classes = static_cast<std::int64_t>(logits.shape(1));
  require(classes >= 1, "logits: expected at least one class.");
  expect(shares, "shares", {rows, classes});
  nb::gil_scoped_release release;
  denots::softmax_rows(rows, classes, logits.data(), shares.data());
}

template <class Real>
void sum_trees(Vector<const std::int64_t> nodes, Vector<const std::int64_t> leaves,
               Vector<const std::int32_t> feature, Vector<const double> threshold,
               Vector<const std::uint8_t> decision, Vector<const std::int32_t> left,
               Vector<const std::int32_t> right, Vector<const double> value, Matrix<const Real> table,
               Matrix<double> sums, int threads) {
  const auto trees = static_cast<std::int64_t>(nodes.shape(0)) - 1,
             all = static_cast<std::int64_t>(threshold.shape(0)),
             rows = static_cast<std::int64_t>(table.shape(0)),
             columns = static_cast<std::int64_t>(table.shape(1)),
             outputs = static_cast<std::int64_t>(sums.shape(1));
  expect_offsets(nodes, all);
  expect_offsets(leaves, static_cast<std::int64_t>(value.shape(0)));
  expect(leaves, "leaves", {trees + 1});
  expect(feature, "feature", {all});
  expect(decision, "decision", {all});
  expect(left, "left", {all});
  expect(right, "right", {all});
  expect(sums, "sums", {rows});
  require(outputs >= 1 && trees % outputs == 0, "sums: expected one for each tree of a round.");
  expect_threads(threads);
  for (std::int64_t tree = 0; tree < trees; ++tree) {
    const std::int64_t first = nodes.data()[tree], count = nodes.data()[tree + 1] - first;
    require(leaves.data()[tree + 1] - leaves.data()[tree] == count + 1,
            "leaves: tree " + std::to_string(tree) + " needs one more than it has nodes.");
    for (std::int64_t node = 0; node < count; ++node) {
      const std::int64_t at = first + node;
      require(!denots::asks_category(decision.data()[at]), "decision: categories are not known.");
      require(feature.data()[at] >= 0 && feature.data()[at] < columns, "feature: there is no such column.");
      for (const std::int64_t child : {left.data()[at], right.data()[at]})
        require(child < 0 ? -1 - child <= count : child > node && child < count,
                "children: a node of tree " + std::to_string(tree) + " leads out of it or back.");
    }
  }
  const denots::BoostedTrees forest{trees,          outputs,          nodes.data(),    leaves.data(),
                                    feature.data(), threshold.data(), decision.data(), left.data(),
                                    right.data(),   value.data()};
  nb::gil_scoped_release release;
  denots::sum_trees<Real>(forest, rows, columns, table.data(), sums.data(), threads);
}

template <class Real>
void bind(nb::module_& m) {
  m.def("linear_rows", &::linear_rows<Real>, nb::kw_only(), "x"_a.noconvert(), "weight"_a.noconvert(),
        "bias"_a.noconvert(), "found"_a.noconvert(), "threads"_a);
  m.def("sum_trees", &::sum_trees<Real>, nb::kw_only(), "nodes"_a.noconvert(), "leaves"_a.noconvert(),
        "feature"_a.noconvert(), "threshold"_a.noconvert(), "decision"_a.noconvert(), "left"_a.noconvert(),
        "right"_a.noconvert(), "value"_a.noconvert(), "table"_a.noconvert(), "sums"_a.noconvert(),
        "threads"_a);
}

}  // namespace

void denots::bind_rows(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
  m.def("softmax_rows", &::softmax_rows, nb::kw_only(), "logits"_a.noconvert(), "shares"_a.noconvert());
}
