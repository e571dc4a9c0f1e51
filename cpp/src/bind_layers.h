// The part of the bindings that runs layers along rows.
#pragma once

#include <nanobind/nanobind.h>

namespace denots {

void bind_layers(nanobind::module_& m);

}  // namespace denots
