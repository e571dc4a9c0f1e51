#include "bind_curves.h"

#include <nanobind/ndarray.h>

#include <string>

#include "arguments.h"
#include "denots/cpu.h"
#include "denots/gaussian_curves.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace denots::arguments;

namespace {

template <class Number>
denots::Sums<Number> sums_of(const Cube<Number>& gram, const Matrix<Number>& told,
                             const Vector<Number>& square, const Vector<Number>& seen, std::int64_t series,
                             std::int64_t directions) {
  expect(gram, "gram", {series, directions, directions});
  expect(told, "told", {series, directions});
  expect(square, "square", {series});
  expect(seen, "seen", {series});
  return {gram.data(), told.data(), square.data(), seen.data()};
}

denots::Classes classes_of(const Matrix<const double>& means, const Cube<const double>& factors,
                           double noise) {
  const auto K = static_cast<std::int64_t>(means.shape(0)), R = static_cast<std::int64_t>(means.shape(1));
  require(K >= 1 && R >= 1, "means: expected at least one class and one direction.");
  expect(factors, "factors", {K, R, R});
  require(noise > 0, "noise: expected it to be positive.");
  return {K, R, means.data(), factors.data(), noise};
}

void sum_evidence(Vector<const std::int64_t> offsets, Vector<const double> times, Matrix<const float> scores,
                  Matrix<const double> mean, Cube<const double> directions, Vector<const double> centre,
                  Vector<const double> scale, double start, double end, double span, Cube<double> gram,
                  Matrix<double> told, Vector<double> square, Vector<double> seen, int threads) {
  const auto rows = static_cast<std::int64_t>(times.shape(0)), C = static_cast<std::int64_t>(mean.shape(0)),
             P = static_cast<std::int64_t>(mean.shape(1)), R = static_cast<std::int64_t>(directions.shape(2));
  expect_offsets(offsets, rows);
  expect(scores, "scores", {rows, C});
  require(P >= 2, "mean: expected at least two points.");
  require(R >= 1, "directions: expected at least one.");
  expect(directions, "directions", {C, P});
  expect(centre, "centre", {C});
  expect(scale, "scale", {C});
  const std::int64_t series = static_cast<std::int64_t>(offsets.shape(0)) - 1;
  const auto sums = sums_of<double>(gram, told, square, seen, series, R);
  expect_threads(threads);
  const denots::Target target = denots::choose_target().target;
  const denots::Curves curves{C,     P,   R,   mean.data(), directions.data(), centre.data(), scale.data(),
                              start, end, span};
  nb::gil_scoped_release release;
  denots::sum_evidence(curves, {series, offsets.data(), times.data(), scores.data()}, sums, threads, target);
}

void log_likelihoods(Cube<const double> gram, Matrix<const double> told, Vector<const double> square,
                     Vector<const double> seen, Matrix<const double> means, Cube<const double> factors,
                     double noise, Matrix<double> found, int threads) {
  const denots::Classes classes = classes_of(means, factors, noise);
  const auto series = static_cast<std::int64_t>(gram.shape(0));
  const auto sums = sums_of<const double>(gram, told, square, seen, series, classes.directions);
  expect(found, "found", {series, classes.classes});
  expect_threads(threads);
  const denots::Target target = denots::choose_target().target;
  nb::gil_scoped_release release;
  denots::log_likelihoods(classes, series, sums, found.data(), threads, target);
}

void posteriors(Cube<const double> gram, Matrix<const double> told, Vector<const double> square,
                Vector<const double> seen, Matrix<const double> means, Cube<const double> factors,
                double noise, Vector<const std::int64_t> of, Matrix<double> mean, Cube<double> covariance,
                int threads) {
  const denots::Classes classes = classes_of(means, factors, noise);
  const auto series = static_cast<std::int64_t>(gram.shape(0));
  const auto sums = sums_of<const double>(gram, told, square, seen, series, classes.directions);
  expect(of, "of", {series});
  for (std::int64_t i = 0; i < series; ++i)
    require(of.data()[i] >= 0 && of.data()[i] < classes.classes, "of: there is no such class.");
  expect(mean, "mean", {series, classes.directions});
  expect(covariance, "covariance", {series, classes.directions, classes.directions});
  expect_threads(threads);
  const denots::Target target = denots::choose_target().target;
  nb::gil_scoped_release release;
  denots::posteriors(classes, series, sums, of.data(), mean.data(), covariance.data(), threads, target);
}

}  // namespace

void denots::bind_curves(nb::module_& m) {
  m.def("sum_evidence", &::sum_evidence, nb::kw_only(), "offsets"_a.noconvert(), "times"_a.noconvert(),
        "scores"_a.noconvert(), "mean"_a.noconvert(), "directions"_a.noconvert(), "centre"_a.noconvert(),
        "scale"_a.noconvert(), "start"_a, "end"_a, "span"_a, "gram"_a.noconvert(), "told"_a.noconvert(),
        "square"_a.noconvert(), "seen"_a.noconvert(), "threads"_a);
  m.def("log_likelihoods", &::log_likelihoods, nb::kw_only(), "gram"_a.noconvert(), "told"_a.noconvert(),
        "square"_a.noconvert(), "seen"_a.noconvert(), "means"_a.noconvert(), "factors"_a.noconvert(),
        "noise"_a, "found"_a.noconvert(), "threads"_a);
  m.def("posteriors", &::posteriors, nb::kw_only(), "gram"_a.noconvert(), "told"_a.noconvert(),
        "square"_a.noconvert(), "seen"_a.noconvert(), "means"_a.noconvert(), "factors"_a.noconvert(),
        "noise"_a, "of"_a.noconvert(), "mean"_a.noconvert(), "covariance"_a.noconvert(), "threads"_a);
}
