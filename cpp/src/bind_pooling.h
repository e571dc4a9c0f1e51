// The part of the Python module that pools features along series.
#pragma once

#include <nanobind/nanobind.h>

namespace denots {

void bind_pooling(nanobind::module_& m);

}  // namespace denots
