// Which instruction set the kernels run on.
#pragma once

#include <string>

namespace denots {

enum class Target : int { baseline = 0, avx2 = 1, avx512 = 2 };

constexpr Target widest_first[] = {Target::avx512, Target::avx2, Target::baseline};

const char* target_name(Target target);

// Throws std::invalid_argument for a name that no target has.
Target target_named(const std::string& name);

// Whether the target was compiled in and this CPU can run it.
bool supported(Target target);

struct Choice {
  Target target;
  std::string passed_over;  // why a wider one was not taken; empty where none failed its self-check
};

// The widest supported target that passed its self-check, or the one that the environment variable
// DENOTS_TARGET names; throws std::invalid_argument when that one is unknown, not supported here, or failed.
Choice choose_target();

}  // namespace denots
