// The part of the Python module that joins rows by splines.
#pragma once

#include <nanobind/nanobind.h>

namespace denots {

void bind_splines(nanobind::module_& m);

}  // namespace denots
