#include "denots/cpu.h"

#include <cstdlib>
#include <stdexcept>

#include "denots/self_check.h"

namespace denots {
namespace {

std::string targets_here() {
  std::string known;
  for (const Target target : widest_first)
    if (supported(target)) known += std::string(known.empty() ? "" : ", ") + target_name(target);
  return known;
}

Target forced_target(const std::string& wanted) {
  for (const Target target : widest_first) {
    if (wanted != target_name(target) || !supported(target)) continue;
    const std::string& fault = fault_of(target);
    if (fault.empty()) return target;
    throw std::invalid_argument("DENOTS_TARGET=" + wanted + " failed its self-check on this CPU: " + fault +
                                ". Leave DENOTS_TARGET unset.");
  }
  throw std::invalid_argument("DENOTS_TARGET=" + wanted + " cannot run on this CPU; choose one of " +
                              targets_here() + ", or leave it unset.");
}

}  // namespace

const char* target_name(Target target) {
  switch (target) {
    case Target::baseline:
      return "baseline";
    case Target::avx2:
      return "avx2";
    case Target::avx512:
      return "avx512";
  }
  throw std::invalid_argument("no such CPU target.");
}

Target target_named(const std::string& name) {
  for (const Target target : widest_first)
    if (name == target_name(target)) return target;
  throw std::invalid_argument("no CPU target is called " + name + ".");
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

Choice choose_target() {
  const char* wanted = std::getenv("DENOTS_TARGET");
  if (wanted != nullptr && *wanted != '\0') return {forced_target(wanted), ""};
  Choice choice{Target::baseline, ""};
  for (const Target target : widest_first) {
    if (!supported(target)) continue;
    const std::string& fault = fault_of(target);
    if (fault.empty()) {
      choice.target = target;
      return choice;
    }
    choice.passed_over += std::string(target_name(target)) + " failed its self-check: " + fault + ". ";
  }
  return choice;
}

}  // namespace denots
