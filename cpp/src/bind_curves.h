// The part of the Python module that tells classes by Gaussian curves.
#pragma once

#include <nanobind/nanobind.h>

namespace denots {

void bind_curves(nanobind::module_& m);

}  // namespace denots
