// Which of the functions of one name, one for each CPU target, is called.
#pragma once

#include <stdexcept>

#include "denots/cpu.h"

namespace denots {

template <class Kernel>
Kernel kernel_of(Target target, Kernel baseline, Kernel avx2, Kernel avx512) {
  if (!supported(target)) throw std::invalid_argument("this CPU cannot run the target.");
  return target == Target::avx512 ? avx512 : target == Target::avx2 ? avx2 : baseline;
}

#ifdef DENOTS_X86_TARGETS
#define DENOTS_KERNEL(target, name) kernel_of(target, &baseline::name, &avx2::name, &avx512::name)
#else
#define DENOTS_KERNEL(target, name) kernel_of(target, &baseline::name, &baseline::name, &baseline::name)
#endif

}  // namespace denots
