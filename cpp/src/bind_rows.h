// The part of the bindings that turns rows of numbers into outputs.
#pragma once

#include <nanobind/nanobind.h>

namespace denots {

void bind_rows(nanobind::module_& m);

}  // namespace denots
