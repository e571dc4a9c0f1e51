// The only file that knows Python. Arrays are never converted: a wrong type or layout is an
// error here, because a silent copy of an output array would lose what the kernel writes.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "denots/spline.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Real>
void fit_splines(int kind, Vector<const std::int64_t> offsets, Vector<const double> times,
                 Matrix<const Real> observed, Matrix<Real> value, Matrix<Real> slope_before,
                 Matrix<Real> slope_after, int threads) {
  nb::gil_scoped_release release;
  denots::fit_splines<Real>(static_cast<denots::Spline>(kind),
                            static_cast<std::int64_t>(offsets.shape(0)) - 1,
                            static_cast<std::int64_t>(observed.shape(1)), offsets.data(), times.data(),
                            observed.data(), value.data(), slope_before.data(), slope_after.data(), threads);
}

template <class Real>
void bind_splines(nb::module_& m) {
  m.def("fit_splines", &fit_splines<Real>, "kind"_a, "offsets"_a.noconvert(), "times"_a.noconvert(),
        "observed"_a.noconvert(), "value"_a.noconvert(), "slope_before"_a.noconvert(),
        "slope_after"_a.noconvert(), "threads"_a);
}

}  // namespace

NB_MODULE(_native, m) {
  bind_splines<float>(m);
  bind_splines<double>(m);
}
