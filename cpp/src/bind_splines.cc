#include "bind_splines.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <string>

#include "arguments.h"
#include "denots/spline.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace denots::arguments;

namespace {

template <class Real>
void fit_splines(const std::string& kind, Vector<const std::int64_t> offsets, Vector<const double> times,
                 Matrix<const Real> observed, Matrix<Real> value, Matrix<Real> slope_before,
                 Matrix<Real> slope_after, int threads) {
  const denots::Spline spline = spline_named(kind);
  const auto rows = static_cast<std::int64_t>(times.shape(0)),
             channels = static_cast<std::int64_t>(observed.shape(1));
  expect_offsets(offsets, rows);
  expect(observed, "observed", {rows});
  expect(value, "value", {rows, channels});
  const bool told = slope_before.shape(0) != 0;
  expect(slope_before, "slope_before", {told ? rows : 0, channels});
  expect(slope_after, "slope_after", {told ? rows : 0, channels});
  expect_threads(threads);
  nb::gil_scoped_release release;
  denots::fit_splines<Real>(spline, static_cast<std::int64_t>(offsets.shape(0)) - 1, channels, offsets.data(),
                            times.data(), observed.data(), value.data(), told ? slope_before.data() : nullptr,
                            told ? slope_after.data() : nullptr, threads);
}

template <class Real>
void bind(nb::module_& m) {
  m.def("fit_splines", &::fit_splines<Real>, "kind"_a, "offsets"_a.noconvert(), "times"_a.noconvert(),
        "observed"_a.noconvert(), "value"_a.noconvert(), "slope_before"_a.noconvert(),
        "slope_after"_a.noconvert(), "threads"_a);
}

}  // namespace

void denots::bind_splines(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}
