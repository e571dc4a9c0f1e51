#include "denots/cpu.h"

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace denots {
namespace {

constexpr Target widest_first[] = {Target::avx512, Target::avx2, Target::baseline};

}  // namespace

const char* target_name(Target target) {
  switch (target) {
    case Target::avx2:
      return "avx2";
    case Target::avx512:
      return "avx512";
    default:
      return "baseline";
  }
}

bool supported(Target target) {
  if (target == Target::baseline) return true;
#ifdef DENOTS_X86_TARGETS
  __builtin_cpu_init();
  if (target == Target::avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
#else
  return false;
#endif
}

Target choose_target() {
  const char* wanted = std::getenv("DENOTS_TARGET");
  for (const Target target : widest_first) {
    if (wanted != nullptr && *wanted != '\0' && std::string(wanted) != target_name(target)) continue;
    if (supported(target)) return target;
  }
  std::string known;
  for (const Target target : widest_first)
    if (supported(target)) known += std::string(known.empty() ? "" : ", ") + target_name(target);
  throw std::invalid_argument("DENOTS_TARGET=" + std::string(wanted) +
                              " cannot run on this CPU; choose one of " + known + ", or leave it unset.");
}

}  // namespace denots
