// What the bindings ask of the arrays and numbers that Python gives them. Arrays are never converted: a wrong
// type or layout is an error here, because a silent copy of an output array would lose what the kernel
// writes.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>

#include "denots/spline.h"

namespace denots::arguments {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Cube = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Integers = Vector<std::int64_t>;

inline void require(bool holds, const std::string& message) {
  if (!holds) throw nb::value_error(message.c_str());
}

template <class Array>
void expect(const Array& array, const char* name, std::initializer_list<std::int64_t> shape) {
  std::size_t axis = 0;
  for (const std::int64_t size : shape) {
    const auto found = static_cast<std::int64_t>(array.shape(axis++));
    require(found == size, std::string(name) + ": axis " + std::to_string(axis - 1) + " has " +
                               std::to_string(found) + " entries; expected " + std::to_string(size) + ".");
  }
}

inline void expect_threads(int threads) {
  require(threads >= 1, "threads: expected at least 1, got " + std::to_string(threads) + ".");
}

inline Spline spline_named(const std::string& kind) {
  if (kind == "natural_cubic") return Spline::natural_cubic;
  if (kind == "causal_hermite") return Spline::causal_hermite;
  if (kind == "linear") return Spline::linear;
  throw nb::value_error(("kind: no spline is called " + kind + ".").c_str());
}

// Rows of series i are offsets[i] .. offsets[i + 1].
inline void expect_offsets(const Vector<const std::int64_t>& offsets, std::int64_t rows) {
  const auto count = static_cast<std::int64_t>(offsets.shape(0));
  require(count >= 1 && offsets.data()[0] == 0 && offsets.data()[count - 1] == rows,
          "offsets: expected them to lead from 0 to the number of rows, " + std::to_string(rows) + ".");
  for (std::int64_t i = 1; i < count; ++i)
    require(offsets.data()[i - 1] <= offsets.data()[i],
            "offsets: must not descend, as they do at series " + std::to_string(i - 1) + ".");
}

}  // namespace denots::arguments
